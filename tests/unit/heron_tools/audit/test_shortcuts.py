"""Single-feature rules: found where they are, silent where nothing is, scored on held-out rows."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from tests.unit.heron_tools.audit.builders import by_id, event, pair, pairs, sentence

from heron_tools.audit.features import _negates, best_words, measure, typical_words, vocabulary
from heron_tools.audit.rules import Labelled, fit, folds, labelled, predict_splits, score
from heron_tools.audit.shortcuts import find_shortcuts

LABELS = ["a", "b"]


def capitalised(count: int, seed: int = 0, prefix: str = "g"):
    """Class b has a capital inside its hypothesis nine times out of ten, class a never."""
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        label = rng.choice("aab")
        hypothesis = sentence(rng)
        if label == "b" and rng.random() < 0.9:
            hypothesis += " Dunăre"
        rows.append(pair(f"{prefix}{i}", sentence(rng), hypothesis, label))
    return rows


def test_the_casing_rule_is_found_with_its_classes_score_and_cure():
    rows = capitalised(600)
    found = by_id(find_shortcuts(labelled({"train": rows}, LABELS), LABELS, "ro"))["casing"]
    assert found.severity == "serious"
    assert "upper-case letter after the first character: no → a, yes → b" in found.title
    capital = [any(c.isupper() for c in row.text_pair[1:]) for row in rows]
    right = [c == (row.label == "b") for c, row in zip(capital, rows, strict=True)]
    assert found.measures[0]["accuracy"] == pytest.approx(np.mean(right))
    assert "data.normalize_case=capitalize" in found.advice
    # Given away: what the rule gets right and the most frequent class does not.
    expected = [r.guid for r, c in zip(rows, capital, strict=True) if c and r.label == "b"]
    assert [row.guid for row in found.rows] == expected


def test_the_rule_of_the_first_split_is_scored_on_the_others():
    parts = labelled({"train": capitalised(400), "test": capitalised(200, 1, "t")}, LABELS)
    found = by_id(find_shortcuts(parts, LABELS, "ro"))["casing"]
    assert [m["split"] for m in found.measures[:2]] == ["train", "test"]
    assert found.measures[1]["rows"] == 200
    assert found.measures[1]["accuracy"] > 0.9


def test_random_labels_give_no_rule():
    for seed in range(5):
        parts = labelled({"train": pairs(300, seed)}, LABELS)
        found = by_id(find_shortcuts(parts, LABELS, "ro"))
        assert set(found) <= {"rules", "words.hypothesis", "words.premise"}


def test_a_word_of_negation_and_the_word_itself_are_found():
    rng = random.Random(0)
    rows = [
        pair(str(i), sentence(rng), sentence(rng) + (" nu" if i % 2 else ""), "ab"[i % 2])
        for i in range(200)
    ]
    found = by_id(find_shortcuts(labelled({"train": rows}, LABELS), LABELS, "ro"))
    assert found["negation"].measures[0]["accuracy"] == 1
    assert "the word 'nu'" in found["word"].title
    assert found["words.hypothesis"].measures[0]["word"] != "nu"  # class a has no word of its own
    typical = [m["word"] for m in found["words.hypothesis"].measures if m["class"] == "b"]
    assert typical[0] == "nu"


@pytest.mark.parametrize(
    ("language", "text", "negates"),
    [
        ("ro", "El nu-și amintește .", True),
        ("ro", "N-are timp .", True),
        ("ro", "Într-un an , s-a dus .", False),
        ("he", "זה לא־חוקי", True),
        ("he", "בית־לא", False),
        ("en", "a non-empty n-gram", False),
    ],
)
def test_a_word_of_negation_is_found_before_a_hyphen(language, text, negates):
    rows = [pair("0", text, "x", "a"), pair("1", "x", "x", "b")]
    found = [f for f in measure(rows, language) if f.family == "negation" and f.field == "premise"]
    assert list(found[0].values_N) == ["yes" if negates else "no", "no"]


def test_a_word_of_negation_is_found_where_no_blanks_part_words():
    assert _negates("ម្ហូបនេះមិនឆ្ងាញ់", {"មិន"})
    assert not _negates("ម្ហូបនេះឆ្ងាញ់", {"មិន"})


def test_a_language_without_words_of_negation_is_named():
    parts = labelled({"train": pairs(30)}, LABELS)
    assert "negation.unknown" in by_id(find_shortcuts(parts, LABELS, "xx"))


def test_rules_on_the_evidence_of_an_event_pair_are_information_only():
    rng = random.Random(0)
    rows = []
    for i in range(300):
        word = "înainte" if i % 2 else "după"
        text = f"{sentence(rng)} ploua {word} ningea"
        rows.append(event(str(i), text, "ploua", "ningea", label="ab"[i % 2]))
    found = by_id(find_shortcuts(labelled({"train": rows}, LABELS), LABELS, "ro"))
    assert found["word.between"].severity == "info"
    assert found["word.between"].measures[0]["accuracy"] == 1


def test_rows_without_a_label_and_splits_without_any_are_left_out():
    rows = [pair("1", "p", "h", None), pair("2", "p", "h", "b")]
    parts = labelled({"train": rows, "test": rows[:1]}, LABELS)
    assert [e.guid for e in parts["train"].examples] == ["2"]
    assert list(parts) == ["train"]
    assert find_shortcuts({}, LABELS, "ro") == []


classes = st.lists(st.integers(0, 2), min_size=2, max_size=30)


@given(classes, st.data())
def test_the_threshold_has_the_fewest_errors_of_all_thresholds(gold, data):
    values = np.array(
        data.draw(st.lists(st.integers(0, 6), min_size=len(gold), max_size=len(gold))), float
    )
    gold_N = np.array(gold)

    def errors(limit: float) -> int:
        sides = (gold_N[values <= limit], gold_N[values > limit])
        return sum(len(side) - np.bincount(side, minlength=3).max(initial=0) for side in sides)

    rule = fit(values, gold_N, 3)
    assert (rule.predict(values) != gold_N).sum() == min(errors(v) for v in values)


@given(classes, st.data())
def test_scores_are_those_of_scikit_learn(gold, data):
    predicted = data.draw(st.lists(st.integers(0, 2), min_size=len(gold), max_size=len(gold)))
    found = score("dev", np.array(gold), np.array(predicted), 1, 3)
    assert found.accuracy == pytest.approx(np.mean(np.array(gold) == predicted))
    expected = f1_score(gold, predicted, average="macro", zero_division=0)
    assert found.macro_f1 == pytest.approx(expected)
    assert found.majority == pytest.approx(gold.count(1) / len(gold))


def test_no_row_is_predicted_from_its_own_fold_and_a_group_stays_in_one():
    rows = [pair(str(i), f"premise {i // 3}", "h") for i in range(60)]
    fold_N = folds(rows)
    assert all(len(set(fold_N[i : i + 3])) == 1 for i in range(0, 60, 3))
    assert set(fold_N) == set(range(5))

    def predict(rest_N, gold_N, held_N):
        assert not set(rest_N) & set(held_N)
        return np.zeros(len(held_N), int)

    parts = {"train": Labelled(rows, np.ones(60, int))}
    assert predict_splits({"train": fold_N}, parts, predict)["train"].sum() == 0


def test_an_unseen_value_gets_the_most_frequent_class():
    rule = fit(np.array(["x", "x", "y"]), np.array([1, 1, 0]), 2)
    assert rule.predict(np.array(["y", "x", "z"])).tolist() == [0, 1, 1]


def test_measures_of_two_splits_are_the_same_features_in_the_same_order():
    one, other = measure(pairs(5), "ro"), measure(pairs(3, 1), "ro")
    assert [f.name for f in one] == [f.name for f in other]


def test_typical_words_have_the_smoothed_pointwise_mutual_information():
    texts = ["nu"] * 20 + ["da"] * 20
    gold_N = np.array([0] * 15 + [1] * 5 + [0] * 5 + [1] * 15)
    found = vocabulary(texts)
    (finding,) = typical_words("train", "hypothesis", found, gold_N, LABELS)
    nu = next(m for m in finding.measures if m["word"] == "nu")
    assert nu["bits"] == pytest.approx(np.log2((15 + 10 * 0.5) / (20 + 10) / 0.5))
    assert nu["share of class"] == 0.75
    assert best_words(found, gold_N, np.arange(40) % 5, 2) == ["da", "nu"]
