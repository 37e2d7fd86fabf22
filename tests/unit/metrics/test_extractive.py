"""Extracts hold what they promise: the first sentences, and the best ones by trying all."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.metrics.extractive import best_sentence, greedy_oracle, lead, split_sentences
from heron.metrics.names import MEASURES
from heron.metrics.rouge import rouge

sentence = st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join)
articles = st.lists(sentence, max_size=6)


def score(sentences, places, reference, target):
    scores = rouge([" ".join(sentences[i] for i in places)], [reference], "xlsum", ENGLISH)
    measures = MEASURES if target == "mean" else [target]
    return round(float(sum(scores[measure][0] for measure in measures) / len(measures)), 12)


def plain_greedy(sentences, reference, target):
    chosen, reached = [], 0
    for _ in range(3):
        options = [
            (score(sentences, sorted([*chosen, i]), reference, target), -i)
            for i in range(len(sentences))
            if i not in chosen
        ]
        best, place = max(options, default=(0, 0))
        if best <= reached:
            break
        chosen, reached = [*chosen, -place], best
    return sorted(chosen)


def test_lead_is_the_beginning():
    assert lead(["a", "b", "c", "d"]) == [0, 1, 2]
    assert lead(["a"], 3) == [0]
    assert lead([]) == []
    with pytest.raises(ConfigError, match="expected 1 or more"):
        lead(["a"], 0)


@given(articles, sentence, st.sampled_from(["rouge1", "mean"]))
def test_the_best_sentence_is_the_best_of_all(sentences, reference, target):
    found = best_sentence(sentences, reference, ENGLISH, target)
    best = max((score(sentences, [i], reference, target) for i in range(len(sentences))), default=0)
    assert (score(sentences, found, reference, target) if found else 0) == pytest.approx(best)
    assert bool(found) == (best > 0)


@given(articles, sentence, st.sampled_from(["rouge1", "mean"]))
def test_the_greedy_oracle_is_no_worse_than_one_sentence_nor_better_than_any(
    sentences, reference, target
):
    found = greedy_oracle(sentences, reference, ENGLISH, 3, target)
    assert found == sorted(set(found))
    assert len(found) <= 3
    if not found:
        return
    reached = score(sentences, found, reference, target)
    alone = best_sentence(sentences, reference, ENGLISH, target)
    ceiling = max(
        score(sentences, places, reference, target)
        for size in (1, 2, 3)
        for places in combinations(range(len(sentences)), size)
    )
    assert score(sentences, alone, reference, target) - 1e-9 <= reached <= ceiling + 1e-9
    assert found == plain_greedy(sentences, reference, target)


def test_the_oracle_stops_where_another_sentence_would_not_help():
    sentences = ["the cat sat", "dogs bark at night", "on the mat", "and more besides"]
    assert greedy_oracle(sentences, "the cat sat on the mat", ENGLISH) == [0, 2]
    assert best_sentence(sentences, "dogs bark", ENGLISH) == [1]
    assert greedy_oracle(["in", "the big red house", "in"], "in the big red house", ENGLISH) == [
        0,
        1,
    ]
    # Both share two words with the reference, in its order; only one shares a bigram.
    assert best_sentence(["a x c y", "a b x y"], "a b c d", ENGLISH, "rouge1") == [0]
    assert best_sentence(["a x c y", "a b x y"], "a b c d", ENGLISH, "mean") == [1]
    assert greedy_oracle(sentences, "nothing shared", ENGLISH) == []


def test_the_oracle_compares_words_by_the_profile_asked_for():
    sentences = ['צה"ל הודיע', "הודיע"]
    assert best_sentence(sentences, "צה״ל", HEBREW, profile="heron") == [0]
    assert best_sentence(["כן", "שָׁלוֹם"], "שלום", HEBREW, profile="xlsum") == []
    with pytest.raises(ConfigError, match=r"target=rouge_1.*'rouge1'"):
        best_sentence(sentences, "a", HEBREW, "rouge_1")


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
