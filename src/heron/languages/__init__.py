"""Languages: script, Unicode variants, word lists and the wording of forms, one file each."""

from functools import partial
from importlib import import_module

from heron.base.errors import ConfigError
from heron.base.registry import Registry
from heron.languages.language import Language


class Languages(Registry[Language]):
    """Described languages by code, and any other language of ISO 639 without its word lists."""

    def __getitem__(self, name: str) -> Language:
        """Look a language up by its ISO 639 code; a ConfigError where there is no such code."""
        language = self.find(name)
        if language is None:
            what = "no ISO 639 code that Unicode's CLDR knows: `he` or `heb` for Hebrew, `sr-Latn`"
            raise ConfigError(f"data.language={name}: {what}")
        return language

    def find(self, name: str) -> Language | None:
        """Look a language up; None where there is no such code."""
        if super().__contains__(name):
            return super().__getitem__(name)
        from heron.languages.unlisted import canonical, unlisted  # babel: start-up time

        code = canonical(name)
        return super().__getitem__(code) if super().__contains__(code) else unlisted(code)

    def __contains__(self, name: object) -> bool:
        """Tell whether a language has this code."""
        return self.find(str(name)) is not None


LANGUAGES = Languages("language", key="data.language")


def _described(name: str) -> Language:
    language: Language = getattr(import_module(f"heron.languages.{name}"), name.upper())
    return language


for _code, _name in {"he": "hebrew", "ro": "romanian", "en": "english"}.items():
    LANGUAGES.late(_code)(partial(_described, _name))


def get_language(code: str) -> Language:
    """Look a language up by its ISO 639 code; a ConfigError names the nearest ones."""
    return LANGUAGES[code]


__all__ = ["LANGUAGES", "Language", "get_language"]
