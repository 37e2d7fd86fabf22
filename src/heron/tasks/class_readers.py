"""Rows of tables of the tasks with classes: a marked event pair, two texts, or one.

Linking phrases that reveal the label of two texts can be removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from heron.base.errors import DataError
from heron.data.config import PHRASES, DataConfig
from heron.data.markers import MarkerError, Markers, event_markers, parse_marked
from heron.data.rows import Format, Reader, RowReader, Texts, open_table
from heron.languages import get_language
from heron.languages.unicode import normalise

_AFTER_START = re.compile(r"^[\s,;:]+")
_MARK_BEFORE_MARK = re.compile(r"\s*[,;:](?=\s*[,.;:!?])")
_SPACE_BEFORE_MARK = re.compile(r"\s+([,.;:!?])")


def marked_text(reader: RowReader, row: Mapping[str, Any], line: int, markers: Markers) -> Texts:
    """Read one row: the text without markers, and the spans of both events."""
    text = reader.text(row, line, reader.config.columns.text)
    if not text:
        return "", None, ()
    try:
        plain, spans = parse_marked(text, markers)
    except MarkerError as error:
        start_1, end_1, start_2, end_2 = markers
        shown = text if len(text) <= 60 else f"{text[:59]}…"
        form = f"mark two events: {start_1} … {end_1} … {start_2} … {end_2}"
        reader.problem(line, f"{error}: '{shown}'", (form, "see data.language and data.markers"))
        return "", None, ()
    return plain, None, spans


def one_text(reader: RowReader, row: Mapping[str, Any], line: int) -> Texts:
    """Read one row: its text, in the case that `data.normalize_case` asks for."""
    text = reader.text(row, line, reader.config.columns.text)
    return text.lower() if reader.config.normalize_case == "lower" else text, None, ()


def open_pairs(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with two texts in each row; `files` may hold linking phrases.

    Raises:
        DataError: the list of phrases cannot be read.
    """
    phrases = read_phrases(files[PHRASES], config) if PHRASES in files else None
    return open_table(partial(pair_texts, phrases=phrases), config, files)


def pair_texts(
    reader: RowReader, row: Mapping[str, Any], line: int, phrases: Phrases | None
) -> Texts:
    """Read the two texts of a row; removes phrases from the second, then changes the case.

    `data.normalize_case=lower` lower-cases both texts, `capitalize` capitalizes the second.
    """
    columns, case = reader.config.columns, reader.config.normalize_case
    second = str(columns.text_pair)
    text, text_pair = reader.text(row, line, columns.text), reader.text(row, line, second)
    if text_pair and phrases:
        text_pair = phrases.remove(text_pair)
        if not text_pair:
            what = f"'{second}' consists of linking phrases only"
            reader.problem(line, what, ("remove the row", "data.phrases=none"))
    if case == "lower":
        return text.lower(), text_pair.lower(), ()
    return text, text_pair.capitalize() if case == "capitalize" else text_pair, ()


class Phrases:
    """Removes phrases from texts: whole words only, the longest phrase first.

    Args:
        phrases: the phrases.
        anywhere: True removes all occurrences and ignores the case of a phrase's first letter.
            False removes one phrase at the beginning of the text, spelt exactly as listed.

    Source: RoNLI paper, section 3, and the extractor of its repository.
    Deviates: the extractor lower-cases all but the first letter of the remaining text; heron only
    capitalizes the first letter (`data.normalize_case=capitalize` lower-cases the rest, too).
    The extractor matches inside longer words, and only with the listed case. So phrases are
    left in the released texts: 18 of the 3,059 validation pairs contain one as listed, 136 one
    whose first letter may have the other case.
    """

    def __init__(self, phrases: Iterable[str], anywhere: bool):
        longest_first = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
        either = "|".join(_pattern(phrase, anywhere) for phrase in longest_first)
        # (?!) never matches.
        self.pattern = re.compile(rf"(?<!\w)(?:{either})(?!\w)" if either else r"(?!)")
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
            rest, inside = self.pattern.subn(" ", rest)
            if inside:
                rest = _MARK_BEFORE_MARK.sub("", " ".join(rest.split()))
                rest = _AFTER_START.sub("", _SPACE_BEFORE_MARK.sub(r"\1", rest))
        if not any(character.isalnum() for character in rest):
            return ""
        # A lower-case first letter would reveal that a phrase was removed.
        return rest[:1].upper() + rest[1:] if rest != text.strip() else text


def read_phrases(path: Path, config: DataConfig) -> Phrases:
    """Read `{class: [phrase, ...]}`; phrases are normalised like the texts.

    Raises:
        DataError: the file cannot be read, or has another form.
    """
    from pydantic import TypeAdapter  # start-up time

    try:
        content = TypeAdapter(dict[str, list[str]]).validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        shape = 'write {"class": ["phrase", ...], ...}, in UTF-8'
        raise DataError(str(path), f"cannot be read: {error}", shape) from error
    language = get_language(config.language)
    phrases = [phrase for phrases in content.values() for phrase in phrases if phrase.strip()]
    normalised = [normalise(phrase, language, config.unicode) for phrase in phrases]
    return Phrases(normalised, config.phrases == "anywhere")


def _pattern(phrase: str, any_case: bool) -> str:
    """Write a phrase as a regular expression; `any_case` ignores the case of its first letter."""
    first, rest = re.escape(phrase[:1]), re.escape(phrase[1:])
    return f"(?i:{first}){rest}" if any_case else first + rest


MARKED_TABLE = Format(
    lambda config, files: open_table(
        partial(marked_text, markers=event_markers(config)), config, files
    )
)
PAIR_TABLE = Format(open_pairs)
TEXT_TABLE = Format(partial(open_table, one_text))
