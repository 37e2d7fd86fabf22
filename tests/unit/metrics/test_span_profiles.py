"""What a profile takes for the same answer, and that it never looks beyond one answer."""

import re
import string
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heron.data.readers import of_split
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.span import SQUAD, language_profile
from heron.tasks.task import task_of
from heron.training.compose import compose

HE, RO, ANY = language_profile(HEBREW), language_profile(ROMANIAN), language_profile(None)
PROFILES = [SQUAD, HE, RO, ANY, language_profile(ENGLISH)]
# Where rules meet: articles at every kind of border, capitals that depend on their neighbours.
PARTS = ["a", "an", "the", "A", "THE", "n", "_", " ", "\n", "\r", "\x1c", "-", "–", "־", "״", '"']
PARTS += ["ΟΣ", "Σ", "İ", "\u0301", "\u05b8", "\u200f", "ש", "ş", "é", "1", ".", "\u200d", "\u0327"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join) | st.text(max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=6))
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name or "squad")
def test_the_tokens_of_a_text_do_not_depend_on_the_texts_around_it(profile, texts):
    assert profile.tokens(texts) == [profile.tokens([text])[0] for text in texts]


@given(TEXTS)
@example("na nan breathe a5 5a")
@example("1–a–1 an״the״an")
def test_the_standard_rules_are_squads_in_squads_order(text):
    bare = "".join(mark for mark in text.lower() if mark not in string.punctuation)
    expected = re.sub(r"\b(a|an|the)\b", " ", bare).split()
    assert SQUAD.tokens([text]) == [tuple(expected)]


@given(TEXTS)
@pytest.mark.parametrize("profile", [HE, RO, ANY], ids=lambda profile: profile.name)
def test_a_language_profile_applied_twice_changes_nothing_more(profile, text):
    (tokens,) = profile.tokens([text])
    assert profile.tokens([" ".join(tokens)]) == [tokens]


@given(
    st.text(
        st.sampled_from(HEBREW.alphabet + ROMANIAN.alphabet + "\u05b8éñ\u05d1\u05bc "), max_size=9
    )
)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_composed_and_decomposed_letters_are_the_same_answer(form, text):
    for profile in (HE, RO, ANY):
        assert profile.tokens([text]) == profile.tokens([unicodedata.normalize(form, text)])


@pytest.mark.parametrize(
    "same",
    [
        ('צה"ל', "צה״ל", "צה''ל", "צה”ל", "צה„ל"),
        ("צ'ק", "צ׳ק", "צ’ק", "צ´ק"),
        ("בית־ספר", "בית ספר", "בית-ספר", "בית – ספר"),
        ("שָׁלוֹם", "שלום", "שׁלום"),
        ("1914–1918", "1914-1918", "1914—1918", "1914−1918", "1914 - 1918"),
        ("\u200fשלום\u200e", "\u202bשלום\u202c", "שלום."),
        ("«שלום», עולם!", "שלום עולם"),
    ],
)
def test_spellings_of_one_hebrew_answer_are_equal(same):
    assert len(set(HE.tokens(same))) == 1
    assert len(set(SQUAD.tokens(same))) > 1


@pytest.mark.parametrize(
    "same",
    [
        ("Paşa din Ţara", "pașa din țara", "pas\u0327a din t\u0327ara"),
        ("„Scrisori” (1881)", "Scrisori 1881"),
        ("într-un", "într–un", "într‑un"),
    ],
)
def test_spellings_of_one_romanian_answer_are_equal(same):
    assert len(set(RO.tokens(same))) == 1


def test_invisible_format_characters_are_no_part_of_an_answer():
    for profile in (HE, RO, ANY):
        assert profile.tokens(["בית\u00adספר", "na\u200bți\u200dune"]) == [
            ("ביתספר",),
            ("națiune",),
        ]
    # Dropping one brings a letter and its diacritic together, here those of an old Romanian ş.
    assert RO.tokens(["s\u00ad\u0327", "a\u00ad\u0306"]) == [("ș",), ("ă",)]


def test_different_answers_stay_different_where_squad_confuses_them():
    assert SQUAD.tokens(["un an"]) == SQUAD.tokens(["un"])
    assert RO.tokens(["un an", "un", "o casă", "casă"]) == [
        ("un", "an"),
        ("un",),
        ("o", "casă"),
        ("casă",),
    ]
    assert HE.tokens(["הכנסת"]) != HE.tokens(["כנסת"])


def test_only_romanian_takes_a_cedilla_for_a_comma():
    assert RO.tokens(["ş"]) == [("ș",)]
    assert HE.tokens(["ş"]) == ANY.tokens(["ş"]) == [("ş",)]


@pytest.mark.parametrize(("language", "other"), [("he", "ro"), ("ro", "he")])
def test_a_run_has_the_standard_scores_and_those_of_its_own_language(language, other):
    config = compose(["data=chronicle_qa", f"data.language={language}"])
    names = task_of(config).score_names(config)
    assert {"f1", f"{language}_f1", f"{language}_exact_match"} <= set(names)
    assert not [name for name in names if name.startswith(f"{other}_")]


def test_a_split_of_another_data_set_is_scored_in_that_ones_language():
    config = compose(["data=parashoot", "also_test=[xquad_ro]"])
    assert of_split(config, "xquad_ro.test").data.language == "ro"
    assert of_split(config, "test") is config
