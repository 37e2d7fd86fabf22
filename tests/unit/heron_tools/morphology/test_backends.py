"""Every backend says what it is, and gives one lemma per word."""

import sys
from importlib.metadata import version
from types import ModuleType, SimpleNamespace

import pytest

from heron.languages import LANGUAGES, get_language
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.languages.words import folded_words
from heron_tools.morphology.backends import load_morphology

TEXTS = ["Copiii au venit, în oraș.", "", "הילדים באו אל העיר.", "The children came (to town)."]


OFFLINE = [("surface", get_language(code)) for code in LANGUAGES]
OFFLINE += [("simplemma", language) for language in (HEBREW, ROMANIAN, ENGLISH)]


@pytest.mark.parametrize(("backend", "language"), OFFLINE)
def test_offline_backends_give_each_word_of_any_text_one_lemma(backend, language):
    found = load_morphology(backend, language).analyse(TEXTS)
    assert [len(one.lemmas) for one in found] == [len(folded_words(text)) for text in TEXTS]
    assert all(one.pos is None for one in found)


@pytest.mark.parametrize(
    ("language", "text", "lemmas"),
    [
        (ROMANIAN, "Copiii copil copiilor", ("copil",) * 3),
        (HEBREW, "הילדים ילד", ("ילד",) * 2),
        (ENGLISH, "Children child", ("child",) * 2),
    ],
)
def test_forms_of_one_word_have_one_lemma_in_every_language(language, text, lemmas):
    assert load_morphology("simplemma", language).analyse([text])[0].lemmas == lemmas


@pytest.mark.parametrize(
    ("code", "text", "lemma"),
    [("tl", "kumain", "kain"), ("no", "husene", "hus"), ("hr", "psi", "pas"), ("sh", "psi", "pas")],
)
def test_a_language_finds_the_dictionary_that_has_another_code(code, text, lemma):
    assert load_morphology("simplemma", get_language(code)).analyse([text])[0].lemmas == (lemma,)


def test_the_version_travels_with_the_name():
    assert load_morphology("simplemma", ROMANIAN).name == f"simplemma {version('simplemma')}"
    assert load_morphology("surface", ROMANIAN).name == "surface"


class HouseOfHis:
    """A pipeline that reads "בית ספרו." (the house of his book) in every text."""

    def __init__(self, code, **options):
        assert options["download_method"] is None

    def bulk_process(self, texts):
        suffix = word("ו", "הוא", "PRON", "Gender=Masc|Person=3|PronType=Prs")
        found = [
            token("בית", word("בית", None, "NOUN", "Definite=Cons|Gender=Masc")),
            token("ספרו", word("ספר", "ספר", "NOUN", "Gender=Masc"), suffix),
            token(".", word(".", ".", "PUNCT")),
        ]
        return [SimpleNamespace(sentences=[SimpleNamespace(tokens=found)]) for _ in texts]


def word(text, lemma, upos, feats=None):
    return SimpleNamespace(text=text, lemma=lemma, upos=upos, feats=feats)


def token(text, *words):
    return SimpleNamespace(text=text, words=list(words))


def test_stanza_gives_all_but_readings_and_leaves_punctuation_out(monkeypatch):
    stanza = ModuleType("stanza")
    stanza.__version__, stanza.Pipeline = "1.15.0", HouseOfHis
    monkeypatch.setitem(sys.modules, "stanza", stanza)
    backend = load_morphology("stanza", HEBREW)
    (found,) = backend.analyse(["בית ספרו."])
    assert (found.lemmas, found.pos) == (("בית", "ספר", "הוא"), ("NOUN", "NOUN", "PRON"))
    assert found.morphemes == ("בית", "ספר", "ו")
    assert (found.words, found.constructs, found.anaphors) == (2, 1, 1)
    assert (found.readings, backend.name) == (None, "stanza 1.15.0")
