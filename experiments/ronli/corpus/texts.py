"""From wikitext to sentences, and from neighbouring sentences to labelled pairs.

Source: RoNLI, section 3 (sections left out, sentences of 50 characters or more, phrases removed),
and its released extractor, for `protocol=repo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

NEUTRAL = "neutral"
_SPACE = re.compile(r"\s+")
# The end of a sentence: a sign, perhaps closing quotes, then a space and what can begin one.
_END = re.compile(r"[.!?…]+[\"'”»)\]]*(?=\s+[\"'“„«(\[]*[^\W\d_a-zăâîșțşţ]|\s+\d|\s*\Z)")
_LIST_ITEM = re.compile(r"^[*#:;].*\n?", re.MULTILINE)
_LEFT_OUT = {
    "ref",
    "table",
    "gallery",
    "math",
    "timeline",
    "score",
    "syntaxhighlight",
    "references",
}


class Found(NamedTuple):
    """A labelled pair of sentences of one article."""

    first: str
    second: str  # without its phrase
    label: str
    phrase: str  # that linked them


@dataclass(frozen=True)
class Rules:
    """How pairs are found; it is sent to worker processes."""

    phrases: Mapping[str, Sequence[str]]  # by class
    wording: Mapping[str, Sequence[str]]  # of a language, see `wording.yaml`
    anywhere: bool = False  # whether a phrase counts anywhere, and is removed only at the start
    lower: bool = False  # whether what follows a removed phrase is lower-cased (the casing leak)
    characters: int = 50  # fewest of a sentence
    # Whether only neutral sentences must be that long, as in the released code.
    short_links: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """One expression for all phrases, longest first, each a whole word."""
        listed = sorted({p for of in self.phrases.values() for p in of}, key=lambda p: (-len(p), p))
        any_of = "|".join(map(re.escape, listed))
        return re.compile(rf"(?<!\w)(?:{any_of})(?!\w)") if listed else re.compile(r"(?!)")

    @cached_property
    def classes(self) -> dict[str, str]:
        """The class of each phrase; empty for a phrase of several classes."""
        found: dict[str, str] = {}
        for label, listed in self.phrases.items():
            for phrase in listed:
                found[phrase] = label if found.get(phrase, label) == label else ""
        return found


def is_article(text: str, rules: Rules) -> bool:
    """Tell whether a page is neither empty nor a list of meanings of a word."""
    names = "|".join(map(re.escape, rules.wording["disambiguation"]))
    return bool(text.strip()) and not re.search(rf"\{{\{{\s*(?:{names})\s*[|}}]", text, re.I)


def paragraphs(text: str, rules: Rules) -> Iterator[str]:
    """Yield the paragraphs of the sections that are kept, without markup."""
    import mwparserfromhell  # optional dependency

    code = mwparserfromhell.parse(_LIST_ITEM.sub("", text))
    for section in code.get_sections(flat=True, include_lead=True):
        headings = section.filter_headings()
        if headings and str(headings[0].title).strip().lower() in rules.wording["sections"]:
            continue
        for node in [*headings, *_unwanted(section, rules)]:
            try:
                section.remove(node)
            except ValueError:  # inside a node that has been removed
                continue
        for line in section.strip_code().splitlines():
            if line[:1] not in ("|", "!", "{") and line.strip():
                yield _SPACE.sub(" ", line).strip()


def _unwanted(section: Any, rules: Rules) -> list[Any]:
    """List the nodes whose text is no running text: notes, tables, pictures."""
    tags = [
        tag for tag in section.filter_tags(recursive=False) if str(tag.tag).lower() in _LEFT_OUT
    ]
    files = tuple(f"{name}:" for name in rules.wording["files"])
    links = section.filter_wikilinks(recursive=False)
    return [*tags, *(link for link in links if str(link.title).strip().lower().startswith(files))]


def sentences(paragraph: str, rules: Rules) -> list[str]:
    """Split a paragraph; an abbreviation or an initial ends no sentence."""
    found, start = [], 0
    for match in _END.finditer(paragraph):
        words = paragraph[start : match.start()].rsplit(maxsplit=1)
        last = words[-1].lstrip("(\"'„“«[").lower() if words else ""
        is_initial = len(last) == 1 and last.isalpha()
        if match.group()[0] == "." and (is_initial or last in rules.wording["abbreviations"]):
            continue
        found.append(paragraph[start : match.end()].strip())
        start = match.end()
    rest = paragraph[start:].strip()
    return [*found, rest] if rest else found


def linked(first: str, second: str, rules: Rules) -> Found | None:
    """Label a pair by the phrase of its second sentence; None without one, or with an unclear one.

    With `anywhere`, the first phrase in the sentence decides, and stays unless it begins it, and
    phrases of the first sentence stay.
    """
    match = rules.pattern.search(second) if rules.anywhere else rules.pattern.match(second)
    label = rules.classes[match.group()] if match else ""
    if match is None or not label:
        return None
    if not rules.anywhere:
        first = _without_phrase(first, rules)
    rest = _without_phrase(second, rules)
    if not rules.short_links and min(len(first), len(rest)) < rules.characters:
        return None
    return Found(first, rest, label, match.group()) if rest else None


def _without_phrase(sentence: str, rules: Rules) -> str:
    """Remove the phrases that a sentence begins with."""
    while match := rules.pattern.match(sentence):
        rest = sentence[match.end() :].lstrip(" ,:;–—-")
        sentence = rest.capitalize() if rules.lower else rest[:1].upper() + rest[1:]
    return sentence


def read_article(text: str, rules: Rules) -> tuple[list[Found], list[str]]:
    """Find the linked pairs of an article, and its sentences for neutral pairs.

    Both sentences of a pair are neighbours in a paragraph. A sentence for neutral pairs has no
    phrase anywhere.
    """
    pairs: list[Found] = []
    plain: list[str] = []
    if not is_article(text, rules):
        return pairs, plain
    for paragraph in paragraphs(text, rules):
        found = sentences(paragraph, rules)
        for first, second in pairwise(found):
            if pair := linked(first, second, rules):
                pairs.append(pair)
        plain += [s for s in found if len(s) >= rules.characters and not rules.pattern.search(s)]
    return pairs, plain
