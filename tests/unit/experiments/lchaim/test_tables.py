"""LCHAIM's tables and figures that no sweep fills."""

import json
from pathlib import Path

import pytest
from scipy import stats

from heron.base.errors import ConfigError, DataError
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.data.overrides import configure
from heron.metrics.intervals import score_intervals
from heron.results import STATISTICS
from heron_tools.analysis.command import open_slicer
from heron_tools.reproduction.results import of_function, published_statistics
from heron_tools.reproduction.targets import TargetRequest, read_targets
from heron_tools.statistics.options import AnalyzeOptions
from small_runs import TINY, heron, in_folder


def fill(key, *files, data="nowhere"):
    return read_targets()[f"lchaim:{key}"].compute(
        TargetRequest(Path(data), Path("cache"), files=files)
    )


def tiny_pairs(folder):
    words = [*TINY, *in_folder(folder), "data=chronicle_nli", "run.job=pairs"]
    assert heron("train", *words, "trainer.max_epochs=1") == 0
    (path,) = (folder / "runs").glob("*/pairs")
    return RunFolder(path)


def test_ratings_have_means_and_the_error_between_raters(tmp_path):
    path = tmp_path / "amazon.csv"
    lines = ["guid,rater,accuracy,fluency", "1,anna,5,4", "1,ben,3,4", "2,anna,4,4", "2,dan,4,1"]
    path.write_text("\n".join([*lines, "3,ben,2,5", "3,dan,3,5"]))
    found = fill("T1", path)
    values = found.values["table1"]
    assert values["Amazon Translate", "accuracy"].value == pytest.approx(21 / 6)
    between = values["Amazon Translate", "accuracy, difference of raters"]
    low, high = stats.t.interval(0.95, 2, 1.0, stats.sem([2, 0, 1]))
    whole = (between.value, between.low, between.high, between.n)
    assert whole == pytest.approx((1.0, low, high, 3))
    # The paper prints half of that interval.
    error = values["Amazon Translate", "accuracy, error"]
    assert (error.value, error.low) == (pytest.approx((high - low) / 2), None)
    rows = of_function(read_targets()["lchaim:T1"], found).tables[0].rows
    (cells,) = [row for row in rows if row[:2] == ("Amazon Translate", "accuracy")]
    assert cells[2] == "4.279"
    assert cells[3] == "3.5000 (6 ratings)"


@pytest.mark.parametrize(
    ("file", "row"),
    [("dictalm", "DictaLM-2.0"), ("DictaLM-2.0", "DictaLM-2.0"), ("google", "google")],
)
def test_ratings_fill_the_row_that_their_file_s_name_begins(tmp_path, file, row):
    path = tmp_path / f"{file}.csv"
    path.write_text("guid,rater,accuracy\n1,anna,5\n1,ben,4")
    assert {names[0] for names in fill("T1", path).values["table1"]} == {row}


def test_a_criterion_that_nobody_rated_is_left_out(tmp_path):
    path = tmp_path / "DictaLM-2.0.csv"
    lines = ["guid,rater,accuracy,fluency,label,valid", "1,anna,5,,,yes", "1,ben,3,,,no"]
    path.write_text("\n".join(lines))
    values = fill("T1", path).values["table1"]
    found = {column: each.value for (_, column), each in values.items()}
    assert found == {
        **{"accuracy": 4, "accuracy, difference of raters": 2},
        **{"label": 2.5, "label, difference of raters": 5},
    }


def test_what_raters_answered_on_drawn_sheets_fills_the_table(tmp_path):
    study, out = tmp_path / "study", tmp_path / "Amazon Translate"
    ask = "ask=accuracy:1-5,fluency:1-5,culture:1-5,valid:yes/no"
    words = ["data=chronicle_nli", "rows=8", "raters=anna,ben", ask, f"out={study}"]
    assert heron("annotate", "draw", *words) == 0
    for name, mark in (("anna", "4"), ("ben", "5")):
        sheet = read_table(study / f"{name}.csv", own=True)
        columns = {c: [row[c] for row in sheet.rows] for c in ("guid", "text", "text_pair")}
        n = len(sheet.rows)
        columns |= {criterion: [mark] * n for criterion in ("accuracy", "fluency", "culture")}
        write_table(study / f"{name}.csv", {**columns, "valid": ["yes"] * (n - 2) + ["no"] * 2})
    sheets = f"sheets={study / 'anna.csv'},{study / 'ben.csv'}"
    assert heron("annotate", "collect", sheets, f"key={study / 'key.json'}", f"out={out}") == 0
    (out / "answers.csv").rename(tmp_path / "Amazon Translate.csv")
    values = fill("T1", tmp_path / "Amazon Translate.csv").values["table1"]
    found = {names[1]: each.value for names, each in values.items()}
    assert found["accuracy"] == found["culture"] == 4.5
    assert found["accuracy, difference of raters"] == 1
    assert found["accuracy, error"] == 0, "all differ by as much"
    assert found["label"] == 5 * 6 / 8
    assert found["label, error"] == 0


def test_rows_and_overlap_are_counted_from_the_user_s_files(tmp_path, monkeypatch):
    (tmp_path / "lchaim").mkdir()
    rows = [("a b c d", "a b", "e"), ("a b", "c d", "c"), ("a b c", "c", "n"), ("x y", "x y", "e")]
    for name, part in (("train.jsonl", rows[:3]), ("aws_heb_test.json", 2 * rows[3:])):
        lines = [json.dumps({"premise": p, "hypothesis": h, "label": x}) for p, h, x in part]
        (tmp_path / f"lchaim/{name}").write_text("\n".join(lines))
    monkeypatch.setattr(
        "heron_tools.reproduction.targets.configure",
        lambda name, _: configure(name, ["data.verify=false"]),
    )
    found = STATISTICS["lchaim"](TargetRequest(tmp_path, tmp_path / "cache")).values
    assert {names[0]: each.value for names, each in found["sizes"].items()} == {
        "train": 3,
        "test": 2,
        "total": 5,
    }
    assert found["overlap"]["entailment", "jaccard"].value == pytest.approx((0.5 + 1 + 1) / 3)
    assert found["overlap"]["neutral", "jaccard"].value == pytest.approx(1 / 3)
    assert found["sizes"]["total", "rows"].mark == "only train, test"


def test_a_substitute_is_described_beside_the_paper_and_marked(substitute, monkeypatch):
    monkeypatch.setattr(
        "heron_tools.reproduction.targets.configure",
        lambda name, _: configure(name, ["data.verify=false", "data.files.train.rows=null"]),
    )
    sizes, overlap = published_statistics(
        "control_dev", TargetRequest(substitute, substitute / "c")
    )
    shown = {row[0]: row[2:4] for row in sizes.rows}
    assert shown["train"] == ("6,692", None), "its one file is not the paper's train split"
    assert shown["control_dev"] == (None, "4 †")
    assert {row[0]: row[2] for row in overlap.rows} == {
        "entailment": "0.0487", "contradiction": "0.0549", "neutral": None,
    }  # fmt: skip
    assert all(row[3].endswith("†") for row in overlap.rows)
    assert "† control_dev in place of lchaim." in overlap.note


def test_the_prompt_is_shown_as_it_is_sent_in_three_languages():
    found = fill("F4")
    assert set(found.files) == {"lchaim.txt", "lchaim_en.txt", "lchaim_ro.txt"}
    for text in found.files.values():
        assert "(the premise)" in text
        assert "(the hypothesis)" in text
    assert any("\u05d0" <= letter <= "\u05ea" for letter in found.files["lchaim.txt"])


@pytest.fixture
def substitute(tmp_path, monkeypatch):
    """ConTRoL's dev file with four pairs, and none of LCHAIM's."""
    rows = [("a b c d", "a b", "e"), ("a b", "c d", "c"), ("a b c", "c", "n"), ("x y", "x z", "e")]
    lines = [
        json.dumps({"uid": f"id_{n}", "premise": p, "hypothesis": h, "label": x})
        for n, (p, h, x) in enumerate(rows)
    ]
    (tmp_path / "control").mkdir()
    (tmp_path / "control/dev.jsonl").write_text("\n".join(lines))
    monkeypatch.setattr(
        "heron_tools.reproduction.targets.configure",
        lambda name, _: configure(name, ["data.verify=false", "data.files.train.rows=null"]),
    )
    return tmp_path


def test_a_pair_of_each_class_and_of_each_type_is_shown_and_its_substitute_named(substitute):
    found = fill("F1", data=substitute)
    assert {row[0]: row[2] for row in found.tables[0].rows} == {
        "contradiction": "c d", "entailment": "x z", "neutral": "c",
    }  # fmt: skip
    assert found.notes == ("control_dev in place of lchaim.",)
    guids = {row[2]: row[3] for row in found.tables[0].rows}
    table = substitute / "types.csv"
    types = {guids["c"]: "temporal;Logical|logical", guids["c d"]: "logical", guids["x z"]: ""}
    lines = [f"{guid},{name}" for guid, name in {**types, "absent": "Mathematical"}.items()]
    table.write_text("\n".join(["guid,reasoning", *lines]))
    typed = fill("F3", table, data=substitute)
    assert [row[:3] for row in typed.tables[0].rows] == [
        ("temporal (1 rows)", "a b c", "c"),
        ("logical (2 rows)", "a b", "c d"),
    ]
    assert typed.notes == found.notes
    table.write_text("guid,types\nc,temporal\nc,logical\n")
    with pytest.raises(DataError, match=r"types\.csv:3: guid 'c' is already on line 2"):
        fill("F3", table, data=substitute)
    table.write_text("guid,reasoning\nabsent,temporal\n")
    with pytest.raises(DataError, match=r"types\.csv: none of its guids is in the data"):
        fill("F3", table, data=substitute)
    with pytest.raises(ConfigError, match="from=FILE or from=RUN,FILE"):
        fill("F3")


@pytest.mark.slow
def test_figures_2_and_3_read_a_finished_run(tmp_path):
    run = tiny_pairs(tmp_path)
    guids = read_table(run.path / "predictions" / "test.parquet").rows
    right = [row["gold"] == row["prediction"] for row in guids]
    table = tmp_path / "types.csv"
    table.write_text("\n".join(["guid,reasoning", *(f"{row['guid']},logical" for row in guids)]))
    found = fill("F3", run.path, table).values["reasoning"]["logical", "accuracy"]
    assert (found.value, found.n) == (pytest.approx(sum(right) / len(right)), len(right))
    slicer = open_slicer(AnalyzeOptions(run=run.path))
    groups = [example.group or example.text for example in slicer.split.examples]
    hits = slicer.scores["accuracy"]
    bounds = score_intervals({"accuracy": hits}, groups)
    assert (found.low, found.high) == (bounds["accuracy_low"], bounds["accuracy_high"])
    assert found.mark == "data set chronicle_nli, encoder scratch"
    (shown, *_) = fill("F2", run.path).tables
    assert shown.rows
    assert shown.title.startswith("pairs (data set chronicle_nli, encoder scratch): ")
    assert any("type-token ratio of lemmas" in table.title for table in fill("F2", run.path).tables)
    # The paper's mean of two terms, with parts of speech: made-up ones here, one for each text.
    lines = []
    for text in {t for e in slicer.split.examples for t in (e.text, e.text_pair)}:
        words = text.split()
        tags = "\n".join(f"{n}\t{w}\t{w}\tNOUN\t_\t_\t0\t_\t_\t_" for n, w in enumerate(words, 1))
        lines.append(f"# text = {text}\n{tags}\n")
    (tmp_path / "test.conllu").write_text("\n".join(lines), encoding="utf-8")
    tables = fill("F2", run.path, tmp_path / "test.conllu").tables
    assert not any("of lemmas" in table.title for table in tables)
    measures = next(table.rows for table in tables if "correctness" in table.columns[-1])
    assert [row[0] for row in measures][2:4] == ["its lemma term", "its part-of-speech term"]


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """Write a test set of six pairs, and the answers of two people to each."""
    classes = ("contradiction", "entailment", "neutral")
    golds = [classes[row % 3] for row in range(6)]
    texts = {"premise": [f"p {row}" for row in range(6)], "hypothesis": ["h"] * 6}
    write_table(tmp_path / "test.csv", {"guid": list("abcdef"), **texts, "label": golds})
    data = configure("own_nli", [f"data.files.test.path={tmp_path / 'test.csv'}"])
    monkeypatch.setattr(TargetRequest, "choose_present", lambda *_: data)
    answers = [*golds, *golds[:5], "entailment"]  # one of twelve is wrong
    path = tmp_path / "hebrew.csv"
    raters = ["anna"] * 6 + ["ben"] * 6
    write_table(path, {"guid": list("abcdef") * 2, "rater": raters, "label": answers})
    return path


def test_peoples_answers_fill_their_row_of_table_2_and_start_no_run(answered, tmp_path, capsys):
    values = fill("T2", answered).values
    row = ("human", "in Hebrew")
    assert values["table2"][*row, "accuracy"].value == pytest.approx(11 / 12)
    f1s = [values["table2_classes"][*row, name, "F1"].value for name in ("entailment", "neutral")]
    assert f1s == pytest.approx([8 / 9, 6 / 7])
    assert values["table2"][*row, "F1"].value == pytest.approx((1 + sum(f1s)) / 3)
    words = [f"from={answered}", f"out={tmp_path / 'out'}", f"paths.runs={tmp_path / 'runs'}"]
    assert heron("reproduce", "lchaim:T2", *words) == 0
    cells = [line.split() for line in capsys.readouterr().out.splitlines()]
    (accuracy,) = [line for line in cells if line[:4] == ["human", "in", "Hebrew", "accuracy"]]
    assert accuracy[4:6] == ["0.8497", "0.91667"]
    assert not (tmp_path / "runs").exists()


def test_an_answer_that_is_no_class_is_named_by_line(answered):
    answered.write_text(answered.read_text().replace('"ben","neutral"', '"ben","perhaps"'))
    with pytest.raises(DataError, match=r"hebrew\.csv:10"):
        fill("T2", answered)
