"""`data.phrases`: linking phrases that reveal a label are removed from the second text."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pydantic import TypeAdapter

from heron.base.errors import DataError
from heron.data.config import DataConfig
from heron.languages import get_language
from heron.languages.unicode import normalise

_AFTER_START = re.compile(r"^[\s,;:]+")
_MARK_BEFORE_MARK = re.compile(r"\s*[,;:](?=\s*[,.;:!?])")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:!?])")


def remover(path: Path, config: DataConfig) -> Callable[[str], str]:
    """Make the function that removes the phrases of a file; see `read_phrases`."""
    return read_phrases(path, config).remove


class Phrases:
    """Removes phrases from texts: whole words only, the longest phrase first.

    Args:
        phrases: the phrases.
        anywhere: True removes all occurrences and ignores the case of a phrase's first letter.
            False removes one phrase at the beginning of the text, spelt exactly as listed.

    Source: RoNLI paper, section 3, and the extractor of its repository.
    Deviates: the extractor lower-cases all but the first letter of the remaining text; heron only
    capitalizes the first letter (`data.normalize_case=capitalize` lower-cases the rest, too).
    The extractor finds phrases in the listed case only, also inside longer words, and removes them
    only at the start of the sentence. So the released texts still contain some: 18 of the 3,059
    validation pairs contain one as listed, 136 one whose first letter may have the other case.
    """

    def __init__(self, phrases: Iterable[str], anywhere: bool):
        longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
        any_phrase = "|".join(_pattern(phrase, anywhere) for phrase in longest_first)
        # (?!) never matches.
        self.pattern = re.compile(rf"(?<!\w)(?:{any_phrase})(?!\w)" if any_phrase else r"(?!)")
        self.anywhere = anywhere

    def remove(self, text: str) -> str:
        """Remove phrases and capitalize the rest.

        Returns `text` unchanged if it contains no phrase, and an empty text if it contains nothing
        else.
        """
        rest = text.strip()
        start = self.pattern.match(rest)
        if start:
            rest = _AFTER_START.sub("", rest[start.end() :])
        if self.anywhere:
            rest, removed = self.pattern.subn(" ", rest)
            if removed:
                rest = " ".join(rest.split())
                rest = _MARK_BEFORE_MARK.sub("", rest)
                rest = _SPACE_BEFORE_MARK.sub(r"\1", rest)
                rest = _AFTER_START.sub("", rest)
        if not any(character.isalnum() for character in rest):
            return ""
        if rest == text.strip():
            return text
        # A lower-case first letter would reveal that a phrase was removed.
        return rest[:1].upper() + rest[1:]


def read_phrases(path: Path, config: DataConfig) -> Phrases:
    """Read `{class: [phrase, ...]}`; phrases are normalised like the texts.

    Raises:
        DataError: the file cannot be read, or has another form.
    """
    try:
        content = TypeAdapter(dict[str, list[str]]).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        shape = 'write {"class": ["phrase", ...], ...}, in UTF-8'
        raise DataError(str(path), f"cannot be read: {error}", shape) from error
    language = get_language(config.language)
    normalised = []
    for phrases in content.values():
        for phrase in phrases:
            if phrase.strip():
                normalised.append(normalise(phrase, language, config.unicode))
    return Phrases(normalised, config.phrases == "anywhere")


def _pattern(phrase: str, any_case: bool) -> str:
    """Write a phrase as a regular expression; `any_case` ignores the case of its first letter."""
    first = re.escape(phrase[:1])
    rest = re.escape(phrase[1:])
    return f"(?i:{first}){rest}" if any_case else first + rest
