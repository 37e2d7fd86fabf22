"""The dashboard in a browser: what a reader sees and does. Needs an installed Chromium."""

from __future__ import annotations

import pytest

from browser import Browser, find_browser
from heron_tools.dashboard.page import write_dashboard
from made_up_runs import make_sweep

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]
ROWS = "[...document.querySelectorAll('#dash-rows tr')].map((row) => Number(row.dataset.run))"
COUNT = "document.getElementById('dash-count').textContent"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Write the page of 207 runs."""
    return write_dashboard(make_sweep(tmp_path_factory.mktemp("sweep"), seeds=23))


@pytest.fixture
def opened(page, path):
    page.errors.clear()
    page.open(path)
    page.settle()
    yield page
    assert page.errors == []


def _type(page: Browser, words: str) -> None:
    page.run(
        f"(() => {{ const box = document.querySelector('[name=words]'); box.value = {words!r};"
        " box.dispatchEvent(new Event('input')); })()"
    )
    page.run("new Promise((done) => setTimeout(done, 200))")


def test_table_is_sorted_by_the_watched_score_and_by_any_column_that_is_clicked(opened):
    scores = (
        "[...document.querySelectorAll('#dash-rows tr')].map((row) => row.cells[9].textContent)"
    )
    shown = [float(text) for text in opened.run(scores) if text != "–"]
    assert len(shown) == 205
    assert shown == sorted(shown, reverse=True)
    opened.run("document.querySelectorAll('#dash-heads button')[0].click()")
    assert opened.run(ROWS) == list(range(207))
    sorted_by = "[...document.querySelectorAll('#dash-heads th')].map((h) => h.ariaSort)"
    assert opened.run(sorted_by)[1] == "ascending"


def test_dragging_along_an_axis_keeps_what_lies_there_and_a_click_lets_go(opened):
    opened.run("document.querySelector('#dash-parallel').scrollIntoView()")
    place = "(() => { const a = [...document.querySelectorAll('.dash-grip')].pop()"
    place += ".getBoundingClientRect(); return [a.left + a.width / 2, a.top, a.height]; })()"
    x, top, height = opened.run(place)
    opened.mouse("mouseMoved", x, top + 2)
    opened.mouse("mousePressed", x, top + 2, button="left", buttons=1, clickCount=1)
    opened.mouse("mouseMoved", x, top + height / 3, button="left", buttons=1)
    opened.mouse("mouseReleased", x, top + height / 3, button="left", clickCount=1)
    opened.settle()
    # Only the best setting's runs lie in the upper third.
    assert opened.run(COUNT) == "23 of 207 runs"
    x, top, height = opened.run(place)
    opened.mouse("mousePressed", x, top + 9, button="left", buttons=1, clickCount=1)
    opened.mouse("mouseReleased", x, top + 9, button="left", clickCount=1)
    opened.settle()
    assert opened.run(COUNT) == "all 207 runs"


def test_markup_is_shown_never_run_and_hebrew_keeps_its_direction(opened):
    assert opened.run("typeof window.broken") == "undefined"
    _type(opened, "state=failed")
    title = "document.querySelector('.dash-failed').title"
    assert "</script>" in opened.run(title)
    _type(opened, "עברית")
    assert opened.run(COUNT) == "69 of 207 runs"
    cell = "document.querySelector('#dash-rows tr').cells[3].firstChild"
    assert opened.run(f"{cell}.tagName") == "BDI"
    bidi = "getComputedStyle(document.querySelector('.dash-strip text')).unicodeBidi"
    assert opened.run(bidi) == "plaintext"


def test_every_control_can_be_reached_by_keyboard_and_has_a_name(opened):
    unnamed = opened.run(
        "[...document.querySelectorAll('button, input, select, a')].filter((each) => !each.hidden)"
        ".filter((each) => each.tabIndex < 0 || !(each.textContent || each.ariaLabel"
        " || each.labels?.length)).length"
    )
    assert unnamed == 0
    opened.run("document.querySelectorAll('#dash-rows input')[0].focus()")
    assert opened.run("document.querySelectorAll('.dash-line.dash-hot').length") == 1
