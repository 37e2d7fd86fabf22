"""`heron compare` on answers: their mean scores, tested over questions or articles."""

import dataclasses
import json
import statistics

import numpy as np
import pytest

from compared import by_label, run, write_compared
from heron.base.errors import ConfigError, DataError
from heron.base.tables import write_table
from heron.data import TASKS
from heron.languages.hebrew import HEBREW
from heron.metrics.significance import holm, mcnemar
from heron.metrics.span import item_scores, language_profile
from heron.tasks.qa import TASK
from heron.tasks.qa.reader import text_scores

N = 80
GUIDS = [f"q{row}" for row in range(N)]
ARTICLES = [f"a{row // 4}" for row in range(N)]
WORDS = ["כנסת", "ישראל", "צה״ל", "ירושלים", "ראש", "הממשלה", "שני", "נאם"]
GOLDS = [
    [" ".join(np.random.default_rng(row).choice(WORDS, 3)), WORDS[row % 8]] for row in range(N)
]
HEADS = {"mbert": 0.2, "hebert": 0.22, "alephbert": 0.7}


def answer(right, seed, golds=GOLDS):
    """Answer a share of the questions right, the others with two words at random."""
    random = np.random.default_rng(seed)
    return [
        gold[0] if gold and random.random() < right else " ".join(random.choice(WORDS, 2))
        for gold in golds
    ]


def answered(answers, golds=GOLDS, **more):
    return {
        "guid": GUIDS,
        "gold": [gold[0] if gold else "" for gold in golds],
        "prediction": answers,
        "golds": [json.dumps(gold, ensure_ascii=False) for gold in golds],
        **more,
    }


@pytest.fixture
def make_run(tmp_path, monkeypatch):
    """Return a function that writes one run of `runs/sweep`; the tests run beside `runs`."""
    monkeypatch.chdir(tmp_path)

    def make(head, seed, answers, golds=GOLDS, validation=0.5, labels=("answer",), **more):
        config = {"data": {"label_order": list(labels)}, "trainer": {"monitor": "f1"}}
        config["task"] = {"name": "qa", "relaxed": "recode", "resample": "row"}
        scores = {"validation": {"f1": validation}}
        columns = answered(answers, golds, **more)
        write_compared(tmp_path, f"head={head}", seed, config, columns, scores=scores)

    return make


@pytest.fixture
def sweep(make_run):
    """A sweep of three encoders, three seeds each; `alephbert` is far better than the others."""
    for number, (head, right) in enumerate(HEADS.items()):
        for seed in range(3):
            answers = answer(right, 10 * seed + number)
            make_run(head, seed, answers, validation=[0.5, 0.7, 0.6][seed], group=ARTICLES)
    return "runs/sweep"


def scores(head, metric="f1"):
    """Score every run of the sweep; `[K, N]`."""
    number = list(HEADS).index(head)
    profiles = (language_profile(HEBREW),)
    return np.array(
        [
            item_scores(answer(HEADS[head], 10 * seed + number), GOLDS, profiles)[metric]
            for seed in range(3)
        ]
    )


@pytest.mark.parametrize("metric", [None, "exact_match", "he_f1", "tlnls"])
def test_answers_are_compared_by_the_mean_of_their_scores(sweep, metric):
    written = run(sweep, "against=head=mbert", *([f"metric={metric}"] if metric else []))
    metric = metric or "f1"
    assert written["settings"]["metric"] == metric
    systems = by_label(written)
    best = systems["head=alephbert"]
    means = scores("alephbert", metric).mean(-1)
    assert best["scores"] == pytest.approx(means)
    assert best["sd"] == pytest.approx(statistics.stdev(means))
    found = best["against"]["bootstrap"]
    expected = means.mean() - scores("mbert", metric).mean()
    assert found["difference"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]
    assert best["against"]["significant"]
    p_values = [systems[f"head={h}"]["against"]["p_holm"] for h in ("alephbert", "hebert")]
    assert p_values[0] < p_values[1]


def test_every_test_of_classes_is_there_for_answers(sweep):
    written = run(sweep)
    systems = by_label(written)
    against = [systems[f"head={head}"]["against"] for head in ("hebert", "mbert")]
    assert written["baseline"] == "head=alephbert"
    p_values = [found["randomization"]["p"] for found in against]
    assert [found["p_holm"] for found in against] == pytest.approx(holm(p_values))
    # Right or wrong is an exact match, in the runs that are best on validation.
    right = {head: scores(head, "exact_match")[1] == 1 for head in ("mbert", "alephbert")}
    expected = mcnemar(right["mbert"], right["alephbert"])
    assert against[1]["mcnemar"]["p"] == expected.p
    assert against[1]["mcnemar"]["only_second"] == expected.only_second
    assert (written["right"], written["cochran_q"]["n"]) == ("exact_match", N)
    assert against[0]["mann_whitney"]["n_first"] == 3
    pair = against[1]["per_seed"][2]
    assert (pair["seed"], pair["score"]) == ("2", pytest.approx(scores("mbert")[2].mean()))


def test_any_systems_answers_stand_beside_runs_and_need_one_gold_only(sweep):
    mine = answer(0.9, 99)
    table = {"guid": GUIDS, "gold": [gold[1] for gold in GOLDS], "prediction": mine}
    write_table("mine.csv", table)
    write_table("whole.jsonl", answered(mine))
    found = [by_label(run(sweep, name))[name.split(".")[0]] for name in ("mine.csv", "whole.jsonl")]
    # All golds of a question count, though the table names the second alone.
    expected = item_scores(mine, GOLDS)["f1"].mean()
    assert found[0]["scores"] == pytest.approx([expected])
    assert found[0]["against"] == found[1]["against"]
    assert by_label(run("mine.csv", sweep))["mine"]["scores"] == pytest.approx([expected])


def test_files_alone_say_their_task_and_language(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, right in (("a", 0.3), ("b", 0.8)):
        gold = [gold[0] for gold in GOLDS]
        columns = {"guid": GUIDS, "gold": gold, "prediction": answer(right, len(name))}
        write_table(f"{name}.csv", columns)
    written = run("a.csv", "b.csv", "task=qa", "language=he", "metric=he_f1")
    one = [[gold[0]] for gold in GOLDS]
    values = item_scores(answer(0.8, 1), one, (language_profile(HEBREW),))["he_f1"]
    assert by_label(written)["b"]["scores"] == pytest.approx([values.mean()])
    with pytest.raises(ConfigError, match=r"metric=he_f1: no such score.*language=CODE"):
        run("a.csv", "b.csv", "task=qa", "metric=he_f1")
    with pytest.raises(DataError, match="task=qa and task=summarization"):
        run("a.csv", "b.csv")


@pytest.fixture
def unanswerable(make_run):
    """Runs of questions of which every fourth has no answer; the second run never answers."""
    golds = [[] if row % 4 == 0 else gold for row, gold in enumerate(GOLDS)]
    labels = ("answer", "no_answer")
    make_run("bold", 0, answer(0.9, 1, golds), golds, labels=labels)
    make_run("silent", 0, [""] * N, golds, labels=labels)
    return golds


def test_a_question_without_an_answer_is_right_where_none_is_given(unanswerable):
    systems = by_label(run("runs/sweep"))
    assert systems["head=silent"]["mean"] == pytest.approx(0.25)
    expected = item_scores(answer(0.9, 1, unanswerable), unanswerable, no_answer=True)["f1"]
    assert systems["head=bold"]["mean"] == pytest.approx(expected.mean())


def test_rows_that_do_not_count_in_a_score_are_left_out(unanswerable):
    written = run("runs/sweep", "metric=answerable_f1")
    assert written["rows"] == N * 3 // 4
    assert any("20 of 80 rows do not count in answerable_f1" in note for note in written["notes"])
    answers = answer(0.9, 1, unanswerable)
    expected = item_scores(answers, unanswerable, no_answer=True)["answerable_f1"]
    assert by_label(written)["head=bold"]["mean"] == pytest.approx(np.nanmean(expected))
    assert by_label(written)["head=silent"]["mean"] == 0


def test_an_empty_gold_is_unknown_unless_questions_may_have_no_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    golds = [[] if row < 20 else gold for row, gold in enumerate(GOLDS)]
    for name, right in (("a", 0.3), ("b", 0.8)):
        write_table(f"{name}.csv", answered(answer(right, len(name)), golds))
    assert run("a.csv", "b.csv", "task=qa", "labels=answer")["rows"] == N - 20
    stated = run("a.csv", "b.csv", "task=qa", "labels=answer,no_answer")
    guessed = run("a.csv", "b.csv", "task=qa")
    assert (stated["rows"], guessed["systems"]) == (N, stated["systems"])
    assert any("20 rows have an empty gold" in note for note in guessed["notes"])


def test_a_task_without_right_and_wrong_has_no_tests_of_them(sweep, monkeypatch):
    def lengths(predictions, golds, language, no_answer):
        return {"length": np.array([len(text) / 100 for text in predictions])}

    lengthy = dataclasses.replace(text_scores(), items=lengths, metric="length", right=None)
    task = dataclasses.replace(TASK, scores=lambda: lengthy)
    monkeypatch.setitem(TASKS._entries, "lengths", task)
    written = run(sweep, "task=lengths")
    assert (written["right"], written["cochran_q"]) == (None, None)
    found = by_label(written)["head=mbert"]["against"]
    assert found["mcnemar"] is None
    assert found["per_seed"][0]["mcnemar"] is None
    assert found["mann_whitney"]["n_first"] == 3
