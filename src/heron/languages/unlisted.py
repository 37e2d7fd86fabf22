"""Tags and names of languages, and those without a file here, by the Unicode CLDR in babel.

Such a language has a name, letters and a direction, but no word lists: analyses of negation and of
question words leave it out.
"""

import re
import unicodedata
from functools import cache

from heron.languages.language import UNDETERMINED, Language

# A tag of BCP 47: a language, perhaps a script, a region and variants (`ca-valencia`), which are
# left out. FLORES writes `ron_Latn`.
_TAG = re.compile(
    r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?:[-_](?:[a-z\d]{5,8}|\d\w{3}))*",
    re.IGNORECASE,
)
# What CLDR calls a script may be several of Unicode's.
_SEVERAL = {
    "Jpan": ("Hani", "Hira", "Kana"),
    "Hrkt": ("Hira", "Kana"),
    "Kore": ("Hang", "Hani"),
    "Hans": ("Hani",),
    "Hant": ("Hani",),
}
_ANY_SCRIPT = "Zyyy"


def canonical(tag: str) -> str:
    """Reduce a tag to its language, and its script where the language has another one by default.

    `kor` is `ko`, `heb_Hebr` and `he-IL` are `he`, `zh-TW` is `zh-Hant`, `sh` is `sr-Latn`. What is
    no tag is unchanged.

    Source: CLDR's aliases and likely subtags (UTS 35, part 1).
    """
    from babel.core import get_global

    parts = _TAG.fullmatch(tag)
    if parts is None:
        return tag

    language, script, region = parts.groups("")
    language = language.lower()
    alias = _TAG.fullmatch(get_global("language_aliases").get(language, ""))
    if alias is not None:  # of some it is a script or a region: `sr_Latn`, `fa_AF`
        language, own_script, own_region = alias.groups("")
        script = script or own_script
        region = region or own_region

    script = script.title() or _likely_script(language, region.upper())
    default = _likely_script(language)
    if script in ("", default, *_SEVERAL.get(default, ())):
        return language
    return f"{language}-{script}"


def _likely_script(language: str, region: str = "") -> str:
    """Find the script in which a language is most often written, in a region or anywhere."""
    from babel.core import get_global

    likely = get_global("likely_subtags")
    subtags = likely.get(f"{language}_{region}") or likely.get(language, "")
    _, _, rest = subtags.partition("_")
    return rest.partition("_")[0]


@cache
def code_of(name: str) -> str | None:
    """Find a language's code by its English or its own name, in any case; None without one."""
    from babel import Locale
    from babel.localedata import locale_identifiers

    wanted = name.casefold()
    for code, english in Locale("en").languages.items():
        if english.casefold() == wanted:
            return canonical(code)

    for code in locale_identifiers():
        if "_" not in code and Locale(code).languages.get(code, code).casefold() == wanted:
            return canonical(code)
    return None


def name_and_script(code: str) -> tuple[str, str]:
    """Find a language's English name and the ISO 15924 code of its script.

    A code that CLDR does not know is its own name, in `Zyyy`, any script.
    """
    from babel import Locale

    language, _, script = code.partition("-")
    name = Locale("en").languages.get(language, language)
    return name, script or _likely_script(language) or _ANY_SCRIPT


@cache
def unlisted(code: str) -> Language | None:
    """Describe the language of an ISO 639 code, which may end in a script (`ko`, `sr-Latn`).

    Returns:
        Its English name, direction and all letters of its script. None for an unknown code of two
        letters, or what is no code; an unknown code of three letters, as some of ISO 639-3, is its
        own name, in any script. `und` is written in any script, too.
    """
    if code == UNDETERMINED:
        return Language(code, "undetermined", "auto", letters(_ANY_SCRIPT))
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
