"""Linking phrases, which give a pair's label away, and how to take them out of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from heron.base.errors import DataError, Problem, nearest
from heron.base.files import read_json
from heron.config.data import DataConfig
from heron.languages import get_language
from heron.languages.unicode import normalise

_AFTER_START = re.compile(r"^[\s,;:]+")
_MARK_BEFORE_MARK = re.compile(r"\s*[,;:](?=\s*[,.;:!?])")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:!?])")


class Phrases:
    """Removes phrases from texts: whole words only, the longest phrase first.

    Args:
        phrases: what to remove.
        anywhere: remove every one, whether its first letter is a capital or not; otherwise one, at
            the beginning of the text, spelt as it is listed.

    Source: RoNLI paper, section 3, and the extractor of its repository.
    Deviates: the extractor lower-cases all but the first letter of what is left; heron only raises
        the first letter. The extractor finds phrases inside longer words too; heron does not. The
        extractor minds capitals everywhere; but since it lower-cased what it left inside, of the
        3,059 released validation pairs 18 hold a phrase as listed and 136 one in either spelling.
    """

    def __init__(self, phrases: Iterable[str], anywhere: bool):
        longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
        either = "|".join(_spelt(phrase, anywhere) for phrase in longest_first)
        # Without any phrase, an expression that matches nothing.
        self.pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)" if either else r"(?!)")
        self.anywhere = anywhere

    def remove(self, text: str) -> str:
        """Return `text` without phrases: as it is where it holds none, empty if no word is left."""
        rest = text.strip()
        start = self.pattern.match(rest)
        if start:
            rest = _AFTER_START.sub("", rest[start.end() :])
        if self.anywhere:
            rest, inside = self.pattern.subn(" ", rest)
            if inside:
                rest = _MARK_BEFORE_MARK.sub("", " ".join(rest.split()))
                rest = _AFTER_START.sub("", _SPACE_BEFORE_MARK.sub(r"\1", rest))
        if not any(character.isalnum() for character in rest):
            return ""
        # Otherwise the small letter would tell that a phrase stood here.
        return rest[:1].upper() + rest[1:] if rest != text.strip() else text


def read_phrases(path: Path, config: DataConfig) -> Phrases:
    """Read `{class: [phrase, ...]}`; phrases are normalised like the texts they are looked up in.

    Raises:
        DataError: not such a file, or a class that the data set does not have.
    """
    shape = 'write {"class": ["phrase", ...], ...}, in UTF-8'
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        raise DataError(Problem(str(path), f"cannot be read: {error}", shape)) from error
    if not isinstance(content, dict) or not all(map(_is_phrases, content.values())):
        raise DataError(Problem(str(path), "is no list of phrases by class", shape))
    unknown = [label for label in content if label not in config.label_order]
    if unknown:
        problems = [
            Problem(str(path), f"no class '{label}'.{nearest(label, config.label_order)}")
            for label in unknown
        ]
        raise DataError(problems)
    language = get_language(config.language)
    phrases = [phrase for phrases in content.values() for phrase in phrases]
    normalised = [normalise(phrase, language, config.unicode) for phrase in phrases]
    return Phrases(normalised, config.phrases.remove == "anywhere")


def _spelt(phrase: str, any_capital: bool) -> str:
    """Write a phrase as an expression."""
    first, rest = re.escape(phrase[:1]), re.escape(phrase[1:])
    return f"(?i:{first}){rest}" if any_capital else first + rest


def _is_phrases(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(phrase, str) and phrase.strip() for phrase in value
    )
