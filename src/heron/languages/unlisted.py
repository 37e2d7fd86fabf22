"""Languages without a file here, described by the Unicode CLDR, as babel has it.

Such a language has a name, letters and a direction, but no word lists: analyses of negation and of
question words leave it out.
"""

import unicodedata
from functools import cache

from heron.languages.language import Language

# What CLDR calls a script may be several of Unicode's.
_SEVERAL = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Hrkt": ("Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}
_ANY_SCRIPT = "Zyyy"


def canonical(code: str) -> str:
    """Reduce an ISO 639 code to its shortest form, `kor` to `ko`; a script stays (`sr-Latn`)."""
    from babel.core import get_global

    language, *rest = code.replace("_", "-").split("-")
    return "-".join([get_global("language_aliases").get(language, language), *rest])


def name_and_script(code: str) -> tuple[str, str]:
    """Find a language's English name and the ISO 15924 code of its script.

    A code that CLDR does not know is its own name, in `Zyyy`, any script.
    """
    from babel import Locale
    from babel.core import get_global

    language, _, own = code.partition("-")
    likely = get_global("likely_subtags").get(language, "").split("_")
    name = Locale("en").languages.get(language, language)
    return name, own or (likely[1] if likely[1:] else _ANY_SCRIPT)


@cache
def unlisted(code: str) -> Language | None:
    """Describe the language of an ISO 639 code, which may end in a script (`ko`, `sr-Latn`).

    Returns:
        Its English name, direction and all letters of its script. None for an unknown code of two
        letters, or what is no code; an unknown code of three letters, as some of ISO 639-3, is its
        own name, in any script.
    """
    language = code.partition("-")[0]
    name, script = name_and_script(code)
    is_code = language.isascii() and language.isalpha() and language.islower()
    is_known = name != language or script != _ANY_SCRIPT or len(language) == 3
    alphabet = letters(script) if is_code and is_known else ""
    return Language(code, name, direction(alphabet), alphabet) if alphabet else None


@cache
def letters(script: str) -> str:
    """List all letters of a script by its ISO 15924 code, `Geor`; empty where there is none."""
    import regex

    names = "".join(rf"\p{{scx={name}}}" for name in _SEVERAL.get(script, (script,)))
    wanted = r"\p{L}" if script == _ANY_SCRIPT else rf"[\p{{L}}&&[{names}]]"
    characters = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x32400)]))
    try:
        return "".join(regex.findall(wanted, characters, regex.VERSION1))
    except regex.error:
        return ""


def direction(alphabet: str) -> str:
    """Tell `rtl` or `ltr` by a script's letters."""
    right = unicodedata.bidirectional(alphabet[-1:] or "a") in ("R", "AL")
    return "rtl" if right else "ltr"
