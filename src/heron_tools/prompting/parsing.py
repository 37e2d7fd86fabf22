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
    wanted = _by_form(answers, _plain)
    as_given = {answer.strip(): label for label, answer in answers.items()}
    if (found := (wanted | as_given).get(text.strip())) is not None:
        return Parsed(found, "exact")
    folded = _by_form(answers, _folded)
    keep_case = len(folded) < len(wanted)  # some answers differ in case only
    if keep_case:
        folded = wanted
    names = _by_form({label: label for label in answers}, _folded)
    for name, rule in RULES.items():
        known = names if name == "class name" else folded
        read = rule(text, lead, list(folded))
        read = read if keep_case and known is folded else read.casefold()
        if read in known:
            return Parsed(known[read], name)
    return Parsed(None, "invalid")


def parse_text(text: str, lead: str, none: str) -> Parsed:
    """Read a free-text answer.

    Args:
        text: what the model wrote.
        lead: see `parse_class`.
        none: the words for "no answer"; read as an empty text.
    """
    written = text.strip()
    if written == none:
        return Parsed("", "exact")
    if lead.strip() and written.startswith(lead.strip()):
        rest = written.removeprefix(lead.strip()).strip()
        return Parsed("" if rest == none else rest, "repeated lead")
    return Parsed(written, "exact") if written else Parsed(None, "invalid")


def _by_form(answers: Mapping[str, str], form: Callable[[str], str]) -> dict[str, str]:
    """Map the form of each answer to its class, without forms of two answers (`-1`, `1`)."""
    forms = {label: form(answer) for label, answer in answers.items()}
    counts = Counter(forms.values())
    return {each: label for label, each in forms.items() if each and counts[each] == 1}


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
    found = re.match(rf"\s*{re.escape(lead.strip())}(.*)", text, re.S) if lead.strip() else None
    return _plain(found[1]) if found else ""


def _first_line(text: str, lead: str, answers: Sequence[str]) -> str:
    """Take the first line, unless a later one names another answer."""
    first, *others = [line for line in text.splitlines() if line.strip()] or [""]
    read = _lead(first, lead, answers) or _plain(first)
    rest = _plain(" ".join(others))
    return "" if _named(_like(answers, rest), answers) - {_like(answers, read)} else read


def _beginning(text: str, lead: str, answers: Sequence[str]) -> str:
    """Take the answer before a punctuation mark, `e, because ...`, unless another one follows."""
    plain = _like(answers, _lead(text, lead, answers) or _plain(text))
    found = _pattern(answers).match(plain)
    if found is None or plain[found.end() :].lstrip(" ")[:1] not in _EDGES:
        return ""
    return found[0] if _named(plain, answers) == {found[0]} else ""


def _like(answers: Sequence[str], text: str) -> str:
    """Case-fold a text, unless some answers differ in case only."""
    return text.casefold() if all(each == each.casefold() for each in answers) else text


def _named(text: str, answers: Sequence[str]) -> set[str]:
    """Find the answers in a text as whole words; of nested answers, the longer."""
    return set(_pattern(answers).findall(text))


def _pattern(answers: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, answers), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")


# Applied in this order; the first match counts. Case is ignored unless answers differ only in it.
RULES: dict[str, Callable[[str, str, Sequence[str]], str]] = {
    "signs or case": _signs,
    "class name": _signs,
    "repeated lead": _lead,
    "first line": _first_line,
    "beginning": _beginning,
}
