"""`heron score task=qa`: any system's answers in, SQuAD's scores and the language's own out."""

import json

import pytest

from heron.cli import main
from heron.data.tables import write_table
from heron.files import read_json

CONTEXT = 'ראש הממשלה נאם בצה"ל ביום שני.'
QUESTIONS = {"a": ("מי נאם?", ["ראש הממשלה"]), "b": ("היכן נאם?", ['צה"ל']), "c": ("למה?", [])}


@pytest.fixture
def gold(tmp_path):
    """A file of SQuAD's shape: two questions with an answer and one without."""
    asked = [
        {
            "id": guid,
            "question": question,
            "is_impossible": not answers,
            "answers": [{"text": text, "answer_start": CONTEXT.index(text)} for text in answers],
        }
        for guid, (question, answers) in QUESTIONS.items()
    ]
    paragraphs = [{"context": CONTEXT, "qas": asked}]
    path = tmp_path / "gold.json"
    data = {"version": "v2.0", "data": [{"title": "נאום", "paragraphs": paragraphs}]}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def score(gold, predictions, *words):
    """Run the command; returns its exit code and the scores it wrote, if any."""
    out = gold.parent / "scores.json"
    words = [f"gold={gold}", f"predictions={predictions}", f"out={out}", "name=mine", *words]
    code = main(["score", "task=qa", *words])
    return code, read_json(out)["mine"] if code == 0 else None


def as_json(folder, answers):
    path = folder / "mine.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    return path


def test_squad_s_own_form_is_read_and_both_profiles_are_scored(gold, tmp_path, capsys):
    mine = as_json(tmp_path, {"a": "הממשלה", "b": "צה״ל", "c": ""})
    code, scores = score(gold, mine)
    assert code == 0
    assert scores["no_answer_accuracy"] == 1
    assert scores["answerable_f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert scores["answerable_he_f1"] == pytest.approx((2 / 3 + 1) / 2)  # gershayim are one sign
    assert scores["f1_low"] <= scores["f1"] <= scores["f1_high"]
    assert "qa, 3 questions" in capsys.readouterr().out


def test_a_table_of_answers_scores_the_same(gold, tmp_path):
    answers = {"a": "הממשלה", "b": "צה״ל", "c": ""}
    _, expected = score(gold, as_json(tmp_path, answers))
    table = tmp_path / "mine.csv"
    write_table(table, {"guid": list(answers), "prediction": list(answers.values())})
    assert score(gold, table) == (0, expected)


def test_questions_without_an_answer_and_answers_without_a_question_are_named(
    gold, tmp_path, capsys
):
    code, _ = score(gold, as_json(tmp_path, {"a": "x", "b": "y", "z": "w"}))
    assert code == 2
    said = capsys.readouterr().err
    assert ": c: no answer to it" in said
    assert ": z: no such question" in said


@pytest.mark.parametrize(
    ("words", "says"),
    [(["data=trc"], "task=relation"), (["data=parashot"], "parashoot"), (["sed=1"], "seed")],
)
def test_a_wrong_option_gets_the_right_one(gold, tmp_path, capsys, words, says):
    assert score(gold, as_json(tmp_path, {}), *words)[0] == 2
    assert says in capsys.readouterr().err


def test_an_answer_that_is_no_text_is_named(gold, tmp_path, capsys):
    assert score(gold, as_json(tmp_path, {"a": 3, "b": "", "c": ""}))[0] == 2
    assert "mine.json: a: its answer is no text" in capsys.readouterr().err
