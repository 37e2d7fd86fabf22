"""Scores that say what a ROUGE is worth: beside other articles' references, beside extracts."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages import get_language
from heron.languages.english import ENGLISH
from heron.metrics.names import MEASURES
from heron.metrics.rouge import rouge
from heron.metrics.summary import (
    exchanged_scores,
    greedy_oracle,
    item_rouge,
    lead_text,
    split_sentences,
)

HEBREW = get_language("he")
GOLDS = ["הסכר נפרץ בצפון", "הבחירות נדחו לחורף", "המחירים ירדו השנה", "התחרות בוטלה"]


def test_a_system_that_reads_scores_more_beside_its_own_references():
    assert item_rouge(GOLDS, GOLDS, HEBREW)["rouge1"].mean() == 1
    assert set(exchanged_scores(GOLDS, GOLDS, HEBREW).values()) == {0}


def test_one_text_for_every_article_scores_the_same_beside_any_reference():
    texts = ["הסכר נפרץ והבחירות נדחו"] * len(GOLDS)
    own = item_rouge(texts, GOLDS, HEBREW)
    exchanged = exchanged_scores(texts, GOLDS, HEBREW)
    for measure in ("rouge1", "rouge2", "rougeL"):
        assert exchanged[f"exchanged_{measure}"] == pytest.approx(own[measure].mean())
    assert exchanged["exchanged_rouge1"] > 0


def test_every_reference_is_another_articles_however_many_rows():
    for rows in (2, 3):
        assert exchanged_scores(GOLDS[:rows], GOLDS[:rows], HEBREW)["exchanged_rouge1"] == 0
    assert exchanged_scores(GOLDS[:1], GOLDS[:1], HEBREW) == {}


sentence = st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join)
articles = st.lists(sentence, max_size=6)


def score(sentences, places, reference):
    scores = rouge([" ".join(sentences[i] for i in places)], [reference], "xlsum", ENGLISH)
    return round(float(sum(scores[measure][0] for measure in MEASURES) / len(MEASURES)), 12)


def plain_greedy(sentences, reference):
    chosen, reached = [], 0
    for _ in range(3):
        options = [
            (score(sentences, sorted([*chosen, i]), reference), -i)
            for i in range(len(sentences))
            if i not in chosen
        ]
        best, place = max(options, default=(0, 0))
        if best <= reached:
            break
        chosen, reached = [*chosen, -place], best
    return sorted(chosen)


def test_lead_is_the_beginning():
    assert lead_text(["a", "b", "c", "d"]) == "a b c"
    assert lead_text(["a"]) == "a"
    assert lead_text([]) == ""


def best_sentence(sentences, reference):
    return greedy_oracle(sentences, reference, ENGLISH, most=1)


@given(articles, sentence)
def test_the_best_sentence_is_the_best_of_all(sentences, reference):
    found = best_sentence(sentences, reference)
    best = max((score(sentences, [i], reference) for i in range(len(sentences))), default=0)
    assert (score(sentences, found, reference) if found else 0) == pytest.approx(best)
    assert bool(found) == (best > 0)


@given(articles, sentence)
def test_the_greedy_oracle_is_no_worse_than_one_sentence_nor_better_than_any(sentences, reference):
    found = greedy_oracle(sentences, reference, ENGLISH)
    assert found == sorted(set(found))
    assert len(found) <= 3
    if not found:
        return
    reached = score(sentences, found, reference)
    alone = best_sentence(sentences, reference)
    ceiling = max(
        score(sentences, places, reference)
        for size in (1, 2, 3)
        for places in combinations(range(len(sentences)), size)
    )
    assert score(sentences, alone, reference) - 1e-9 <= reached <= ceiling + 1e-9
    assert found == plain_greedy(sentences, reference)


def test_the_oracle_stops_where_another_sentence_would_not_help():
    sentences = ["the cat sat", "dogs bark at night", "on the mat", "and more besides"]
    assert greedy_oracle(sentences, "the cat sat on the mat", ENGLISH) == [0, 2]
    assert best_sentence(sentences, "dogs bark") == [1]
    assert greedy_oracle(["in", "the big red house", "in"], "in the big red house", ENGLISH) == [
        0,
        1,
    ]
    # Both share two words with the reference, in its order; only one shares a bigram.
    assert best_sentence(["a x c y", "a b x y"], "a b c d") == [1]
    assert greedy_oracle(sentences, "nothing shared", ENGLISH) == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("אחת. שתיים! שלוש?", ["אחת.", "שתיים!", "שלוש?"]),
        ('הוא אמר: "די." והלך.', ['הוא אמר: "די."', "והלך."]),
        ("א. ב. יהושע כתב. הוא סופר.", ["א. ב. יהושע כתב.", "הוא סופר."]),
        ("1. ראשית\n2. שנית", ["1. ראשית", "2. שנית"]),
        ("נוסד ב-1974. נסגר", ["נוסד ב-1974.", "נסגר"]),
        ("כותרת • פירוט", ["כותרת", "פירוט"]),
        ("3.5 la sută… Apoi", ["3.5 la sută…", "Apoi"]),
        ("  \n ", []),
    ],
)
def test_sentences_end_where_readers_end_them(text, sentences):
    assert split_sentences(text) == sentences


@given(st.text(st.sampled_from('אב ab.!?"\n12'), max_size=30))
def test_splitting_loses_no_character_but_spaces(text):
    joined = "".join(split_sentences(text))
    assert "".join(joined.split()) == "".join(text.split())
