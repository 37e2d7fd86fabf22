"""Languages: script, Unicode variants, word lists and the wording of forms, one file each."""

from heron.base.registry import Registry
from heron.languages.language import Language

LANGUAGES: Registry[Language] = Registry(
    "language",
    {
        "he": "heron.languages.hebrew:HEBREW",
        "ro": "heron.languages.romanian:ROMANIAN",
        "en": "heron.languages.english:ENGLISH",
    },
    key="data.language",
)


def get_language(code: str) -> Language:
    """Look a language up by its ISO 639-1 code; a ConfigError names the nearest ones."""
    return LANGUAGES[code]


__all__ = ["LANGUAGES", "Language", "get_language"]
