"""One name, one value: what terminal, JSON, tables, pages and W&B say of one run is the same."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from contextlib import redirect_stderr, redirect_stdout
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from heron.base import terminal
from heron.dynamics.cartography import statistics
from heron.dynamics.difficulty import COLUMNS
from heron.dynamics.files import read_dynamics
from heron.reports.artefacts import read_curves, read_data_map
from heron.tasks.base import TaskModule
from heron.training.wandb_logger import artifacts
from heron_tools.dashboard.page import curves
from made_up_runs import read_payload, unpack
from small_runs import heron, train
from tiers import one_in
from wandb_files import recorded_runs

ACCUMULATED = 5
WORDS = (
    "logger=wandb",
    "batching=shuffle",  # 112 rows: the last batch and the last step are smaller
    "batching.size=9",
    f"trainer.accumulate_grad_batches={ACCUMULATED}",
    "encoder.max_length=60",
    "data.on_cut=drop",
)


def printed(*words: object) -> str:
    """Run a command; return what it prints."""
    terminal.begin()
    with redirect_stdout(io.StringIO()) as out:
        assert heron(*words) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train once with W&B; the batches' losses and weights by epoch, and what was printed."""
    home, losses = tmp_path_factory.mktemp("one"), defaultdict(list)
    step = TaskModule.training_step

    def recorded(module, batch, batch_idx):
        result = step(module, batch, batch_idx)
        loss, weight = result["output"].loss, result["output"].weight
        losses[module.current_epoch].append((float(loss), float(weight)))
        return result

    terminal.begin()
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(errors):
        patch.setattr(TaskModule, "training_step", recorded)
        patch.setenv("WANDB_DATA_DIR", str(home / "wandb-data"))
        run = train(home, *WORDS)
    return SimpleNamespace(
        run=run, home=home, losses=losses, out=out.getvalue(), errors=errors.getvalue()
    )


@pytest.fixture(scope="module")
def tables(trained):
    """The statistics of all examples, as `heron map` writes and draws them, by guid."""
    run = trained.run.path
    printed("map", f"run={run}")
    with open(run / "map" / "map.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    payload = read_payload((run / "map" / "map.html").read_text("utf-8"))
    page = {name: unpack(block) for name, block in payload["runs"][0]["values"].items()}
    frame = read_data_map(run / "dynamics")
    return SimpleNamespace(
        csv={row["guid"]: row for row in rows},
        parquet=pq.read_table(run / "map" / "map.parquet").to_pydict(),
        page=dict(zip(payload["guids"], zip(*page.values(), strict=True), strict=True)),
        page_names=list(page),
        figure=frame,
        figure_row=dict(zip(frame["guid"], range(len(frame)), strict=True)),
    )


@pytest.mark.parametrize("score", one_in(2, COLUMNS))  # the others: `make test-real`
def test_a_statistic_of_an_example_has_one_value_wherever_its_name_is_shown(
    trained, tables, score, tmp_path
):
    measured = statistics(read_dynamics(trained.run.path))
    column = COLUMNS[score]
    row_of = {guid: n for n, guid in enumerate(measured.guids)}
    words = ("noise", f"run={trained.run.path}", f"score={score}", f"out={tmp_path}", "top=30")
    shown_lines = printed(*words).splitlines()
    with open(tmp_path / "suspects.csv", encoding="utf-8", newline="") as file:
        suspects = list(csv.DictReader(file))
    ranked = [float(row[score]) for row in suspects]
    assert ranked == sorted(ranked, reverse=column.hardest == "highest")
    for row in suspects:
        row_of_map, number = tables.csv[row["guid"]], row_of[row["guid"]]
        for name in {score, "confidence", "variability"}:
            value = COLUMNS[name].values(measured)[number]
            assert float(row[name]) == pytest.approx(value, rel=1e-12)
            if name in row_of_map:
                assert float(row_of_map[name]) == float(row[name])
            if name in tables.page_names:
                shown = tables.page[row["guid"]][tables.page_names.index(name)]
                assert shown == pytest.approx(value, rel=1e-6)
            if name in tables.figure:
                assert tables.figure[name][tables.figure_row[row["guid"]]] == value
    (table, *_) = json.loads(printed(*words, "json=true"))["tables"]
    lines = {line.split()[0]: line.split() for line in shown_lines if line}
    for shown, row in zip(table["rows"], suspects, strict=False):
        assert (shown["guid"], shown[score]) == (row["guid"], float(row[score]))
        _, _, cell, *_ = lines[row["guid"]]  # guid, label, score, text
        assert cell == f"{shown[score]:.3f}"


def test_tables_of_statistics_share_names_only_where_they_share_values(trained, tables):
    columns = statistics(read_dynamics(trained.run.path)).as_columns()
    shared = columns.keys() & tables.parquet.keys()
    assert {*COLUMNS} & {*columns} <= shared
    assert all(list(columns[name]) == tables.parquet[name] for name in shared)


def test_wandb_and_the_page_hold_the_predictions_of_the_file(trained):
    run = trained.run
    stored = pq.read_table(run.predictions("test")).to_pydict()
    by_guid = {guid: n for n, guid in enumerate(stored["guid"])}
    (of_wandb,) = [found for found in artifacts("x", run) if found.type == "predictions"]
    entry = of_wandb.manifest.entries["test.table.json"]
    table = json.loads(Path(entry.local_path).read_text("utf-8"))
    for row in table["data"]:
        for name, value in zip(table["columns"], row, strict=True):
            assert value == stored[name][by_guid[row[0]]]
    cards = read_payload((run.path / "report.html").read_text("utf-8"), "cards-data")["rows"]
    assert len(cards) == len(table["data"]) == len(by_guid)
    for card in cards:
        number = by_guid[card["guid"]]
        assert card["prediction"] == stored["prediction"][number]
        probability = stored[f"p/{card['prediction']}"][number]
        assert card["value"] == pytest.approx(probability, abs=1e-4)


def test_the_train_loss_of_an_epoch_is_the_mean_over_its_rows_everywhere(trained):
    expected = []
    for batches in trained.losses.values():
        assert len({weight for _, weight in batches}) > 1
        assert len(batches) % ACCUMULATED
        rows = sum(weight for _, weight in batches)
        expected.append(sum(loss * weight for loss, weight in batches) / rows)
    run = trained.run
    (of_wandb,) = recorded_runs(trained.home / "runs")
    logged = [row["train/loss"] for row in run.read_metrics() if "train/loss" in row]
    assert logged == pytest.approx(expected, rel=1e-6)
    assert [row["train/loss"] for row in of_wandb.rows if "train/loss" in row] == logged
    assert list(read_curves(run.metrics)["train/loss"].values) == logged
    dashboard = [value for _, value in curves(run.metrics, [])["train/loss"]]
    assert dashboard == pytest.approx(logged, abs=1e-4)
    assert re.findall(r"train loss (\S+)", trained.out) == [f"{loss:.3f}" for loss in logged]


def test_warnings_of_a_result_stand_on_its_page_and_in_its_card(trained, tmp_path):
    warned = re.findall(r"warning: (.*)", trained.errors)
    assert any("max_length" in text for text in warned)
    assert any("all rows are of one document" in text for text in warned)
    assert trained.run.read_status()["warnings"] == warned
    out = tmp_path / "model"
    printed("export", f"run={trained.run.path}", f"out={out}")
    page = unescape((trained.run.path / "report.html").read_text("utf-8"))
    card = (out / "README.md").read_text("utf-8")
    assert [text for text in warned if text not in page or text not in card] == []
