"""Scores equal the official rules', for one gold or several, with and without no-answers."""

import random
import re
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.intervals import score_intervals
from heron.metrics.span import SQUAD, expected_f1, item_scores, language_profile, mean_scores


def span_scores(*arguments, **options):
    return mean_scores(item_scores(*arguments, **options))


HE, RO = language_profile(HEBREW), language_profile(ROMANIAN)
WORDS = """
    the a an A The bridge Bridge. 1914-1918 1914–1918 ב-1974 1974 צה"ל צה״ל הכנסת כנסת בית־ספר בית
    ספר שָׁלוֹם שלום un o niște țară ţară într-un , ! $5 5 x_y xy Roma plan breathe 5–the–7 5–7
""".split()  # noqa: SIM905
WORDS.append("\n\t")
ANSWERS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
QUESTIONS = st.lists(st.tuples(ANSWERS, st.lists(ANSWERS, max_size=3)), min_size=1, max_size=8)


def random_sample(size: int, golds: int = 3, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Draw answers that often share words; some are empty."""
    draw = random.Random(seed)
    answers = [" ".join(draw.choices(WORDS, k=draw.randrange(6))) for _ in range(size)]
    predictions = draw.choices(answers, k=size)
    return predictions, [draw.choices(answers, k=draw.randint(1, golds)) for _ in answers]


def official_scores(prediction: str, golds: list[str]) -> tuple[float, float]:
    """Score one question by the rules of SQuAD 1.1: exact match and F1."""
    given, rights = _tokens(prediction), [_tokens(gold) for gold in golds]
    return max(float(given == right) for right in rights), max(_f1(given, r) for r in rights)


def _f1(given: list[str], right: list[str]) -> float:
    shared = sum((Counter(given) & Counter(right)).values())
    precision, recall = shared / max(len(given), 1), shared / max(len(right), 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def test_ten_thousand_questions_score_as_the_official_rules_do_to_the_last_bit():
    predictions, golds = random_sample(10_000)
    items = item_scores(predictions, golds)
    exact, f1 = np.array([*map(official_scores, predictions, golds)]).T
    np.testing.assert_array_equal(items["exact_match"], exact)
    np.testing.assert_array_equal(items["f1"], f1)
    assert 0.02 < exact.mean() < f1.mean() < 0.98  # the sample has answers of every kind


def squad_2(prediction: str, golds: list[str]) -> tuple[float, float]:
    """Score one question by the rules of SQuAD 2.0; where both are answers, those of 1.1 hold."""
    scores = []
    for gold in [gold for gold in golds if _tokens(gold)] or [""]:
        if _tokens(prediction) and _tokens(gold):
            scores.append(official_scores(prediction, [gold]))
        else:
            scores.append((float(_tokens(prediction) == _tokens(gold)),) * 2)
    return max(exact for exact, _ in scores), max(f1 for _, f1 in scores)


def _tokens(answer: str) -> list[str]:
    bare = "".join(mark for mark in answer.lower() if mark not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


@given(QUESTIONS)
def test_with_unanswerable_questions_scores_follow_squad_2(questions):
    predictions, golds = zip(*questions, strict=True)
    items = item_scores(predictions, golds, no_answer=True)
    expected = np.array([squad_2(*both) for both in questions])
    np.testing.assert_array_equal(np.stack([items["exact_match"], items["f1"]], 1), expected)
    lacking = np.array([not answers for answers in golds])
    np.testing.assert_array_equal(np.isnan(items["answerable_f1"]), lacking)
    np.testing.assert_array_equal(np.isnan(items["no_answer_accuracy"]), ~lacking)


def test_an_empty_prediction_is_right_exactly_where_there_is_no_answer():
    scores = span_scores(["", "", "x", "x"], [[], ["x"], [], ["x"]], [HE])
    assert scores["no_answer_accuracy"] == 0.5
    for name in ("exact_match", "f1", "he_exact_match", "he_f1", "tlnls"):
        assert scores[name] == scores[f"answerable_{name}"] == 0.5


def test_answers_that_normalise_to_nothing_have_f1_0_in_squad_1_and_1_in_squad_2():
    first, second = (
        span_scores(["the"], [["!"]], [HE], no_answer=choice) for choice in (False, True)
    )
    assert (first["exact_match"], first["f1"], first["tlnls"]) == (1, 0, 0)
    assert (second["exact_match"], second["f1"], second["tlnls"]) == (1, 1, 1)
    assert second["he_f1"] == 0  # "the" is a word to it


def test_a_question_without_a_gold_decides_which_rules_hold_unless_told():
    assert "no_answer_accuracy" in item_scores(["a"], [[]])
    assert "no_answer_accuracy" not in item_scores(["a"], [["a"]])
    with pytest.raises(DataError, match=r"question 2 .*no_answer=True"):
        item_scores(["a", "b"], [["a"], []], no_answer=False)


def test_a_hebrew_prefix_costs_all_of_f1_and_a_fifth_of_tlnls():
    scores = span_scores(["כנסת"], [["הכנסת"]], [HE])
    assert (scores["f1"], scores["he_f1"], scores["tlnls"]) == (0, 0, pytest.approx(0.8))
    assert span_scores(["1974"], [["ב-1974"]], [HE])["he_f1"] == pytest.approx(2 / 3)


@given(QUESTIONS)
def test_scores_are_fractions_or_nan(questions):
    predictions, golds = zip(*questions, strict=True)
    for scores in item_scores(predictions, golds, [HE, RO]).values():
        assert np.all(np.isnan(scores) | ((scores >= 0) & (scores <= 1)))


@given(st.lists(ANSWERS))
def test_the_gold_answer_itself_scores_1_whatever_other_golds_there_are(answers):
    written = [answer for answer in answers if _tokens(answer)]
    scores = span_scores(written, [["another", answer] for answer in written], [HE, RO])
    assert set(scores.values()) == ({1.0} if written else {0.0})


@given(ANSWERS, ANSWERS)
def test_with_one_gold_exact_match_and_f1_are_symmetric(a, b):
    there, back = span_scores([a], [[b]], [HE, RO]), span_scores([b], [[a]], [HE, RO])
    for name in ("exact_match", "f1", "he_exact_match", "he_f1", "ro_exact_match", "ro_f1"):
        assert there[name] == back[name]


@given(QUESTIONS, ANSWERS)
def test_one_more_gold_never_lowers_a_score(questions, more):
    predictions, golds = zip(*[one for one in questions if one[1]] or [("a", ["a"])], strict=True)
    before = item_scores(predictions, golds, [HE])
    after = item_scores(predictions, [[*answers, more] for answers in golds], [HE])
    assert all(np.all(after[name] >= before[name]) for name in before)


def textbook_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]


def tlnls_by_hand(prediction: str, gold: str) -> float:
    given, right = _tokens(prediction), _tokens(gold)
    if not given or not right:
        return 0.0
    best = [max(1 - textbook_distance(g, p) / max(len(g), len(p)) for p in given) for g in right]
    return sum(best) / max(len(given), len(right))


@given(st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=5))
def test_tlnls_is_its_formula(pairs):
    predictions, golds = zip(*pairs, strict=True)
    found = item_scores(predictions, [[gold] for gold in golds])["tlnls"]
    assert found == pytest.approx([tlnls_by_hand(*pair) for pair in pairs])


@given(st.lists(st.tuples(ANSWERS, st.floats(0, 1)), max_size=5))
def test_the_expected_f1_of_a_candidate_is_its_mean_f1_over_all_as_golds(candidates):
    texts, p = [text for text, _ in candidates], [share for _, share in candidates]
    expected = [sum(s * official_scores(own, [g])[1] for g, s in candidates) for own in texts]
    assert expected_f1(texts, p, SQUAD) == pytest.approx(expected)


def test_a_span_that_many_share_words_with_is_expected_to_score_more_than_the_most_probable_one():
    texts = ["Haifa", "port of Jaffa", "old port of Jaffa", "port"]
    assert expected_f1(texts, [0.4, 0.2, 0.2, 0.2], SQUAD).argmax() == 1
    assert expected_f1(texts, [0.7, 0.1, 0.1, 0.1], SQUAD).argmax() == 0


def test_means_leave_out_what_does_not_count():
    items = {"f1": np.array([1.0, np.nan, 0.5]), "none": np.full(3, np.nan)}
    assert mean_scores(items) == {"f1": 0.75, "none": 0.0}
    assert set(span_scores([], []).values()) == {0.0}


def spread(bounds: dict[str, float], name: str = "f1") -> float:
    return bounds[f"{name}_high"] - bounds[f"{name}_low"]


def test_intervals_hold_the_mean_and_have_the_width_of_the_normal_approximation():
    f1 = np.random.default_rng(0).random(400)
    bounds = score_intervals({"f1": f1})
    assert bounds["f1_low"] < f1.mean() < bounds["f1_high"]
    assert spread(bounds) == pytest.approx(2 * 1.96 * f1.std() / 20, rel=0.1)


def test_articles_whose_questions_agree_widen_the_interval():
    f1 = np.random.default_rng(0).random(100)
    rows = {"f1": np.repeat(f1, 4)}
    articles = [f"article {i // 4}" for i in range(400)]
    naive, honest = score_intervals(rows), score_intervals(rows, articles)
    assert spread(honest) / spread(naive) == pytest.approx(2, rel=0.2)


@pytest.mark.parametrize("groups", [None, [f"article {i // 3}" for i in range(60)]])
def test_the_order_of_the_questions_does_not_matter(groups):
    items = {"f1": np.random.default_rng(0).random(60), "part": np.full(60, np.nan)}
    items["part"][:9] = 1
    backwards = {name: score[::-1] for name, score in items.items()}
    one = score_intervals(items, groups, seed=3)
    two = score_intervals(backwards, groups[::-1] if groups else None, seed=3)
    assert one == pytest.approx(two, abs=1e-12)
    assert one != score_intervals(items, groups, seed=4)


def test_resamples_of_nan_alone_are_left_out():
    items = {"no_answer_accuracy": np.array([1.0, *[np.nan] * 9])}
    assert set(score_intervals(items).values()) == {1.0}
    assert set(score_intervals({"f1": np.full(4, np.nan)}).values()) == {0.0}
    assert set(score_intervals(item_scores([], []), []).values()) == {0.0}
    with pytest.raises(DataError, match="2 and 1 rows"):
        score_intervals({"f1": np.ones(1)}, ["a", "b"])
