"""Fonts for the names in a figure: Matplotlib's own font has no Ethiopic, Thai or Chinese."""

import logging
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

from heron.base.terminal import say

_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
_PLACEHOLDER = "Last Resort"  # has a box for every letter


@contextmanager
def with_fonts(figure: Figure) -> Iterator[None]:
    """Draw a figure in the block with fonts that have its letters.

    A script without an installed font is warned of once, by the Debian package that has one.
    """
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    letters = {letter for text in texts for letter in text.get_text()}
    families = find_families(frozenset(letters))
    if families:
        for text in texts:
            text.set_fontfamily([*matplotlib.rcParams["font.family"], *families])

    # Fonts of some scripts have no bold letters, which a title takes as they are.
    logging.getLogger(font_manager.__name__).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


@cache
def find_families(letters: frozenset[str]) -> tuple[str, ...]:
    """Choose installed fonts, best first, for the letters that Matplotlib's own font lacks."""
    shown = {letter for letter in letters if letter.isprintable() and not letter.isspace()}
    left = shown - _covered(font_manager.findfont("sans"), shown)
    if not left:
        return ()

    _add_new_fonts()
    families = []
    without_font = set()
    while left:
        letter = min(left)
        family, covered = _font_for(letter, left)
        if family:
            families.append(family)
            left -= covered
        else:
            without_font.add(letter)
            left.remove(letter)

    if without_font:
        _say_missing(without_font)
    return tuple(families)


def _font_for(letter: str, letters: set[str]) -> tuple[str, set[str]]:
    """Find a font that has a letter, by preference one of the letter's script without serifs.

    Returns:
        Its family, empty where there is none, and those of the letters that it has.
    """
    script = _script(letter).title().replace("Cjk", "CJK")

    def distance(font: font_manager.FontEntry) -> tuple[bool, bool, bool, str]:
        is_plain = font.style == "normal" and str(font.weight) in ("400", "normal", "regular")
        return script not in font.name, "Sans" not in font.name, not is_plain, font.name

    for font in sorted(font_manager.fontManager.ttflist, key=distance):
        if not font.name.startswith(_PLACEHOLDER):
            covered = _covered(font.fname, letters)
            if letter in covered:
                return font.name, covered

    return "", set()


def _covered(path: str, letters: set[str]) -> set[str]:
    """List the letters that a font file has; none where it cannot be read."""
    with suppress(OSError, RuntimeError):
        codes = font_manager.get_font(path).get_charmap()
        return {letter for letter in letters if ord(letter) in codes}
    return set()


def _add_new_fonts() -> None:
    """Add fonts that were installed after Matplotlib stored its list of them."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            with suppress(OSError, RuntimeError):
                font_manager.fontManager.addfont(path)


def _script(letter: str) -> str:
    """Name a letter's script by the first word of its Unicode name; East Asian ones are `CJK`."""
    script = unicodedata.name(letter, "UNKNOWN").partition(" ")[0]
    return "CJK" if script in _EAST_ASIAN else script


def _say_missing(letters: set[str]) -> None:
    """Name the scripts that figures show as boxes, and the package with a font of them."""
    scripts = sorted({_script(letter) for letter in letters})
    packages = {"fonts-noto-cjk" if name == "CJK" else "fonts-noto-core" for name in scripts}
    names = ", ".join(scripts)
    say(
        f"figures: no installed font has {names} letters ({''.join(sorted(letters)[:5])}); Debian "
        f"and Ubuntu have them in {' '.join(sorted(packages))}",
        about=f"fonts of {names}",
        of_result=False,
    )
