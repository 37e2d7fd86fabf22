"""Questions from the command line to the answer: train, predict, evaluate, several runs as one."""

import json
from itertools import combinations, product

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.languages.hebrew import HEBREW
from heron.metrics.span import expected_f1, language_profile
from heron.reports.artefacts import read_artefacts
from heron.results.collect import collect
from heron.training.inference import open_trained, predict_each, read_splits
from proposals import proposed
from small_exports import run_card
from small_runs import TINY, heron, in_folder

WORDS = (
    "data=chronicle_qa",
    "data.generator.size=200",
    "data.generator.unanswerable=0.3",
    "data.label_order=[answer,no_answer]",
    "encoder.max_length=64",
    "encoder.stride=16",
    "trainer.accumulate_grad_batches=2",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two tiny runs that differ in their seed."""
    folder = tmp_path_factory.mktemp("qa")
    for seed in (0, 1):
        words = (*TINY, *in_folder(folder), *WORDS, f"seed={seed}", f"run.job=seed{seed}")
        assert heron("train", *words) == 0
    return [RunFolder(folder / "runs" / "chronicle_qa-qa" / f"seed{seed}") for seed in (0, 1)]


def test_a_run_leaves_scores_answers_and_dynamics(runs):
    scores = read_json(runs[0].scores)["test"]
    for name in ("exact_match", "f1", "he_f1", "tlnls", "no_answer_accuracy", "threshold"):
        assert name in scores
    assert scores["f1_low"] <= scores["f1"] <= scores["f1_high"]
    rows = read_table(runs[0].predictions("test")).rows
    for row in rows:
        if row["prediction"]:
            assert row["text"][row["start"] : row["end"]] == row["prediction"]
            assert json.loads(row["n_best"])[0]["text"] == row["prediction"]
        else:
            assert row["no_answer"] > scores["threshold"]
    assert sorted(p.name for p in runs[0].path.glob("dynamics/*")) == [
        "epoch=0.parquet",
        "epoch=1.parquet",
    ]


def test_the_code_of_an_exported_runs_card_gives_the_same_answers(runs, tmp_path):
    assert heron("export", f"run={runs[0].path}", f"out={tmp_path / 'plain'}") == 0
    rows = read_table(runs[0].predictions("test")).rows
    some = [
        *[r for r in rows if r["prediction"]][:6],
        *[r for r in rows if not r["prediction"]][:3],
    ]
    for row in some:
        asked = {"question": row["text_pair"], "context": row["text"]}
        assert run_card(tmp_path / "plain", **asked) == row["prediction"]


def test_a_file_of_questions_is_answered(runs, tmp_path):
    context = "המורה רותי הגיעה לחיפה ביום שני. אחר כך נסעה דליה לרמלה."
    questions = tmp_path / "questions.jsonl"
    rows = [{"guid": str(n), "context": context, "question": "לאן נסעה דליה?"} for n in range(3)]
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert heron("predict", f"run={runs[0].path}", f"input={questions}") == 0
    answered = read_table(tmp_path / "questions.predictions.csv").rows
    assert [row["guid"] for row in answered] == ["0", "1", "2"]
    assert len({row["answer"] for row in answered}) == 1
    for row in answered:
        if row["answer"]:
            assert context[int(row["start"]) : int(row["end"])] == row["answer"]


def test_one_question_is_answered_on_the_command_line(runs, capsys):
    context, question = "רותי הגיעה לחיפה ביום שני.", "מי הגיעה לחיפה?"
    assert (
        heron("predict", f"run={runs[0].path}", f"context={context}", f"question={question}") == 0
    )
    first, *candidates = capsys.readouterr().out.splitlines()
    assert first == "(no answer)" or first in context
    assert all(line.split(maxsplit=2)[2] in context for line in candidates)


def test_a_run_scores_the_same_when_it_is_evaluated(runs, tmp_path):
    out = tmp_path / "scores.json"
    assert heron("evaluate", f"run={runs[0].path}", f"out={out}") == 0
    again, before = read_json(out)["test"], read_json(runs[0].scores)["test"]
    assert again == pytest.approx(before)


def test_a_finished_run_is_scored_under_other_lengths_of_answers(runs, tmp_path, capsys):
    run, out = runs[0], tmp_path / "scores.json"
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    words = (f"run={run.path}", "task.max_answer_tokens=1,4,30", f"out={out}")
    assert heron("evaluate", *words) == 2
    assert "split=validation" in capsys.readouterr().err
    assert heron("evaluate", *words, "split=validation") == 0
    scores = {name: by_split["validation"] for name, by_split in read_json(out).items()}
    assert list(scores) == [f"task.max_answer_tokens={n}" for n in (1, 4, 30)]
    own = read_json(run.scores)["validation"]
    assert scores["task.max_answer_tokens=30"]["f1"] == pytest.approx(own["f1"])
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param((0,), id="one run"),
        pytest.param((0, 1), id="the mean of two", marks=pytest.mark.real),
    ],
)
@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_several_values_together_predict_like_each_alone(runs, seeds):
    points = [
        {"encoder.stride": stride, "task.max_answer_tokens": longest}
        for stride, longest in product((8, 24), (2, 30))
    ]
    folders = [runs[seed] for seed in seeds]
    first = open_trained(folders)
    systems = [first.with_settings(point) for point in points]
    examples = read_splits(systems[0])["validation"][:30]
    found = [predictions for predictions, refused in predict_each(systems, examples)]
    for point, together in zip(points, found, strict=True):
        alone, _ = open_trained(folders, settings=point).predict(examples)
        assert together.best == alone.best
        assert together.none_R.tolist() == alone.none_R.tolist()
        assert together.threshold == alone.threshold
    assert all(one.best != other.best for one, other in combinations(found, 2))


def test_soft_answers_where_no_question_has_several_are_said_to_do_nothing(tmp_path, capsys):
    words = (*TINY, *in_folder(tmp_path), *WORDS, "optim.soft.answers=true")
    assert heron("train", *words, "trainer.fast_dev_run=true") == 0
    assert "optim.soft.answers" in capsys.readouterr().err


def test_minimum_bayes_risk_chooses_among_the_same_candidates(runs):
    first = open_trained(runs[0])
    systems = [first.with_settings({"task.decoding": each}) for each in ("argmax", "mbr")]
    examples = read_splits(first)["validation"]
    plain, mbr = (predictions for predictions, _ in predict_each(systems, examples))
    assert plain.texts == first.predict(examples)[0].texts
    assert list(map(sorted, plain.best)) == list(map(sorted, mbr.best))
    assert [best[:1] for best in mbr.best] != [best[:1] for best in plain.best]
    for candidates in filter(None, mbr.best):
        given, p = [each.text for each in candidates], [each.probability for each in candidates]
        expected = expected_f1(given, p, language_profile(HEBREW))
        assert expected.tolist() == sorted(expected, reverse=True)


def test_a_chosen_length_of_answers_is_predicted_with_too(runs, tmp_path, capsys):
    context = "רותי הגיעה לחיפה ביום שני אחרי שדליה נסעה לרמלה."
    words = ("predict", f"run={runs[0].path}", f"context={context}", "question=לאן?")
    assert heron(*words, "task.max_answer_tokens=1") == 0
    _, *candidates = capsys.readouterr().out.splitlines()
    tokenizer = open_trained(runs[0]).tokenizer
    spans = [tuple(map(int, line.split()[1].split("-"))) for line in candidates]
    tokens = tokenizer(context, return_offsets_mapping=True)["offset_mapping"]
    for start, end in spans:
        assert sum(first < end and last > start for first, last in tokens) == 1
    assert heron(*words, "task.max_answer_tokens=1,2") == 2
    assert "give one of them" in capsys.readouterr().err


def questions(path, *wrong):
    """Write questions of SQuAD's form, good ones before wrong ones."""
    context = "רותי הגיעה לחיפה ביום שני."
    good = {"id": "good", "context": context, "question": "לאן הגיעה?"}
    good["answers"] = {"text": ["לחיפה"], "answer_start": [context.index("לחיפה")]}
    rows = [good, *({**good, "id": f"wrong{n}", **row} for n, row in enumerate(wrong))]
    path.write_text(json.dumps({"data": rows}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("wrong", "key", "left"),
    [
        ({"answers": None}, "data.unlabelled", 1),
        ({"answers": {"text": ["לחיפה"], "answer_start": [3]}}, "data.qa.misaligned", 2),
        ({"answers": {"text": ["רמלה"], "answer_start": [3]}}, "data.qa.misaligned", 1),
    ],
)
def test_evaluate_and_score_take_what_they_propose_for_wrong_answers(
    runs, tmp_path, capsys, wrong, key, left
):
    path, mine = questions(tmp_path / "mine.json", wrong), tmp_path / "answers.json"
    mine.write_text(json.dumps({"good": "לחיפה", "wrong0": "רמלה"}), encoding="utf-8")
    commands = [
        ["evaluate", f"run={runs[0].path}", f"input={path}"],
        ["score", "task=qa", f"gold={path}", f"predictions={mine}", "resamples=0"],
    ]
    for command in commands:
        if command[0] == "score" and key == "data.qa.misaligned":
            assert heron(*command) == 0, "SQuAD's evaluation compares texts, wherever they stand"
            assert "1 questions have a gold answer that is not at its" in capsys.readouterr().out
            continue
        assert heron(*command) == 2
        said = proposed(capsys.readouterr().err)
        word = next(word for word in said if word.startswith(key))
        assert heron(*command, word) == 0
        assert ("rows left out: 1" in capsys.readouterr().out) == (left == 1)


def test_a_report_shows_answers_and_no_matrix_of_them(runs):
    assert heron("report", runs[0].path) == 0
    artefacts = read_artefacts(collect(runs[0].path)[0])
    assert artefacts.classes == ()
    scores = read_json(runs[0].scores)["test"]
    assert sum(artefacts.right) / len(artefacts.predictions) == pytest.approx(scores["exact_match"])
    page = (runs[0].path / "report.html").read_text(encoding="utf-8")
    assert artefacts.predictions.texts("text_pair")[0] in page
