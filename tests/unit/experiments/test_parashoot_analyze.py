"""`heron analyze` on questions and answers, from the command line."""

import json

import pytest

from heron.base.files import read_json
from heron.base.tables import read_table
from heron.cli import main
from made_up_runs import HOSTILE, OVERLAPS, changed, make_answered_run, read_payload, write_squad

PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def fast_figures(monkeypatch):
    """Replace the figures, which take most of the time; they have tests of their own."""
    for name in (
        "tools.analysis.figures.slices_figure",
        "forks.parashoot.questions.lengths_figure",
    ):
        monkeypatch.setattr(f"heron_{name}", lambda *inputs: PNG)


@pytest.fixture
def run(tmp_path):
    return make_answered_run(tmp_path)


def analyze(*words):
    """Run the command; returns its exit code."""
    return main(["analyze", *map(str, words)])


def test_a_run_leaves_a_table_and_a_figure_for_each_analysis_and_a_page(run, capsys):
    assert analyze(f"run={run}") == 0
    stems = ("answer_length", "overlap_class", "question_length", "question_word")
    files = [f"test-{stem}.{kind}" for stem in stems for kind in ("json", "png")]
    assert sorted(path.name for path in (run / "analysis").iterdir()) == ["answers.html", *files]
    shown = capsys.readouterr().out
    assert "Model ⊃ Annotation" in shown
    assert "Scores by question word" in shown
    stored = read_json(run / "analysis" / "test-overlap_class.json")
    counted, scored = stored["tables"]
    assert [row["class"] for row in counted["rows"]] == list(OVERLAPS)
    assert set(scored["rows"][0]) >= {"slice", "n", "f1", "exact_match", "he_f1", "tlnls"}
    assert scored["rows"][-1]["n"] == stored["questions"] == 40


def test_the_page_holds_every_answer_and_nothing_from_elsewhere(run):
    assert analyze(f"run={run}", "by=answers") == 0
    page = (run / "analysis" / "answers.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "http" not in page.replace("http-equiv", "")
    content = read_payload(page, "cards-data")
    assert (content["direction"], content["language"]) == ("rtl", "he")
    assert len(content["rows"]) == 40
    assert len(content["contexts"]) == 7
    assert content["classes"] == list(OVERLAPS)
    row = content["rows"][1]
    context = content["contexts"][row["context"]]
    assert context[slice(*row["golds"][0])] == "העיר תל אביב"
    assert context[slice(*row["given"])] == "תל אביב"
    assert row["class"] == "inside"
    assert dict(zip(content["scores"], row["scores"], strict=True))["f1"] == pytest.approx(0.8)


def test_answers_of_a_further_split_have_files_of_their_own(tmp_path):
    run = make_answered_run(tmp_path, split="validation")
    assert analyze(f"run={run}", "split=validation", "by=answers,overlap_class") == 0
    names = sorted(path.name for path in (run / "analysis").iterdir())
    kinds = [f"validation-overlap_class.{kind}" for kind in ("json", "png")]
    assert names == ["validation-answers.html", *kinds]


def test_a_data_set_is_described_by_sizes_words_and_lengths(tmp_path, capsys, monkeypatch):
    for split, count in (("train", 20), ("dev", 10)):
        write_squad(tmp_path / "data" / "parashoot" / f"{split}.json", count)
    words = ["data=parashoot", f"paths.data={tmp_path / 'data'}", "data.verify=false"]
    assert analyze(*words, f"paths.cache={tmp_path}", f"out={tmp_path / 'out'}") == 0
    stored = read_json(tmp_path / "out" / "statistics.json")
    assert stored["missing"] == ["test"]
    sizes = ("articles", "paragraphs", "questions")
    assert [stored["splits"]["train"][name] for name in sizes] == [7, 7, 20]
    assert stored["splits"]["all"]["first_words"]["where"] == 12
    assert stored["splits"]["train"]["complex"] == pytest.approx(0.2)
    lengths = read_table(tmp_path / "out" / "lengths.csv")
    questions = [row for row in lengths.rows if (row["split"], row["of"]) == ("train", "question")]
    assert sum(int(row["n"]) for row in questions) == 20
    assert "| train | 7 | 7 | 20 | 0 |" in (tmp_path / "out" / "statistics.md").read_text("utf-8")
    assert "missing: test" in capsys.readouterr().out


def test_a_sheet_is_drawn_filled_and_scored(tmp_path, capsys):
    write_squad(tmp_path / "parashoot" / "dev.json", 20)
    sheet = tmp_path / "judge.csv"
    words = ["data=parashoot", f"paths.data={tmp_path}", "data.verify=false", f"sheet={sheet}"]
    assert analyze(*words, f"paths.cache={tmp_path}", "sample=4") == 0
    assert "4 of 20 answered questions" in capsys.readouterr().out
    with changed(sheet) as columns:
        columns["minimal"] = ["x"] * 4
    assert analyze(f"sheet={sheet}") == 0
    shown = capsys.readouterr().out
    assert "Annotation ceiling" in shown
    stored = read_json(tmp_path / "judge.json")
    assert stored["judged"] == 4
    assert stored["tables"][0]["rows"][0]["share"]["value"] == 1.0


def test_answers_on_other_texts_are_named_by_guid(run, tmp_path, capsys):
    path = tmp_path / "data" / "test.json"
    content = read_json(path)
    row = content["data"][3]
    row["context"] = "ועוד: " + row["context"]
    row["answers"]["answer_start"] = [row["answers"]["answer_start"][0] + len("ועוד: ")]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert analyze(f"run={run}", "by=question_word") == 2
    assert "q3: answered 'מורה צעירה', but its context reads" in capsys.readouterr().err


def test_unlabelled_questions_are_left_out_and_counted(run):
    with changed(run / "predictions" / "test.parquet") as columns:
        columns["gold"][0] = None
    assert analyze(f"run={run}", "by=question_word") == 0
    stored = read_json(run / "analysis" / "test-question_word.json")
    assert (stored["questions"], stored["unlabelled"]) == (39, 1)


def test_a_question_that_got_no_answer_is_missed_and_the_page_says_so(run):
    unanswered = {"start": None, "end": None, "probability": None, "prediction": ""}
    with changed(run / "predictions" / "test.parquet") as columns:
        for name, value in unanswered.items():
            columns[name][0] = value
    assert analyze(f"run={run}", "by=overlap_class,answers") == 0
    counted, _ = read_json(run / "analysis" / "test-overlap_class.json")["tables"]
    assert {row["class"]: row["n"] for row in counted["rows"]}["missed"] == 1
    page = (run / "analysis" / "answers.html").read_text(encoding="utf-8")
    row = read_payload(page, "cards-data")["rows"][0]
    assert (row["given"], row["probability"], row["class"]) == (None, None, "missed")
