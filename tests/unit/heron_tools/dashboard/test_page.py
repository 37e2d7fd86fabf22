"""The dashboard: what it says of a sweep, that it is one safe file, and the same every time."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from heron.results.collect import collect
from heron.sweeps.grid import compose_jobs
from heron_tools.dashboard.page import POINTS, curves, dashboard_data, write_dashboard
from heron_tools.dashboard.workspace import build_workspace
from made_up_runs import make_sweep


@pytest.fixture
def sweep(tmp_path):
    return make_sweep(tmp_path)


def _data_of(sweep: Path) -> dict:
    return dashboard_data("grid", collect(sweep), sweep)


def _data_in(page: Path) -> dict:
    script = re.search(r'id="dash-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    assert script
    return json.loads(script.group(1))


def test_best_is_chosen_by_validation_even_where_test_says_otherwise(sweep):
    data = _data_of(sweep)
    best = data["best"]
    assert best["label"] == "head=ess, optim.lr=0.0001"
    runs = [run for run in data["runs"] if run["group"] == best["group"]]
    values = [run["scores"]["validation"][0] for run in runs]
    assert best["validation"][0] == pytest.approx(sum(values) / len(values), abs=1e-5)
    assert data["runs"][best["run"]]["scores"]["validation"][0] == max(values)
    at_test = {run["group"]: run["scores"]["test"][0] or 0 for run in data["runs"]}
    assert max(at_test, key=lambda group: at_test[group]) != best["group"]


def test_best_by_the_loss_is_the_lowest(sweep):
    for job in sweep.iterdir():  # the setting with the best score has the worst "loss"
        for file in filter(Path.is_file, job.iterdir()):
            file.write_text(file.read_text().replace("macro_f1", "loss"))
    data = _data_of(sweep)
    assert (data["monitor"], data["minimised"]) == ("loss", ["loss"])
    values = [run["scores"]["validation"][0] for run in data["runs"]]
    losses = {run["group"]: [] for run in data["runs"]}
    for run, value in zip(data["runs"], values, strict=True):
        losses[run["group"]] += [] if value is None else [value]
    means = {group: sum(values) / len(values) for group, values in losses.items()}
    best = data["best"]
    assert best["group"] == min(means, key=lambda group: means[group])
    assert values[best["run"]] == min(losses[best["group"]])


def test_command_repeats_the_best_setting_with_all_its_seeds_in_another_folder(sweep):
    words = shlex.split(_data_of(sweep)["best"]["command"])
    assert words[:3] == ["heron", "train", "-m"]
    assert set(words[3:]) == {"head=ess", "optim.lr=1e-4", "seed=0,1", "run.sweep=grid-again"}


def test_no_run_is_left_out_and_unfinished_ones_have_no_scores(sweep):
    runs = {run["job"]: run for run in _data_of(sweep)["runs"]}
    assert list(runs) == sorted(path.name for path in sweep.iterdir())
    failed, running = runs["job 003, seed=1"], runs["job 017, seed=1"]
    # No process holds the second one's lock, and its heartbeat is old.
    assert (failed["state"], running["state"]) == ("failed", "failed")
    assert "second line" not in failed["error"]
    assert failed["error"].startswith("RuntimeError")
    assert failed["scores"]["validation"] == running["scores"]["validation"] == [None]
    assert failed["curves"] == {}
    assert running["curves"]["validation/macro_f1"]


def test_curves_are_those_of_the_file_thinned_but_whole_at_both_ends(tmp_path):
    path = tmp_path / "metrics.csv"
    rows = [(step, 1 / (1 + step)) for step in range(1000)]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", "train/loss", "validation/macro_f1"])
        writer.writerows((step, value, "") for step, value in rows)
        writer.writerow([999, "", 0.25])
        writer.writerow([999, "nan", ""])
    curve_of = curves(path, ["macro_f1"])
    points = curve_of["train/loss"]
    assert len(points) == POINTS
    assert (points[0][0], points[-1][0]) == (0, 999)
    assert all(value == pytest.approx(dict(rows)[step], rel=1e-5) for step, value in points)
    assert curve_of["validation/macro_f1"] == [[999, 0.25]]
    path.write_text("step,train/loss\n1,broken\n")
    assert curves(path, []) == {}
    assert curves(tmp_path / "absent.csv", []) == {}


def test_page_is_one_file_that_fetches_nothing_and_holds_the_data(sweep):
    page = write_dashboard(sweep)
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["'](?!#)(?!data:)[^"']*//""", text)
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "<script>window.broken" not in text
    assert _data_in(page) == json.loads(json.dumps(_data_of(sweep)))


def test_same_runs_give_the_same_bytes_wherever_the_page_lies(sweep, tmp_path):
    first = write_dashboard(sweep).read_bytes()
    assert write_dashboard(sweep).read_bytes() == first
    assert write_dashboard(sweep, tmp_path / "pages").read_bytes() == first


def test_runs_that_others_take_their_curriculum_from_are_counted_but_not_compared(sweep):
    for number, path in enumerate(sorted(sweep.glob("*/config.yaml"))):
        is_source = number == 0
        text = "" if is_source else "experiment: a/b\ncurriculum: {name: cart_cl}\n"
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    page = write_dashboard(sweep)
    assert next(run["job"] for run in _data_in(page)["runs"]) == "job 001, seed=1"
    assert "1 that curricula have learnt from" in page.read_text(encoding="utf-8")


def test_secrets_of_older_runs_are_masked(sweep):
    path = sweep / "job 000, seed=0" / "status.json"
    status = json.loads(path.read_text(encoding="utf-8"))
    status["overrides"].append("data.homepage=https://dana:hunter2hunter2@example.org/x")
    status["error"] = "cannot reach https://dana:hunter2hunter2@example.org/x"
    path.write_text(json.dumps(status), encoding="utf-8")
    assert "hunter2hunter2" not in write_dashboard(sweep).read_text(encoding="utf-8")


def test_workspace_shows_settings_curves_and_scores_under_the_names_that_runs_log(sweep):
    pytest.importorskip("wandb_workspaces", reason="needs the package wandb-workspaces")
    view = build_workspace("grid", collect(sweep), "someone")
    spec = view._to_model().spec.model_dump_json(by_alias=True, exclude_none=True)
    for name in ("config:head.value.name", "config:optim.value.lr", "trainer/global_step"):
        assert name in spec
    assert "scores/validation/macro_f1" in spec
    assert "scores/test/macro_f1" in spec
    assert (view.entity, view.project, view.name) == ("someone", "heron", "heron: grid")


def test_the_command_that_repeats_the_best_setting_can_be_composed(sweep):
    words = shlex.split(_data_of(sweep)["best"]["command"])[2:]
    assert compose_jobs(words)
