"""Romanian, spelled with comma-below ș and ț."""

from __future__ import annotations

from heron.languages.language import Language

ROMANIAN = Language(
    code="ro",
    name="Romanian",
    direction="ltr",
    alphabet="aăâbcdefghiîjklmnopqrsștțuvwxyzAĂÂBCDEFGHIÎJKLMNOPQRSȘTȚUVWXYZ",
    event_markers=("[E1]", "[/E1]", "[E2]", "[/E2]"),
)
