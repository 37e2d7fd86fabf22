"""`heron score task=qa`: any system's answers in, SQuAD's scores and the language's own out."""

import gzip
import json
import unicodedata

import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.cli import main
from heron.data.config import Columns, DataConfig
from heron.data.readers import read_rows
from heron.tasks.config import Config, TaskConfig
from heron.tasks.summarization.predictions import SummaryPredictions

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


def test_squad_s_own_form_is_read_and_both_profiles_are_scored(gold, tmp_path):
    mine = as_json(tmp_path, {"a": "הממשלה", "b": "צה״ל", "c": ""})
    code, scores = score(gold, mine, "language=he")
    assert code == 0
    assert scores["no_answer_accuracy"] == 1
    assert scores["answerable_f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert scores["answerable_he_f1"] == pytest.approx((2 / 3 + 1) / 2)  # gershayim are one sign
    assert "f1_low" not in scores, "one article tells nothing of others"


def test_questions_without_an_answer_and_answers_without_a_question_are_named(
    gold, tmp_path, capsys
):
    code, _ = score(gold, as_json(tmp_path, {"a": "x", "b": "y", "z": "w"}))
    assert code == 2
    assert ": c: no prediction" in capsys.readouterr().err
    assert score(gold, as_json(tmp_path, {**ANSWERS, "z": "w"}))[0] == 0
    assert "1 predictions are of no gold row: z" in " ".join(capsys.readouterr().out.split())


ARTICLE, A, B = "Ana cântă acasă. Dan doarme.", "Ana cântă.", "Dan doarme."
GUIDS = ["w", "a", "b", "z"]
LEFT_OUT = {"article": ["", ARTICLE, ARTICLE, ARTICLE], "summary": ["x", A, B, ""]}


def score_summaries(folder, texts, gold_guids=(), guids=()):
    """Score texts against a file whose first row has no article and whose last no summary."""
    gold, mine, out = (folder / name for name in ("gold.csv", "mine.csv", "scores.json"))
    write_table(gold, ({"guid": gold_guids} if gold_guids else {}) | LEFT_OUT)
    write_table(mine, ({"guid": guids} if guids else {}) | {"prediction": texts})
    words = [f"gold={gold}", f"predictions={mine}", f"out={out}", "language=ro", "resamples=0"]
    code = main(["score", "task=summarization", *words, "data.summaries.empty=drop"])
    return code, read_json(out)["mine"]["rouge1"] if code == 0 else None


@pytest.mark.parametrize(
    "texts", [["x", A, B, "y"], [A, B]], ids=["of every row", "of those that count"]
)
def test_texts_without_a_guid_belong_to_every_row_or_to_those_that_count(tmp_path, texts):
    assert score_summaries(tmp_path, texts) == (0, 1)


@pytest.mark.parametrize(
    ("guids", "texts"),
    [(GUIDS, ["x", A, B, "y"]), (["b", "a"], [B, A]), (["b", "w", "a"], [B, "x", A])],
)
def test_texts_to_rows_that_are_left_out_may_be_there_by_guid(tmp_path, guids, texts):
    assert score_summaries(tmp_path, texts, GUIDS, guids) == (0, 1)


def test_a_reader_lists_the_ids_of_all_questions_and_whose_they_are(gold):
    columns = Columns(text_pair="question")
    data = DataConfig(task="qa", format="squad_json", columns=columns, label_order=["answer"])
    data.qa.no_answer = "drop"
    rows = read_rows(gold, data, "required")
    assert rows.guids == list(QUESTIONS)
    assert [example.guid for example in rows.examples] == ["a", "b"]
    gold.write_text(gold.read_text("utf-8").replace('"id"', '"number"'), encoding="utf-8")
    rows = read_rows(gold, data, "ignored")
    assert rows.guids == ["gold:1", "gold:2", "gold:3"]
    assert not rows.has_ids


CEDILLA = {"guid": ["a", "b"], "article": ["Şoferul a oprit maşina în faţa şcolii.", ARTICLE]}
CEDILLA["summary"] = ["Şoferul a oprit maşina.", "Ana cântă."]
PLAIN = ["Șoferul a oprit mașina.", unicodedata.normalize("NFD", "Ana cântă.")]


def test_rouge_is_the_fork_s_on_texts_as_given_and_heron_s_in_one_spelling(tmp_path, capsys):
    gold, mine = tmp_path / "gold.csv", tmp_path / "mine.csv"
    write_table(gold, CEDILLA)
    write_table(mine, {"guid": ["a", "b"], "prediction": PLAIN})
    words = ["task=summarization", f"gold={gold}", f"predictions={mine}", "language=ro"]
    out = tmp_path / "scores.json"
    assert main(["score", *words, f"out={out}", "resamples=0"]) == 0
    scores = read_json(out)["mine"]
    # By hand: a, oprit of four words; Ana of two, for the fork cuts no mark off its letter.
    assert scores["rouge1"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert scores["rouge1_heron"] == scores["rougeL_heron"] == 1
    said = "in 1 articles, 1 gold summaries, 1 summaries: rouge1, rouge2, rougeL"
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_run_gives_every_score_of_summaries_the_same_name_and_value(tmp_path):
    gold, mine, out = (tmp_path / name for name in ("gold.csv", "mine.csv", "scores.json"))
    write_table(gold, CEDILLA)
    write_table(mine, {"guid": ["a", "b"], "prediction": PLAIN})
    words = ["task=summarization", f"gold={gold}", f"predictions={mine}", "language=ro"]
    assert main(["score", *words, f"out={out}", "resamples=0"]) == 0
    columns = Columns(text="article")
    data = DataConfig(task="summarization", format="article_table", columns=columns, language="ro")
    config = Config(data=data, task=TaskConfig("summarization", bootstrap=0))
    config.paths.cache = str(tmp_path / "cache")
    examples = read_rows(gold, data, "required").examples
    assert examples[0].target == PLAIN[0]  # what a model learns is in one spelling
    predictions = SummaryPredictions(examples, PLAIN)
    assert predictions.scores(config) == pytest.approx(read_json(out)["mine"])
    # And from the table that the run leaves behind.
    written = predictions.columns(config)
    write_table(tmp_path / "test.parquet", written)
    words = [f"gold={tmp_path}/test.parquet", f"predictions={tmp_path}/test.parquet", f"out={out}"]
    assert main(["score", "task=summarization", *words, "language=ro", "resamples=0"]) == 0
    assert predictions.scores(config) == pytest.approx(read_json(out)["test"])


ANSWERS = {"a": "הממשלה", "b": "צה״ל", "c": ""}


def test_no_answer_drop_leaves_questions_without_an_answer_out(gold, tmp_path, capsys):
    code, scores = score(gold, as_json(tmp_path, ANSWERS), "data.qa.no_answer=drop")
    assert code == 0
    assert "no_answer_accuracy" not in scores
    assert scores["f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert "rows left out: 1" in capsys.readouterr().out
    table = {"context": [ARTICLE] * 2, "question": ["Cine?"] * 2, "answer": ["Ana", ""]}
    write_table(tmp_path / "gold.csv", table)
    write_table(tmp_path / "mine.csv", {"prediction": ["Ana", "Dan"]})
    words = "language=ro", "data.qa.no_answer=drop"
    code, scores = score(tmp_path / "gold.csv", tmp_path / "mine.csv", *words)
    assert (code, scores["exact_match"]) == (0, 1)


def test_hugging_face_s_forms_of_answers_and_references_are_read(gold, tmp_path):
    _, expected = score(gold, as_json(tmp_path, ANSWERS), "resamples=0")
    rows = [{"id": guid, "prediction_text": text} for guid, text in ANSWERS.items()]
    mine, right = tmp_path / "mine.jsonl", tmp_path / "references.json"
    mine.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert score(gold, mine, "resamples=0") == (0, expected)
    references = [
        {"id": guid, "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for guid, (_, texts) in QUESTIONS.items()
    ]
    right.write_text("\ufeff" + json.dumps(references), encoding="utf-8")
    assert score(right, mine, "resamples=0") == (0, expected)


def test_gold_answers_with_a_wrong_offset_are_scored_as_texts_and_counted(gold, tmp_path, capsys):
    mine = as_json(tmp_path, ANSWERS)
    _, expected = score(gold, mine, "resamples=0")
    content = json.loads(gold.read_text("utf-8"))
    answers = content["data"][0]["paragraphs"][0]["qas"][0]["answers"]
    answers[0]["answer_start"] += 1
    gold.write_text("\ufeff" + json.dumps(content), encoding="utf-8")
    capsys.readouterr()
    assert score(gold, mine, "resamples=0") == (0, expected)
    assert "1 questions have a gold answer that is not at its answer_start" in (
        capsys.readouterr().out
    )
    _, dropped = score(gold, mine, "resamples=0", "data.qa.misaligned=drop")
    assert dropped["answerable_f1"] == 0


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "null", "None"])
def test_a_word_that_looks_like_nothing_is_an_answer(tmp_path, word):
    context = f"Bunica se numea {word} și locuia la țară."
    gold, mine = tmp_path / "gold.csv", tmp_path / "mine.csv"
    row = {"guid": ["a"], "context": [context], "question": ["Cum se numea?"], "answer": [word]}
    write_table(gold, row)
    write_table(mine, {"guid": ["a"], "prediction": [word]})
    code, scores = score(gold, mine, "language=ro", "resamples=0")
    assert (code, scores["exact_match"]) == (0, 1)
    assert "no_answer_accuracy" not in scores


def test_an_absent_answer_is_an_empty_one_and_counted(gold, tmp_path, capsys):
    expected = score(gold, as_json(tmp_path, ANSWERS))
    mine = tmp_path / "mine.jsonl"
    rows = [{"guid": guid, "prediction": text or None} for guid, text in ANSWERS.items()]
    mine.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert score(gold, mine) == expected
    assert "scored as an empty text: 1" in " ".join(capsys.readouterr().out.split())


def test_packed_gold_files_are_read(gold, tmp_path):
    path = tmp_path / "gold.json.gz"
    path.write_bytes(gzip.compress(gold.read_bytes()))
    _, expected = score(gold, as_json(tmp_path, ANSWERS), "resamples=0")
    assert score(path, as_json(tmp_path, ANSWERS), "resamples=0") == (0, expected)


def test_a_column_of_groups_is_that_of_the_file_or_is_refused_by_its_name(tmp_path, capsys):
    texts = [f"tekst {row}" for row in range(6)]
    golds = [[{"text": text, "answer_start": 0}] for text in texts]
    columns = {"guid": list("abcdef"), "site": list("xxxyyy"), "article": texts, "summary": texts}
    write_table(tmp_path / "gold.jsonl", {**columns, "answers": golds})
    articles = []
    for guid, site, text, answers in zip("abcdef", "xxxyyy", texts, golds, strict=True):
        asked = [{"id": guid, "question": "care?", "answers": answers}]
        articles.append({"title": site, "paragraphs": [{"context": text, "qas": asked}]})
    (tmp_path / "gold.json").write_text(json.dumps({"data": articles}), encoding="utf-8")
    mine = as_json(tmp_path, dict(zip("abcdef", [*texts[:3], "", "", ""], strict=True)))
    for gold, column, lowest in (
        ("gold.jsonl", "site", 0),
        ("gold.json", "title", 0),
        ("gold.json", "context", 1 / 6),
    ):
        _, scores = score(tmp_path / gold, mine, f"group_column={column}")
        assert scores["exact_match"] == 0.5
        assert scores["exact_match_low"] == pytest.approx(lowest), "one of two sites is all wrong"
    for task, gold in (("qa", "gold.json"), ("qa", "gold.jsonl"), ("summarization", "gold.jsonl")):
        words = (f"gold={tmp_path / gold}", f"predictions={mine}", "language=ro")
        assert main(["score", f"task={task}", *words, "group_column=nonsense"]) == 2
        assert "nonsense" in capsys.readouterr().err
