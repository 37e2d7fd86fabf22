"""Slices of a run's answers: nothing is lost, and scores are those of the slice's questions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heron.base.cells import Interval
from heron.data.config import Columns, DataConfig
from heron.data.examples import Example, Span
from heron.metrics.span import item_scores
from heron.reports.pages import clean_text
from heron.results.frame import Frame
from heron_forks.parashoot.answers import overlap_table, payload, slice_answers
from heron_tools.analysis.figures import slices_figure
from heron_tools.analysis.slicing import Split
from heron_tools.statistics.options import parse
from heron_tools.statistics.rates import group_mean
from made_up_runs import CONTEXT, KINDS

BY = ("question_word", "answer_length", "question_length", "overlap_class")


def config(*labels):
    columns = Columns(text="context", text_pair="question")
    return DataConfig(
        name="q",
        language="he",
        task="qa",
        format="squad_json",
        label_order=[*labels],
        columns=columns,
    )


def span(text):
    start = CONTEXT.index(text)
    return Span(start, start + len(text))


def answered(number, question, gold, given, side=None):
    spans = (span(gold),) if gold else ()
    group = f"a{number % 3}"
    example = Example(f"q{number}", CONTEXT, question, spans, group=group, side=side or {})
    start, end = span(given) if given else (None, None)
    row = {
        "guid": example.guid,
        "gold": gold,
        "prediction": given,
        "golds": [gold] if gold else [],
        "n_best": "[]",
        "probability": 0.5,
        "start": start,
        "end": end,
    }
    return row, example


def analysis(rows, *labels):
    join = lambda _: [example for _, example in rows]  # noqa: E731
    columns = {name: [row[name] for row, _ in rows] for name in rows[0][0]}
    frame = Frame(Path("x.parquet"), columns)
    return slice_answers(Split("run", "test", config(*labels), parse(["run=x"])[0], frame, join))


@pytest.fixture
def split():
    rows = [answered(n, *KINDS[n % 5], side={"source": "ab"[n % 2]}) for n in range(32)]
    return analysis(rows, "answer")


def slices(split, by):
    (slicing,) = split.run(by).slicings
    return slicing.slices


def by_name(split, by):
    return {one.name: one for one in slices(split, by)}


@pytest.mark.parametrize("by", [*BY, "source"])
def test_slices_hold_every_question_once_and_average_to_the_whole(split, by):
    found = slices(split, by)
    rows = np.concatenate([one.rows_M for one in found])
    assert sorted(rows.tolist()) == list(range(32))
    for name in ("exact_match", "f1", "he_exact_match", "he_f1", "tlnls"):
        means = [getattr(one.cells[name], "value", one.cells[name]) for one in found]
        sizes = [len(one.rows_M) for one in found]
        assert np.average(means, weights=sizes) == pytest.approx(split.scores[name].mean())


def test_a_slices_score_is_that_of_its_questions_alone(split):
    where = by_name(split, "question_word")["where"]
    assert {split.split.frame["question"][row] for row in where.rows_M} == {
        "לאן נסע דוד?",
        "מאיפה יצא?",
    }
    columns = split.split.frame["prediction"], split.split.frame["golds"]
    texts, golds = ([column[row] for row in where.rows_M] for column in columns)
    expected = item_scores(texts, golds)["f1"].mean()
    assert where.cells["f1"].value == pytest.approx(expected)
    assert where.cells["f1"].low < expected < where.cells["f1"].high


def test_questions_without_an_answer_have_slices_of_their_own():
    rows = [
        answered(0, "מי?", "דוד", "דוד"),
        answered(1, "מי?", "", ""),
        answered(2, "מי?", "", "רות"),
        answered(3, "מי?", "רות", ""),
    ]
    split = analysis(rows, "answer", "no_answer")
    lengths = by_name(split, "answer_length")
    assert lengths["(no answer)"].rows_M.tolist() == [1, 2]
    assert lengths["1"].cells["no_answer_accuracy"] is None
    kinds = {name: one.rows_M.tolist() for name, one in by_name(split, "overlap_class").items()}
    assert kinds == {"equal": [0, 1], "missed": [3], "invented": [2]}
    assert [row[0] for row in overlap_table(split.split.frame["overlap_class"], split.groups).rows][
        -2:
    ] == [
        "missed",
        "invented",
    ]


def test_an_answer_that_the_context_has_not_is_disjoint_or_one_too_many():
    def written(number, gold):
        row, example = answered(number, "מי?", gold, "")
        return {**row, "prediction": "לא כאן"}, example

    found = analysis([written(0, "1948"), written(1, "")], "answer", "no_answer")
    assert found.split.frame["place"] == [None, None]
    assert found.split.frame["overlap_class"] == ["disjoint", "invented"]
    shown = [(row["given"], row["written"]) for row in payload(found)["rows"]]
    assert shown == [(None, "לא כאן")] * 2
    assert np.allclose(found.scores["exact_match"], 0)


def test_places_count_in_the_context_as_the_file_has_it():
    row, example = answered(0, "מתי?", "1948", "1948")
    given = "\u200f" + CONTEXT.replace("1948", "\u200f1948", 1)
    example = replace(example, side={"context as given": (given,)}, group=CONTEXT)
    start = given.index("1948")
    row |= {"start": start, "end": start + 4}
    found = analysis([(row, example)], "answer")
    assert found.split.frame["overlap_class"] == ["equal"]
    (shown,) = payload(found)["rows"]
    assert (shown["given"], shown["group"]) == (shown["golds"][0], "")
    assert payload(found)["contexts"] == [clean_text(given)]


def test_the_data_set_says_whether_questions_may_have_no_answer_not_the_rows_at_hand():
    split = analysis([answered(n, *KINDS[n % 5]) for n in range(4)], "answer", "no_answer")
    (columns,) = [table.columns for table in split.run("question_length").tables]
    assert "no_answer_accuracy" in columns
    assert not any(name.startswith("answerable_") for name in columns)


def test_one_article_gives_a_mean_without_an_interval():
    values = np.array([0.0, 1.0, np.nan])
    assert group_mean(values, ["a", "a", "b"]) == 0.5
    assert group_mean(values[2:], ["b"]) is None
    found = group_mean(np.array([0.0, 1.0, 1.0, 0.0]), ["a", "b", "c", "d"])
    assert isinstance(found, Interval)
    assert found.low < found.value == 0.5 < found.high


@pytest.mark.usefixtures("drawn_figures")
def test_slices_are_drawn_with_and_without_intervals(split):
    rows = [answered(n, *KINDS[n % 5]) for n in range(2)]
    for one in (split, analysis(rows, "answer")):
        found = one.run("question_word").slicings
        assert slices_figure(found, "title", 0.5, one.figure_scores).startswith(b"\x89PNG")
