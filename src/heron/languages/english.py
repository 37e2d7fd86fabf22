"""English, the language most of the papers' methods come from."""

from __future__ import annotations

from heron.languages.language import Language

ENGLISH = Language(
    code="en",
    name="English",
    direction="ltr",
    alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    event_markers=("[E1]", "[/E1]", "[E2]", "[/E2]"),
)
