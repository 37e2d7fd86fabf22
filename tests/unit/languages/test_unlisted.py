"""Any language of ISO 639 works without a profile."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.config.parsing import parse
from heron.data.config import DataConfig
from heron.languages import LANGUAGES, get_language
from heron.languages.language import question_words
from heron.languages.words import spaced, word_count, words
from heron.metrics.span import item_scores, language_profile, language_profiles
from heron.metrics.summary import item_rouge, split_sentences
from heron.metrics.torch_metrics import SpanScores


@pytest.mark.parametrize(
    ("code", "name", "direction", "letters", "others"),
    [
        ("ko", "Korean", "ltr", "한국", "кש"),
        ("fa", "Persian", "rtl", "پژگ", "aש"),
        ("ka", "Georgian", "ltr", "ქართ", "aб"),
        ("ja", "Japanese", "ltr", "日のテ", "a한"),
        ("ay", "Aymara", "ltr", "añ", "кש"),
        ("sr", "Serbian", "ltr", "ђ", "a"),
        ("sr-Latn", "Serbian", "ltr", "đ", "ђ"),
        ("dv", "Divehi", "rtl", "ދ", "a"),
        ("oto", "oto", "ltr", "aש", "1"),  # ISO 639-2, which CLDR does not know
    ],
)
def test_a_language_without_a_profile_has_its_name_direction_and_letters(
    code, name, direction, letters, others
):
    found = get_language(code)
    assert (found.name, found.direction) == (name, direction)
    assert set(letters) <= set(found.alphabet)
    assert not set(others) & set(found.alphabet)
    assert (found.negation, found.questions) == (frozenset(), None)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("he", "heb iw HE heb_Hebr he-IL Hebrew hebrew עברית"),
        ("ro", "ron mo ro-Latn ron_Latn ro-MD Romanian Română"),
        ("en", "eng_Latn en-US en_GB"),
        ("ko", "kor KO kor_Hang"),
        ("am", "amh_Ethi Amharic አማርኛ"),
        ("zh", "zho_Hans cmn zh-CN"),
        ("zh-Hant", "zho_Hant zh-TW zh_HK"),
        ("sr-Latn", "sh srp_Latn sr-Latn-RS"),
        ("fa", "prs pes_Arab fa-AF"),
        ("sw", "swc swh_Latn"),
        ("pa-Arab", "pa-PK"),
        ("ca", "ca-valencia ca-ES-valencia"),
        ("de", "de-1996 de-CH-1901"),
        ("und", "und"),
    ],
)
def test_a_language_has_one_code_however_it_is_named(code, names):
    assert {parse(DataConfig, {"language": name}).language for name in names.split()} == {code}
    assert {get_language(name) for name in names.split()} == {get_language(code)}


def test_an_undetermined_language_has_any_letters_and_no_scores_of_its_own():
    unknown = get_language("und")
    assert set("אșሀ한") <= set(unknown.alphabet)
    assert (unknown.negation, unknown.variants, unknown.questions) == (frozenset(), "", None)
    assert language_profiles(unknown) == language_profiles(None) == []
    assert SpanScores("und").names == SpanScores().names


@pytest.mark.parametrize("code", ["xx", "hebrewish", "", "k", "q1", "ko-Xxxx"])
def test_what_is_no_code_is_refused(code):
    assert code not in LANGUAGES
    with pytest.raises(ConfigError):
        get_language(code)


def test_letters_of_scripts_without_blanks_are_words():
    assert words("北京的GDP增长了5.2%。") == [*"北京的", "GDP", *"增长了", "5.2"]
    assert words("ไทย 12") == [*"ไทย", "12"]
    assert words("한국어 문장") == ["한국어", "문장"]


@given(st.text())
def test_spacing_changes_nothing_but_blanks(text):
    assert "".join(spaced(text).split()) == "".join(text.split())


def test_nearly_equal_texts_without_blanks_score_nearly_one():
    chinese = get_language("zh")
    found = item_rouge(["他们在北京工作"], ["他们在北京生活"], chinese)
    assert found["rouge1"][0] == found["rouge1_heron"][0] == pytest.approx(5 / 7)
    found = item_scores(["北京市"], [["北京"]], [language_profile(chinese)])
    assert found["zh_f1"][0] == pytest.approx(0.8)


def test_sentences_end_as_each_script_ends_them():
    assert split_sentences("他来了。「她走了。」好！") == ["他来了。", "「她走了。」", "好！"]
    assert split_sentences("वह आया। वह गई। 3. 5") == ["वह आया।", "वह गई।", "3. 5"]
    assert split_sentences("هل جاء؟ نعم.") == ["هل جاء؟", "نعم."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["ሓደ እዩ።", "መን እዩ፧", "“ሰለስተ።”", "ኣርባዕተ፡፡", "ሓሙሽተ::", "ሽዱሽተ፡ሸውዓተ ።"],
        ["មួយ។", "ពីរ៕", "ផ្លែឈើ ។ល។", "បី៖ បួន ។"],
        ["वह आया।", "वह गई।।", "好！？"],
        ["ߒ ߞߊ߬ ߕߊ߯߹", "ܫܠܡܐ܀", "ᠮᠣᠩᠭᠣᠯ᠃", "ꦲꦏ꧉"],
    ],
)
def test_sentences_end_with_and_without_blanks_where_a_mark_ends_nothing_else(sentences):
    assert split_sentences(" ".join(sentences)) == sentences
    assert split_sentences("".join(sentences)) == sentences


@pytest.mark.parametrize(("code", "text"), [("ti", "ርእሰ፡ከተማ፡ኤርትራ።"), ("bo", "བོད་སྐད་ཡིག")])
def test_marks_between_words_separate_the_words_of_an_answer(code, text):
    blanks = re.sub("[፡་]", " ", text)
    assert (
        item_scores([text], [[blanks]], [language_profile(get_language(code))])[f"{code}_f1"] == 1
    )


@pytest.mark.parametrize("text", ["ភ្នំពេញ ស្អាត", "ꯃꯩꯇꯩ ꯂꯣꯟ", "ꦧꦱꦗꦮ"])
def test_vowel_signs_stay_with_the_letters_of_a_word(text):
    assert not any(unicodedata.category(word[0]).startswith("M") for word in words(text))


def test_question_words_are_split_as_questions_are():
    (tokens,) = language_profile(get_language("km")).tokens(["អ្វី?"])
    assert tokens in question_words(what="អ្វី").phrases


def test_words_are_counted_as_letters_where_no_blank_parts_them():
    assert word_count("ភ្នំពេញ។") == 4
    assert word_count("s-a dus, da") == 3


@pytest.mark.parametrize(("text", "count"), [("བོད་སྐད་ཡིག།", 3), ("ርእሰ፡ከተማ", 2), ("Två ord", 2)])
def test_words_are_counted_where_another_sign_than_a_blank_parts_them(text, count):
    assert word_count(text) == count


@pytest.mark.parametrize("code", ["tr", "az", "crh", "crh-Latn"])
@pytest.mark.parametrize(("capitals", "small"), [("QIRIM", "qırım"), ("İNSANI", "insanı")])
def test_a_language_with_two_kinds_of_i_has_their_capitals_in_its_own_scores(code, capitals, small):
    language = get_language(code)
    decomposed = unicodedata.normalize("NFD", capitals)
    for text in (capitals, decomposed):
        found = item_scores([text], [[small]], [language_profile(language)])
        assert found[f"{code}_f1"][0] == 1
        assert item_rouge([text], [small], language)["rouge1_heron"][0] == 1
    assert item_rouge(["QIRIM"], ["qirim"], language)["rouge1_heron"][0] == 0
    assert item_rouge(["IRAK"], ["irak"], get_language("ro"))["rouge1_heron"][0] == 1


def test_yiddish_digraphs_are_their_two_letters_in_its_own_scores():
    yiddish = get_language("yi")
    found = item_scores(["װאָס ײַז"], [["וואס ייז"]], [language_profile(yiddish)])
    assert found["yi_f1"][0] == 1
    assert item_rouge(["װאָס ײַז"], ["וואס ייז"], yiddish)["rouge1_heron"][0] == 1
