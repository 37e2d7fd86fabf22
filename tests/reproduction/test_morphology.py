"""Morphology on the UD Hebrew treebanks: what they hold, how near prefixes come."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heron.languages import HEBREW
from heron.languages.analysis import analysis_of
from heron.languages.conllu import read_conllu
from heron.languages.morphology import load_morphology
from heron.languages.segmentation import compare_segments

DATA = Path(os.environ.get("HERON_DATA", "absent"))
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not (DATA / "ud_hebrew_htb").is_dir(), reason="HERON_DATA holds no UD Hebrew treebanks"
    ),
]

# Sentences and words of each file, as the release counts them.
TREEBANKS = {
    "htb/he_htb-ud-dev": (484, 11_412),
    "htb/he_htb-ud-test": (491, 12_282),
    "iahltwiki/he_iahltwiki-ud-dev": (348, 9_395),
    "iahltwiki/he_iahltwiki-ud-test": (393, 10_734),
    "iahltknesset/he_iahltknesset-ud-dev": (253, 6_441),
    "iahltknesset/he_iahltknesset-ud-test": (268, 6_357),
}


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
        figures = (f"{apart.f1:.2f}".lstrip("0"), f"{whole.f1:.2f}".lstrip("0"))
        assert f"F1 {figures[0]} (whole words: {figures[1]})" in backend.note


def test_a_whole_treebank_is_found_again_sentence_by_sentence():
    path = DATA / "ud_hebrew_htb" / "he_htb-ud-dev.conllu"
    texts = [sentence.text for sentence in read_conllu(path)]
    backend = load_morphology(f"conllu:{path}", HEBREW)
    by_sentence = backend.analyse(texts)
    (at_once,) = backend.analyse([" ".join(texts)])
    assert at_once.words == sum(one.words for one in by_sentence)
    assert at_once.morphemes == tuple(m for one in by_sentence for m in one.morphemes)
