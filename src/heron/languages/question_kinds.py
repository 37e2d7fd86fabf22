"""Kinds of questions that are told by their words: so far, those that ask for yes or no."""

from __future__ import annotations

from heron.languages.words import folded_words

# First words of a question that asks for yes or no. Hebrew marks such questions with one word, in
# writing almost always; English by its auxiliaries. Romanian marks them by tone alone unless
# `oare` does: its list finds few of them.
_ENGLISH = """am are can could did do does had has have is may might must shall should was were
will would aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't shouldn't
wasn't weren't won't wouldn't"""
_FIRST_WORDS = {
    "he": frozenset(("האם", "והאם")),
    "ro": frozenset(("oare",)),
    "en": frozenset(_ENGLISH.split()),
}


def asks_yes_or_no(question: str, language: str) -> bool:
    """Tell whether a question asks for yes or no, by its first word.

    Args:
        question: its text.
        language: ISO 639-1 code.

    Source: ParaShoot, section 2.3 (yes/no questions were discarded; how they were found is not
    said).
    """
    first = folded_words(question.replace("’", "'"))[:1]
    return bool(first) and first[0] in _FIRST_WORDS.get(language, frozenset())
