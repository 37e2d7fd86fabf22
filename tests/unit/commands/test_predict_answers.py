"""`heron predict` on questions: whatever the file, each answer is a part of the text as given."""

import csv
import json

import pytest

from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, received
from heron.training.job import run_job
from small_runs import heron

CONTEXT = 'המורה רותי הגיעה ל"בית הספר", בחיפה. אחר כך נסעה דליה לרמלה.'
QUESTION = 'מי הגיעה ל"בית הספר"?'
MARKED = "\u200fהמורה \u202bרוּתִי\u202c הגיעה לחיפה\u200f. אחר כך נסעה דליה ל\u200eרמלה, a\u0306n."


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of two steps: what it answers is chance, where its answers stand is not."""
    from small_runs import compose

    folder = tmp_path_factory.mktemp("answers")
    words = ("data=chronicle_qa", "encoder.max_length=64", "encoder.stride=16")
    more = ("trainer.max_steps=2", "dynamics.enabled=false", "data.generator.size=100")
    config = compose(
        folder, *words, *more, "trainer.enable_progress_bar=false", "task.max_answer_tokens=8"
    )
    run = RunFolder(folder / "runs" / "qa" / "job")
    run_job(config, run)
    return run


@pytest.fixture
def predict(trained, tmp_path, capsys):
    """Return a function that predicts on rows or a file: exit code, table, what was said."""

    def predict(given, name="asked.csv", **columns):
        path = tmp_path / name
        if isinstance(given, bytes):
            path.write_bytes(given)
        elif path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, given[0])
                writer.writeheader()
                writer.writerows(given)
        else:
            lines = [json.dumps(row, ensure_ascii=False) for row in given]
            path.write_text("\n".join(lines), encoding="utf-8")
        code = heron("predict", f"run={trained.path}", f"input={path}", f"cache={tmp_path}")
        out = path.with_suffix(".predictions.csv")
        return code, read_table(out).rows if out.exists() else [], capsys.readouterr().err

    return predict


def cut_out(row, context):
    return context[int(row["start"]) : int(row["end"])]


def test_one_row_from_standard_input_is_answered_in_a_file_here(trained, tmp_path, monkeypatch):
    row = tmp_path / "row"
    row.write_text(json.dumps({"context": "A fost frig. A nins.", "question": "Cum a fost?"}))
    monkeypatch.chdir(tmp_path)
    received.cache_clear()
    with row.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert heron("predict", trained.path, "input=-", f"cache={tmp_path}") == 0
    assert len(read_table("stdin.predictions.csv")) == 1


@pytest.mark.parametrize("name", ["asked.csv", "asked.jsonl"])
def test_answer_and_candidates_are_cut_out_of_the_context_by_their_offsets(predict, name):
    rows = [{"guid": f"q{n}", "context": CONTEXT, "question": QUESTION} for n in range(3)]
    code, answered, said = predict(rows, name)
    assert (code, said) == (0, "")
    assert [row["guid"] for row in answered] == ["q0", "q1", "q2"]
    for row in answered:
        assert cut_out(row, CONTEXT) == row["answer"] != ""
        candidates = json.loads(row["n_best"])
        assert candidates[0]["text"] == row["answer"]
        assert len({(each["start"], each["end"]) for each in candidates}) == len(candidates) == 20
        assert all(cut_out(each, CONTEXT) == each["text"] for each in candidates)
        chances = [each["probability"] for each in candidates]
        assert chances == sorted(chances, reverse=True)
        assert float(row["probability"]) == pytest.approx(chances[0])


def test_offsets_count_in_the_text_that_the_user_gave(predict, trained):
    plain = "המורה רוּתִי הגיעה לחיפה. אחר כך נסעה דליה לרמלה, ăn."
    rows = [{"context": text, "question": QUESTION} for text in (MARKED, plain)]
    _, (marked, unmarked), _ = predict(rows, "asked.jsonl")
    assert cut_out(unmarked, plain) == unmarked["answer"]
    pairs = zip(json.loads(marked["n_best"]), json.loads(unmarked["n_best"]), strict=True)
    for given, normalised in pairs:
        assert cut_out(given, MARKED) == given["text"]
        bare = given["text"].translate(dict.fromkeys(map(ord, "\u200e\u200f\u202b\u202c")))
        assert bare.replace("a\u0306", "ă") == normalised["text"]
        assert given["probability"] == pytest.approx(normalised["probability"])
    assert any(given["start"] > 30 for given in json.loads(marked["n_best"]))
    assert marked["answer"] == json.loads(marked["n_best"])[0]["text"]


def test_one_text_on_the_command_line_is_answered_in_its_own_characters(trained, capsys):
    words = (f"run={trained.path}", f"context={MARKED}", f"question={QUESTION}")
    assert heron("predict", *words) == 0
    first, *candidates = capsys.readouterr().out.splitlines()
    assert first in MARKED
    for line in candidates:
        _, place, text = line.split(maxsplit=2)
        start, end = map(int, place.split("-"))
        assert MARKED[start:end] == text


@pytest.mark.parametrize("chunk", [10_000, 2])
def test_what_cannot_be_asked_is_named_by_line_in_order_and_all_else_is_answered(
    predict, monkeypatch, chunk
):
    monkeypatch.setattr("heron.commands.predict.CHUNK", chunk)
    long = " ".join(["לאן?"] * 60)
    rows = [
        {"guid": "a", "context": CONTEXT, "question": QUESTION},
        {"guid": "b", "context": "", "question": QUESTION},
        {"guid": "c", "context": CONTEXT, "question": long},
        {"guid": "a", "context": CONTEXT, "question": QUESTION},
        {"guid": "d", "context": CONTEXT, "question": "?!"},
        {"guid": "e", "context": " ".join([CONTEXT] * 500), "question": QUESTION},
        {"guid": "", "context": CONTEXT, "question": QUESTION},
    ]
    code, answered, said = predict(rows)
    assert code == 1
    assert [row["guid"] for row in answered] == ["a", "e"]
    reasons = {
        3: "b: its context is empty",
        4: "its question has",
        5: "'a' is already on line 2",
        6: "d: its question has no word",
        8: "is empty",
    }
    lines = [line for line in said.splitlines() if "asked.csv:" in line]
    assert [int(line.partition("asked.csv:")[2].partition(":")[0]) for line in lines] == [*reasons]
    assert all(reason in line for reason, line in zip(reasons.values(), lines, strict=True))
    assert "Traceback" not in said
