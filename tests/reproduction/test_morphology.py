"""Morphology on the UD Hebrew treebanks: what they hold, how near prefixes come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pytest

from heron.languages.hebrew import HEBREW
from heron_tools.morphology.analyses import analysis_of, written
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.conllu import Token, read_conllu
from real_data import DATA, needs

pytestmark = needs(DATA / "ud_hebrew_htb")

# Sentences and words of each file, as the release counts them.
TREEBANKS = {
    "htb/he_htb-ud-dev": (484, 11_412),
    "htb/he_htb-ud-test": (491, 12_282),
    "iahltwiki/he_iahltwiki-ud-dev": (348, 9_395),
    "iahltwiki/he_iahltwiki-ud-test": (393, 10_734),
    "iahltknesset/he_iahltknesset-ud-dev": (253, 6_441),
    "iahltknesset/he_iahltknesset-ud-test": (268, 6_357),
}


class Segmentation(NamedTuple):
    """Agreement with a treebank, all fractions.

    Args:
        precision: of the morphemes found, the share that the treebank has in that token.
        recall: of the treebank's morphemes, the share that was found.
        f1: their harmonic mean.
        whole: share of tokens that are taken apart exactly so.
        tokens: how many there were.
    """

    precision: float
    recall: float
    f1: float
    whole: float
    tokens: int


def compare_segments(
    tokens: Iterable[Token], split: Callable[[str], Sequence[str]]
) -> Segmentation:
    """Take the tokens of a treebank apart and compare with its words, token by token.

    Forms are compared without capitals and without the marks at joints; morphemes that are not
    written ("ה" in "בבית") count, so spelling alone cannot find all. Tokens without a letter are
    left out: nobody takes them apart.

    Args:
        tokens: of the treebank.
        split: from a token's form to its morphemes.

    Source: the aligned multiset score of work on Hebrew segmentation (More et al. 2019, "Joint
    transition-based models for morpho-syntactic parsing"), per token.
    """
    common = found = known = whole = count = 0
    for token in tokens:
        if not any(letter.isalpha() for letter in token.form):
            continue
        gold = [written(word.form) for word in token.words]
        parts = list(split(token.form))
        common += sum((Counter(gold) & Counter(parts)).values())
        found, known, count = found + len(parts), known + len(gold), count + 1
        whole += gold == parts
    precision, recall = common / max(found, 1), common / max(known, 1)
    f1 = 2 * common / max(found + known, 1)
    return Segmentation(precision, recall, f1, whole / max(count, 1), count)


@pytest.mark.parametrize("name", TREEBANKS)
def test_the_tokens_of_a_treebank_spell_its_texts(tmp_path, name):
    path = DATA / f"ud_hebrew_{name}.conllu"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    bare = tmp_path / path.name
    bare.write_text("".join(line for line in lines if not line.startswith("# text =")), "utf-8")
    texts = [sentence.text for sentence in read_conllu(path)]
    assert [sentence.text for sentence in read_conllu(bare)] == texts


@pytest.mark.parametrize("name", TREEBANKS)
def test_treebanks_are_read_whole_and_the_segmenter_is_measured(name, capsys):
    path = DATA / f"ud_hebrew_{name}.conllu"
    sentences = list(read_conllu(path))
    tokens = [token for sentence in sentences for token in sentence.tokens]
    assert (len(sentences), sum(len(token.words) for token in tokens)) == TREEBANKS[name]
    found = analysis_of(tokens)
    backend = load_morphology("simplemma-prefixes", HEBREW)
    whole = compare_segments(tokens, lambda form: [form.casefold()])
    apart = compare_segments(tokens, lambda form: backend.analyse([form])[0].morphemes)
    with capsys.disabled():
        print(
            f"\n{name}: {found.words} words, construct {found.constructs / found.words:.4f}, "
            f"suffixes {found.anaphors / found.words:.4f}, morphemes a word "
            f"{len(found.morphemes) / found.words:.3f}; F1 whole {whole.f1:.3f}, prefixes "
            f"P {apart.precision:.3f} R {apart.recall:.3f} "
            f"F1 {apart.f1:.3f}, exactly {apart.whole:.3f}"
        )
    assert 0.08 < found.constructs / found.words < 0.15
    assert 0.03 < found.anaphors / found.words < 0.07
    assert apart.f1 > whole.f1 + 0.25
    assert apart.f1 > 0.83
    if name == "htb/he_htb-ud-test":
        for figure in (apart.f1, whole.f1):
            assert f"{figure:.2f}".lstrip("0") in backend.note


def test_a_whole_treebank_is_found_again_sentence_by_sentence():
    path = DATA / "ud_hebrew_htb" / "he_htb-ud-dev.conllu"
    texts = [sentence.text for sentence in read_conllu(path)]
    backend = load_morphology(f"conllu:{path}", HEBREW)
    by_sentence = backend.analyse(texts)
    (at_once,) = backend.analyse([" ".join(texts)])
    assert at_once.words == sum(one.words for one in by_sentence)
    assert at_once.morphemes == tuple(m for one in by_sentence for m in one.morphemes)
