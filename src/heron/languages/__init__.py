"""Languages: script, Unicode variants, word lists and the wording of forms, one file each."""

from functools import partial
from importlib import import_module
from typing import Any

from heron.base.errors import ConfigError
from heron.base.registry import Registry
from heron.config.constraints import OneOf
from heron.languages.language import Language

_UNKNOWN = "no language that Unicode's CLDR knows: `he`, `heb`, `Hebrew` or `sr-Latn`, for example"


class Languages(Registry[Language]):
    """Described languages by code, and any other language of ISO 639 without its word lists."""

    def __getitem__(self, name: str) -> Language:
        """Look a language up as `find` does; a ConfigError where there is none."""
        language = self.find(name)
        if language is None:
            raise ConfigError(f"data.language={name}: {_UNKNOWN}")
        return language

    def find(self, name: str) -> Language | None:
        """Look a language up by its tag (`he`, `heb_Hebr`, `he-IL`) or name; None without one."""
        if super().__contains__(name):
            return super().__getitem__(name)
        from heron.languages.unlisted import canonical, code_of, unlisted  # babel: start-up time

        code = canonical(name)
        if super().__contains__(code):
            return super().__getitem__(code)

        language = unlisted(code)
        if language is None:
            code_of_name = code_of(name)
            language = self.find(code_of_name) if code_of_name else None
        return language

    def __contains__(self, name: object) -> bool:
        """Tell whether a language has this tag or name."""
        return self.find(str(name)) is not None


LANGUAGES = Languages("language", key="data.language")


class LanguageCode(OneOf):
    """A language by its tag or name, read as its shortest code."""

    def __init__(self) -> None:
        super().__init__(registry=LANGUAGES)

    def check(self, value: Any) -> Any:
        """Allow None, too, for `str | None`."""
        if value is None:
            return None
        language = LANGUAGES.find(value)
        if language is None:
            raise ValueError(_UNKNOWN)
        return language.code


def _described(name: str) -> Language:
    language: Language = getattr(import_module(f"heron.languages.{name}"), name.upper())
    return language


for _code, _name in {"he": "hebrew", "ro": "romanian", "en": "english"}.items():
    LANGUAGES.late(_code)(partial(_described, _name))


def get_language(code: str) -> Language:
    """Look a language up by its tag or name; a ConfigError where there is none."""
    return LANGUAGES[code]


__all__ = ["LANGUAGES", "Language", "LanguageCode", "get_language"]
