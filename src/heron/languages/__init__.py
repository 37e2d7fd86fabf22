"""What heron must know of a language: script, direction, and which Unicode variants are one."""

from __future__ import annotations

from heron.base.errors import ConfigError, nearest
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.language import Language
from heron.languages.romanian import ROMANIAN

LANGUAGES = {language.code: language for language in (HEBREW, ROMANIAN, ENGLISH)}


def get_language(code: str) -> Language:
    """Look a language up by its ISO 639-1 code.

    Raises:
        ConfigError: heron has no such language; the message names those it has.
    """
    if code not in LANGUAGES:
        raise ConfigError(f"data.language={code}: unknown language.{nearest(code, LANGUAGES)}")
    return LANGUAGES[code]


__all__ = ["ENGLISH", "HEBREW", "LANGUAGES", "ROMANIAN", "Language", "get_language"]
