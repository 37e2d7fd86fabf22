"""`heron train data=own_qa`: what is odd in a file of questions is read right, or named at once."""

import json

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from small_runs import TINY, heron, in_folder

CONTEXT = "המורה רותי הגיעה לחיפה ביום שני. אחר כך נסעה דליה לרמלה."
LONG = " ".join([CONTEXT] * 500)  # 5,000 words
LONG_QUESTION = " ".join(["לאן נסעה דליה?"] * 40)


def question(guid, context=CONTEXT, question="לאן נסעה דליה?", **values):
    return {"guid": guid, "context": context, "question": question, **values}


ROWS = [question(f"g{n}", f"בשנת {n} {CONTEXT}", answer="רמלה") for n in range(20)]


@pytest.fixture
def train(tmp_path, monkeypatch, capsys):
    """Return a function that trains on rows: exit code, run folder, what was said."""
    monkeypatch.setattr("heron.commands.train.report", lambda folder: None)

    def train(*rows, words=(), job="own"):
        for name, found in (("train", [*ROWS, *rows]), ("test", ROWS[:5])):
            lines = [json.dumps(row, ensure_ascii=False) for row in found]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        files = [f"data.files.{n}.path={tmp_path / n}.jsonl" for n in ("train", "test")]
        window = ("encoder.max_length=64", "encoder.stride=16", "run.export=false")
        more = ("trainer.max_steps=2", f"run.job={job}", "data.validation.fraction=0.1")
        code = heron(
            *("train", "data=own_qa", *TINY[1:], *in_folder(tmp_path), *files, *window, *more),
            *words,
        )
        return code, RunFolder(tmp_path / "runs" / "own_qa-qa" / job), capsys.readouterr().err

    return train


def test_contexts_of_any_length_and_answers_at_their_edges_are_trained_on(train):
    code, folder, said = train(
        question("first", answer="המורה", answer_start=0),
        question("last", answer="לרמלה.", answer_start=len(CONTEXT) - 6),
        question("whole", "רמלה", answer="רמלה"),
        question("long", "סוף " + LONG, answer="סוף", answer_start=0),
        question("long-end", LONG + " סוף", answer="סוף"),
        words=("encoder.max_length=256", "encoder.stride=32"),
    )
    assert code == 0, said
    train_split = read_json(folder.status)["data"]["splits"]["train"]
    validation = read_json(folder.status)["data"]["splits"]["validation"]
    assert train_split["rows"] + validation["rows"] == 25
    assert train_split["refused"] == train_split["answers_cut"] == 0
    assert train_split["sequences"] + validation["sequences"] > 2 * len(LONG.split()) / 256


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (question("odd", question=LONG_QUESTION, answer="רמלה"), "leaves none of 64"),
        (question("odd", LONG, answer=" ".join([CONTEXT] * 50), answer_start=0), "window of 64"),
    ],
    ids=["question", "answer"],
)
def test_what_no_window_holds_is_refused_or_left_out_by_name(train, row, says):
    words = ("data.validation.seed=1",)  # one that leaves this row in train
    code, _, said = train(row, words=(*words, "data.on_cut=refuse"))
    assert code == 2
    assert "odd" in said
    assert says in said
    assert "data.on_cut=drop" in said
    code, folder, said = train(row, words=words, job="dropped")
    assert code == 0, said
    assert "left out 1" in said
    assert "max_length" in said
    assert "odd" in said
    assert read_json(folder.status)["data"]["splits"]["train"]["refused"] == 1
