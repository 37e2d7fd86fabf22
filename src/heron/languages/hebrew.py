"""Modern Hebrew."""

from __future__ import annotations

from heron.languages.language import Language

HEBREW = Language(
    code="he",
    name="Hebrew",
    direction="rtl",
    alphabet="אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    event_markers=("[א1]", "[/א1]", "[א2]", "[/א2]"),
)
