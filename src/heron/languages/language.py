"""`Language`: the facts about a language that data, metrics and prompts rely on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """One language; every field is required, so that a new language forgets nothing.

    Args:
        code: ISO 639-1 code, the value of `data.language`.
        name: its English name, for tables and figures.
        direction: `rtl` or `ltr`, the direction in which it is written.
        alphabet: all letters that its own words are spelled with, lower case first where there is
            case; NFC.
        event_markers: the default strings that open and close the mention of event 1, then of
            event 2.
    """

    code: str
    name: str
    direction: str
    alphabet: str
    event_markers: tuple[str, str, str, str]
