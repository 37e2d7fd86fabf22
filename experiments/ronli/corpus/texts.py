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


class SentencePair(NamedTuple):
    """A labelled pair of sentences of one article."""

    first: str
    second: str  # without its phrase
    label: str
    phrase: str  # that linked them
    original_first: str  # with their phrases
    original_second: str


@dataclass(frozen=True)
class PairRules:
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
        phrases = {phrase for listed in self.phrases.values() for phrase in listed}
        if not phrases:
            return re.compile(r"(?!)")  # matches nothing
        longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
        any_phrase = "|".join(map(re.escape, longest_first))
        return re.compile(rf"(?<!\w)(?:{any_phrase})(?!\w)")

    @cached_property
    def classes(self) -> dict[str, str]:
        """The class of each phrase; empty for a phrase of several classes."""
        classes: dict[str, str] = {}
        for label, phrases in self.phrases.items():
            for phrase in phrases:
                if classes.setdefault(phrase, label) != label:
                    classes[phrase] = ""
        return classes


def is_article(text: str, rules: PairRules) -> bool:
    """Tell whether a page is neither empty nor a disambiguation page."""
    names = rules.wording["disambiguation"]
    any_name = "|".join(map(re.escape, names)) or "(?!)"
    template = rf"\{{\{{\s*(?:{any_name})\s*[|}}]"
    return bool(text.strip()) and not re.search(template, text, re.I)


def paragraphs(text: str, rules: PairRules) -> Iterator[str]:
    """Yield the paragraphs of the kept sections, without markup.

    A line with remaining markup (an unclosed tag or link) is left out.
    """
    import mwparserfromhell  # optional dependency
    from mwparserfromhell.nodes import Heading

    text = _QUOTES.sub(r"\1", text)
    nodes = []
    in_kept_section = True
    for node in mwparserfromhell.parse(text).nodes:
        if isinstance(node, Heading):
            in_kept_section = _folded(node.title) not in rules.wording["sections"]
        elif in_kept_section:
            nodes.append(node)

    for line in _plain_text(nodes, rules).splitlines():
        if line.strip() and not line.startswith(("|", "!", "{")) and not _MARKUP.search(line):
            yield _SPACE.sub(" ", line).strip()


def _folded(name: Any) -> str:
    return str(name).strip().lower()


def _plain_text(nodes: Sequence[Any], rules: PairRules) -> str:
    """Render running text at any depth, without list items, notes, tables, pictures."""
    from mwparserfromhell.definitions import is_visible
    from mwparserfromhell.nodes import Tag, Text, Wikilink

    files = tuple(f"{name}:" for name in rules.wording["files"])
    texts = []
    in_item = False  # an item ends with its line, not inside a template or a note
    for node in nodes:
        if isinstance(node, Text):
            text = str(node)
            if in_item:
                _, end, text = text.partition("\n")
                in_item = not end
            texts.append(text)
        elif in_item:
            continue
        elif isinstance(node, Tag):
            name = _folded(node.tag)
            in_item = name in _ITEMS and bool(node.wiki_markup)
            if name == "br":
                texts.append("\n")
            elif name not in _LEFT_OUT and is_visible(name) and node.contents:
                texts.append(_plain_text(node.contents.nodes, rules))
        elif isinstance(node, Wikilink):
            if not _folded(node.title).startswith(files):
                shown = node.text or node.title
                texts.append(_plain_text(shown.nodes, rules))
        else:
            texts.append(node.__strip__(normalize=True) or "")
    return "".join(texts)


def sentences(paragraph: str, rules: PairRules) -> list[str]:
    """Split a paragraph into sentences, not after abbreviations or initials."""
    texts = []
    start = 0
    for match in _END.finditer(paragraph):
        end_mark = match.group()
        next_letter = match[1] or ""
        if next_letter.islower():
            continue
        if end_mark.startswith(".") and _is_shortened(paragraph[start : match.start()], rules):
            continue
        end = match.end()
        texts.append(paragraph[start:end].strip())
        start = end

    rest = paragraph[start:].strip()
    if rest:
        texts.append(rest)
    return texts


def _is_shortened(text: str, rules: PairRules) -> bool:
    """Tell whether the last word of a text is an abbreviation or an initial."""
    words = text.rsplit(maxsplit=1)
    if not words:
        return False
    last = words[-1].lstrip("(\"'„“«[").lower()
    is_initial = len(last) == 1 and last.isalpha()
    return is_initial or last in rules.wording["abbreviations"]


def linked(first: str, second: str, rules: PairRules) -> SentencePair | None:
    """Label a pair by the phrase of its second sentence; None without an unambiguous phrase.

    With `anywhere`, the first phrase in the sentence decides; it is removed only at the start, and
    phrases of the first sentence are kept.

    Args:
        first: a sentence.
        second: the sentence after it, which may begin with a linking phrase.
        rules: the phrases, and which pairs are used.
    """
    plain_first = first
    if rules.anywhere:
        match = rules.pattern.search(second)
    else:
        match = rules.pattern.match(second)
        plain_first = _without_phrase(first, rules)
    if match is None:
        return None

    phrase = match.group()
    label = rules.classes[phrase]
    plain_second = _without_phrase(second, rules)
    if not label or not plain_second:
        return None
    if not rules.short_links and min(len(plain_first), len(plain_second)) < rules.characters:
        return None
    return SentencePair(plain_first, plain_second, label, phrase, first, second)


def _without_phrase(sentence: str, rules: PairRules) -> str:
    """Remove the phrases at the start of a sentence."""
    while match := rules.pattern.match(sentence):
        rest = sentence[match.end() :].lstrip(" ,:;–—-")
        sentence = rest.capitalize() if rules.lower else rest[:1].upper() + rest[1:]
    return sentence


def read_article(text: str, rules: PairRules) -> tuple[list[SentencePair], list[str]]:
    """Find the linked pairs of an article, and its sentences for neutral pairs.

    The sentences of a pair are neighbours in a paragraph. Sentences for neutral pairs have no
    phrase anywhere.
    """
    pairs: list[SentencePair] = []
    plain: list[str] = []
    if not is_article(text, rules):
        return pairs, plain
    for paragraph in paragraphs(text, rules):
        of_paragraph = sentences(paragraph, rules)
        for first, second in pairwise(of_paragraph):
            pair = linked(first, second, rules)
            if pair:
                pairs.append(pair)
        for sentence in of_paragraph:
            if len(sentence) >= rules.characters and not rules.pattern.search(sentence):
                plain.append(sentence)
    return pairs, plain
