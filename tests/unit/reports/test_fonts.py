"""Figures show names in every script that an installed font has, and say which one has none."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.figure import Figure

from heron.reports import fonts
from heron.reports.figures import png

pytestmark = [pytest.mark.usefixtures("drawn_figures"), pytest.mark.filterwarnings("error")]
ETHIOPIC = "አማርኛ"


@pytest.fixture
def installed(monkeypatch):
    """Install only Matplotlib's own fonts, and those that the test adds to the list."""
    own = Path(matplotlib.get_data_path())
    bundled = [
        font
        for font in font_manager.fontManager.ttflist
        if Path(font.fname).is_relative_to(own) and "DejaVu" in font.name
    ]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", bundled)
    paths: list[str] = []
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: paths)
    fonts.find_families.cache_clear()
    yield paths
    fonts.find_families.cache_clear()


def make_font(path: Path, family: str, letters: str) -> str:
    """Write a font whose letters are all a square."""
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 700), (500, 700), (500, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", *(f"u{ord(letter):X}" for letter in letters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(x): name for x, name in zip(letters, names[1:], strict=True)})
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 100)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return str(path)


def figure_of(*names: str) -> Figure:
    figure = Figure(layout="constrained")
    figure.subplots().set_xticks(range(len(names)), names)
    return figure


def test_a_font_that_was_installed_since_is_used_for_the_letters_it_has(installed, tmp_path):
    without = png(figure_of(ETHIOPIC, "bun"))
    fonts.find_families.cache_clear()
    installed.append(make_font(tmp_path / "other.ttf", "A Serif", ETHIOPIC))
    installed.append(make_font(tmp_path / "own.ttf", "Plain Sans Ethiopic", ETHIOPIC))
    assert fonts.find_families(frozenset(ETHIOPIC + "bun טוב")) == ("Plain Sans Ethiopic",)
    assert png(figure_of(ETHIOPIC, "bun")) != without


def test_a_script_without_a_font_is_one_warning_with_the_package(installed, capsys):
    for _ in range(2):
        png(figure_of(ETHIOPIC, "ខ្មែរ", "中文"))
    (line,) = capsys.readouterr().err.splitlines()
    for word in ("ETHIOPIC", "KHMER", "fonts-noto-core", "fonts-noto-cjk"):
        assert word in line


def test_letters_of_matplotlibs_own_font_need_no_search(installed, monkeypatch):
    monkeypatch.setattr(font_manager, "findSystemFonts", pytest.fail)
    assert fonts.find_families(frozenset("bun ș שלום عربي\n\u200f")) == ()
