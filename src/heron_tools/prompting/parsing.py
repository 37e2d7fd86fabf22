"""Parses a class from a model's answer: by exact match, or by one of a few rules that are counted.

A text that no rule matches, or that names two classes, is invalid.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from heron.languages.romanian import ROMANIAN

_EDGES = " \t\r\n.,:;!?\"'`*()[]{}<>«»„”“’‘־–-"
_MARKS = re.compile("[\u0591-\u05c7\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # niqqud, direction
_CEDILLAS = str.maketrans(ROMANIAN.variants[::2], ROMANIAN.variants[1::2])


class Parsed(NamedTuple):
    """A class or text, or None, and the rule that matched: `exact`, one of `RULES`, `invalid`."""

    label: str | None
    rule: str


def parse_class(text: str, answers: Mapping[str, str], lead: str = "") -> Parsed:
    """Read the class that a text names.

    Args:
        text: what the model wrote.
        answers: the answer for each class.
        lead: what precedes an answer in the prompt, `Answer:`; models repeat it.
    """
    plain = _by_form(answers, _plain)
    exact = {**plain, **{answer.strip(): label for label, answer in answers.items()}}
    if text.strip() in exact:
        return Parsed(exact[text.strip()], "exact")

    folded = _by_form(answers, _folded)
    keep_case = len(folded) < len(plain)  # some answers differ in case only
    if keep_case:
        folded = plain
    names = _by_form({label: label for label in answers}, _folded)
    for rule_name, rule in RULES.items():
        known = names if rule_name == "class name" else folded
        answer = rule(text, lead, list(folded))
        if known is names or not keep_case:
            answer = answer.casefold()
        if answer in known:
            return Parsed(known[answer], rule_name)
    return Parsed(None, "invalid")


def parse_text(text: str, lead: str, none: str) -> Parsed:
    """Read a free-text answer.

    Args:
        text: what the model wrote.
        lead: see `parse_class`.
        none: the words for "no answer"; read as an empty text.
    """
    answer = text.strip()
    rule = "exact"
    if not answer:
        return Parsed(None, "invalid")
    lead = lead.strip()
    if lead and answer != none and answer.startswith(lead):
        answer = answer.removeprefix(lead).strip()
        rule = "repeated lead"
    return Parsed("" if answer == none else answer, rule)


def _by_form(answers: Mapping[str, str], form: Callable[[str], str]) -> dict[str, str]:
    """Map the form of each answer to its class, without forms of two answers (`-1`, `1`)."""
    forms = {label: form(answer) for label, answer in answers.items()}
    counts = Counter(forms.values())
    labels = {}
    for label, text in forms.items():
        if text and counts[text] == 1:
            labels[text] = label
    return labels


def _plain(text: str) -> str:
    """Strip niqqud, direction marks and outer punctuation; ş and ţ (cedillas) become ș and ț."""
    text = unicodedata.normalize("NFC", text).translate(_CEDILLAS)
    return _MARKS.sub("", text).strip(_EDGES)


def _folded(text: str) -> str:
    return _plain(text).casefold()


def _signs(text: str, lead: str, answers: Sequence[str]) -> str:
    return _plain(text)


def _lead(text: str, lead: str, answers: Sequence[str]) -> str:
    """Take what follows the lead, `Answer: e`."""
    text = text.lstrip()
    lead = lead.strip()
    if not lead or not text.startswith(lead):
        return ""
    return _plain(text.removeprefix(lead))


def _first_line(text: str, lead: str, answers: Sequence[str]) -> str:
    """Take the first line, unless a later one names another answer."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    first, *later = lines
    answer = _lead(first, lead, answers) or _plain(first)
    rest = _like(answers, _plain(" ".join(later)))
    others = _named(rest, answers) - {_like(answers, answer)}
    return "" if others else answer


def _beginning(text: str, lead: str, answers: Sequence[str]) -> str:
    """Take the answer before a punctuation mark, `e, because ...`, unless another one follows."""
    plain = _like(answers, _lead(text, lead, answers) or _plain(text))
    match = _pattern(answers).match(plain)
    if match is None:
        return ""
    answer = match[0]
    rest = plain.removeprefix(answer).lstrip(" ")
    if rest[:1] not in _EDGES:
        return ""
    return answer if _named(plain, answers) == {answer} else ""


def _like(answers: Sequence[str], text: str) -> str:
    """Case-fold a text, unless some answers differ in case only."""
    are_folded = all(answer == answer.casefold() for answer in answers)
    return text.casefold() if are_folded else text


def _named(text: str, answers: Sequence[str]) -> set[str]:
    """Find the answers in a text as whole words; of nested answers, the longer."""
    return set(_pattern(answers).findall(text))


def _pattern(answers: Sequence[str]) -> re.Pattern[str]:
    """Match any answer as whole words."""
    escaped = map(re.escape, answers)
    longest_first = sorted(escaped, key=len, reverse=True)
    alternatives = "|".join(longest_first)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


# Applied in this order; the first match counts. Case is ignored unless answers differ only in it.
RULES: dict[str, Callable[[str, str, Sequence[str]], str]] = {
    "signs or case": _signs,
    "class name": _signs,
    "repeated lead": _lead,
    "first line": _first_line,
    "beginning": _beginning,
}
