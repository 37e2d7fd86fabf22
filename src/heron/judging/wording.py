"""Look up what raters read on a form."""

from __future__ import annotations

from heron.base.errors import ConfigError
from heron.languages import LANGUAGES
from heron.languages.wording import Wording


def get_wording(code: str) -> Wording:
    """Look the words of a language up.

    Raises:
        ConfigError: there are none.
    """
    language = LANGUAGES.find(code)
    if language is None or language.wording is None:
        known = [name for name in LANGUAGES if LANGUAGES[name].wording]
        raise ConfigError(
            f"wording={code}: no wording of forms in this language; choose {', '.join(known)}, or "
            "give its Language a wording (experiments/adding/language.md)"
        )
    return language.wording
