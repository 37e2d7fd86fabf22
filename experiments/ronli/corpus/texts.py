"""Extracts sentences from wikitext, and labelled pairs from neighbouring sentences.

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
# The end of a sentence: a punctuation mark, optional closing quotes, then a space and the start of
# another sentence, which is no small letter.
_END = re.compile(r"[.!?…]+[\"'”»)\]]*(?=\s+[\"'“„«(\[]*([^\W\d_])|\s+\d|\s*\Z)")
_ITEMS = ("li", "dt", "dd")
# Quotes of bold and italic text, misread by the parser; in ''Iliad'''s the last is an apostrophe.
_QUOTES = re.compile(r"(?<!')''([^'\n]+)''(?='s\b)|'{2,}")
_MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?[a-z]+\b[^<>]*>|__[A-Z]+__|\|thumb|thumb\|")
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
    original_first: str  # with their phrases
    original_second: str


@dataclass(frozen=True)
class Rules:
    """Rules for finding pairs, sent to worker processes."""

    phrases: Mapping[str, Sequence[str]]  # by class
    wording: Mapping[str, Sequence[str]]  # of a language, see `wording.yaml`
    anywhere: bool = False  # whether phrases are matched anywhere, but removed only at the start
    lower: bool = False  # whether the text after a removed phrase is lower-cased (the casing leak)
    characters: int = 50  # minimum per sentence
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
    """Tell whether a page is neither empty nor a disambiguation page."""
    names = "|".join(map(re.escape, rules.wording["disambiguation"])) or "(?!)"
    return bool(text.strip()) and not re.search(rf"\{{\{{\s*(?:{names})\s*[|}}]", text, re.I)


def paragraphs(text: str, rules: Rules) -> Iterator[str]:
    """Yield the paragraphs of the kept sections, without markup.

    A line with remaining markup (an unclosed tag or link) is left out.
    """
    import mwparserfromhell  # optional dependency
    from mwparserfromhell.nodes import Heading

    nodes, kept = [], True
    for node in mwparserfromhell.parse(_QUOTES.sub(r"\1", text)).nodes:
        if isinstance(node, Heading):
            kept = str(node.title).strip().lower() not in rules.wording["sections"]
        elif kept:
            nodes.append(node)
    for line in _plain(nodes, rules).splitlines():
        if line[:1] not in ("|", "!", "{") and line.strip() and not _MARKUP.search(line):
            yield _SPACE.sub(" ", line).strip()


def _plain(nodes: Sequence[Any], rules: Rules) -> str:
    """Render running text at any depth, without list items, notes, tables, pictures."""
    from mwparserfromhell.definitions import is_visible
    from mwparserfromhell.nodes import Tag, Text, Wikilink

    files = tuple(f"{name}:" for name in rules.wording["files"])
    found, in_item = [], False  # an item ends with its line, not inside a template or a note
    for node in nodes:
        if isinstance(node, Text):
            text = str(node)
            if in_item:
                _, end, text = text.partition("\n")
                in_item = not end
            found.append(text)
        elif in_item:
            continue
        elif isinstance(node, Tag):
            name = str(node.tag).strip().lower()
            in_item = name in _ITEMS and bool(node.wiki_markup)
            if name == "br":
                found.append("\n")
            elif name not in _LEFT_OUT and is_visible(name) and node.contents:
                found.append(_plain(node.contents.nodes, rules))
        elif isinstance(node, Wikilink):
            if not str(node.title).strip().lower().startswith(files):
                found.append(_plain((node.text or node.title).nodes, rules))
        else:
            found.append(node.__strip__(normalize=True) or "")
    return "".join(found)


def sentences(paragraph: str, rules: Rules) -> list[str]:
    """Split a paragraph into sentences, not after abbreviations or initials."""
    found, start = [], 0
    for match in _END.finditer(paragraph):
        words = paragraph[start : match.start()].rsplit(maxsplit=1)
        last = words[-1].lstrip("(\"'„“«[").lower() if words else ""
        is_initial = len(last) == 1 and last.isalpha()
        if (match[1] or "").islower():
            continue
        if match.group()[0] == "." and (is_initial or last in rules.wording["abbreviations"]):
            continue
        found.append(paragraph[start : match.end()].strip())
        start = match.end()
    rest = paragraph[start:].strip()
    return [*found, rest] if rest else found


def linked(first: str, second: str, rules: Rules) -> Found | None:
    """Label a pair by the phrase of its second sentence; None without an unambiguous phrase.

    With `anywhere`, the first phrase in the sentence decides; it is removed only at the start, and
    phrases of the first sentence are kept.
    """
    match = rules.pattern.search(second) if rules.anywhere else rules.pattern.match(second)
    label = rules.classes[match.group()] if match else ""
    if match is None or not label:
        return None
    begins = first if rules.anywhere else _without_phrase(first, rules)
    rest = _without_phrase(second, rules)
    if not rules.short_links and min(len(begins), len(rest)) < rules.characters:
        return None
    return Found(begins, rest, label, match.group(), first, second) if rest else None


def _without_phrase(sentence: str, rules: Rules) -> str:
    """Remove the phrases at the start of a sentence."""
    while match := rules.pattern.match(sentence):
        rest = sentence[match.end() :].lstrip(" ,:;–—-")
        sentence = rest.capitalize() if rules.lower else rest[:1].upper() + rest[1:]
    return sentence


def read_article(text: str, rules: Rules) -> tuple[list[Found], list[str]]:
    """Find the linked pairs of an article, and its sentences for neutral pairs.

    The sentences of a pair are neighbours in a paragraph. Sentences for neutral pairs have no
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
