"""RoNLI's tables and figures that no sweep fills."""

import json
from pathlib import Path

import pytest

from heron.base.errors import DataError
from heron.data.overrides import configure
from heron.dynamics.cartography import GROUPS
from heron_forks.ronli.tables import _kappa
from heron_tools.reproduction.results import of_function
from heron_tools.reproduction.targets import Filled, TargetRequest, read_targets
from real_data import DATA, on_real
from small_runs import TINY, heron, in_folder


def fill(key, data="nowhere", files=()):
    return read_targets()[f"ronli:{key}"].compute(
        TargetRequest(Path(data), Path("cache"), files=files)
    )


def tiny_run(folder):
    words = [*TINY, *in_folder(folder), "data=chronicle_ronli", "head=siamese_cls", "run.job=tiny"]
    assert heron("train", *words) == 0
    (path,) = (folder / "runs").glob("*/tiny")
    return path


@pytest.mark.slow
def test_a_runs_groups_and_errors_are_shown_with_what_is_not_the_papers_marked(tmp_path):
    run = tiny_run(tmp_path)
    values = fill("T3", files=(run,)).values["table3"]
    assert {names[0] for names in values} == {"easy", "ambiguous", "hard"}
    sizes = [sum(v.value for n, v in values.items() if n[0] == group) for group in GROUPS]
    assert len(set(sizes)) == 1
    assert {each.mark for each in values.values()} == {"data set chronicle_ronli, encoder scratch"}
    shown = fill("T13", files=(run,))
    assert shown.notes == ("In place of the paper's: data set chronicle_ronli, encoder scratch.",)
    (table,) = shown.tables
    shares = [row[4] for row in table.rows]
    assert shares == sorted(shares, reverse=True)
    assert all(row[2] != row[3] for row in table.rows)


def test_groups_of_the_released_statistics_are_counted_by_the_labels_of_train(
    tmp_path, monkeypatch
):
    # Made up, in the form of the released files.
    read = configure("ronli", ["data.verify=false", "data.files.train.git_blob=null"])
    monkeypatch.setattr("heron_tools.reproduction.targets.configure", lambda name, _: read)
    pair = {"sentence1": "Plouă.", "sentence2": "E ud."}
    rows = [{**pair, "label": n % 4, "guid": f"g{n}"} for n in range(8)]
    (tmp_path / "ronli").mkdir()
    (tmp_path / "ronli/train.json").write_text(json.dumps(rows))
    metrics = [
        {"guid": f"g{n}", "index": n, "confidence": n / 8, "variability": 0.1, "correctness": n}
        for n in range(8)
    ]
    table = tmp_path / "td_metrics.jsonl"
    table.write_text("\n".join(map(json.dumps, metrics)))
    values = fill("T3", tmp_path, (table,)).values["table3"]
    easy = [values["easy", label].value for label in read.label_order]
    assert easy == [0, 1, 1, 1], "the three most confident: int(.3319 * 8) + 1"
    table.write_text(json.dumps({**metrics[0], "guid": "absent"}))
    with pytest.raises(DataError, match="1 of its 1 guids"):
        fill("T3", tmp_path, (table,))


@pytest.mark.usefixtures("drawn_figures")
def test_the_data_map_is_drawn(make_run):
    found = fill("F1", files=(make_run(epochs=4),))
    assert found.figures["map.png"][:4] == b"\x89PNG"


@on_real
def test_counts_and_lengths_of_validation_beside_the_papers():
    found = fill("T2", DATA)
    tables = of_function(read_targets()["ronli:T2"], found).tables
    rows = {row[:3]: row[3:] for row in tables[0].rows}
    for name in ("contrastive", "entailment", "reasoning", "neutral", "all"):
        assert rows["validation", name, "pairs"][-1] == "equal to the printed digits"
    equal = {key[1:] for key, cells in rows.items() if "equal" in (cells[-1] or "")}
    assert {("all", "premise"), ("neutral", "premise"), ("contrastive", "overlap")} <= equal
    # The paper has 23.9, and differs by more in the small classes: labels were corrected later.
    assert round(found.values["table2"]["validation", "all", "hypothesis"].value, 1) == 24.0


@on_real
def test_agreement_of_automatic_and_corrected_labels():
    found = fill("T12", DATA)
    shown = of_function(read_targets()["ronli:T12"], found).tables[1]
    assert [row[:3] for row in shown.rows] == [
        ("easy", "kappa", "0.75"), ("ambiguous", "kappa", "0.72"), ("hard", "kappa", "0.69"),
    ], "the paper's table is shown also without a run"  # fmt: skip
    values = found.values["agreement"]
    ours = {names[0]: (round(each.value, 3), each.n) for names, each in values.items()}
    assert ours == {
        "automatic and manual, Cohen's kappa": (0.776, 3059),
        "automatic and manual, micro F1": (0.877, 3059),
        "automatic and manual, macro F1": (0.754, 3059),
        "first 1,266 pairs, Cohen's kappa": (0.624, 1266),
        "first 1,266 pairs, micro F1": (0.801, 1266),
        "first 1,266 pairs, macro F1": (0.613, 1266),
    }


@on_real
def test_phrases_are_counted_without_repeats():
    (table,) = fill("T9", DATA).tables
    assert len(table.rows) == 35
    assert "48 contrastive, 31 entailment, 35 reasoning" in table.note


def test_a_list_of_phrases_is_read_from_the_users_folder(tmp_path):
    path = tmp_path / "ronli" / "linking_phrases.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"contrastive": ["a", "b", "a"], "entailment": [], "reasoning": []}))
    (table,) = fill("T7", tmp_path).tables
    assert list(table.rows) == [("contrastive", "a"), ("contrastive", "b")]
    counts = tmp_path / "phrases.csv"
    counts.write_text("class,phrase,sentences,pairs\ncontrastive,a,7,5\nentailment,b,2,2\n")
    (table,) = fill("T7", tmp_path, files=[counts]).tables
    assert list(table.rows) == [("contrastive", "a", 7), ("contrastive", "b", None)]


@pytest.mark.parametrize("said", [[("a", "b"), ("a", "a")], [("a", "a"), ("b", "a")]])
def test_kappa_is_undefined_and_has_no_difference_where_one_side_has_a_single_class(said):
    found = _kappa(said, 0)
    filled = Filled({"table12": {("easy", "kappa"): found}})
    (table,) = of_function(read_targets()["ronli:T12"], filled).tables
    (cells,) = [row for row in table.rows if row[0] == "easy"]
    assert cells[2:] == ("0.75", "undefined (2 pairs)", None, None, None)


def test_kappa_of_two_classes_is_a_number():
    assert _kappa([("a", "a"), ("b", "b"), ("b", "a")], 0).value == pytest.approx(0.4)
