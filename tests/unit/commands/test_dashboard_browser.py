"""The dashboard in a browser: what a reader sees and does. Needs an installed Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser, find_browser
from heron_tools.dashboard.page import write_dashboard
from made_up_sweeps import make_sweep

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]
ROWS = "[...document.querySelectorAll('#dash-rows tr')].map((row) => Number(row.dataset.run))"
COUNT = "document.getElementById('dash-count').textContent"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of 207 runs."""
    return write_dashboard(make_sweep(tmp_path_factory.mktemp("sweep"), seeds=23))


@pytest.fixture
def opened(page: Browser, path: Path) -> Iterator[Browser]:
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


def test_table_is_sorted_by_the_watched_score_and_by_any_column_that_is_clicked(
    opened: Browser,
) -> None:
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


@pytest.mark.parametrize("width", [1400, 800, 400])
def test_no_word_of_a_state_is_broken(opened: Browser, path: Path, width: int) -> None:
    opened.open(path, width=width)
    opened.settle()
    states = "[...document.querySelectorAll('.dash-state')]"
    assert set(opened.run(f"{states}.map((e) => e.getClientRects().length)")) == {1}


def test_filter_leaves_the_rows_lines_and_strips_that_fit(opened: Browser) -> None:
    _type(opened, "head=ess optim.lr=1e-4")
    assert opened.run(COUNT) == "23 of 207 runs"
    inside = "document.querySelectorAll('.dash-line:not(.dash-out)').length"
    assert opened.run(inside) == 23
    assert opened.run("document.querySelectorAll('.dash-strip').length") == 1
    assert opened.run("document.querySelectorAll('.dash-dot').length") == 23
    opened.run("document.querySelector('[name=clear]').click()")
    assert opened.run(COUNT) == "all 207 runs"


def test_dragging_along_an_axis_keeps_what_lies_there_and_a_click_lets_go(opened: Browser) -> None:
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


def test_choosing_a_run_draws_its_curve(opened: Browser) -> None:
    count = "document.querySelectorAll('.dash-curve').length"
    assert opened.run(count) == 5
    opened.run("document.getElementById('dash-none').click()")
    assert opened.run(count) == 0
    opened.run("document.querySelectorAll('#dash-rows input')[7].click()")
    assert opened.run(count) == 1
    name = "document.querySelectorAll('#dash-rows tr')[7].cells[1].textContent"
    legend = "document.querySelector('#dash-legend bdi').textContent"
    assert opened.run(legend) == opened.run(name)
    opened.run("document.getElementById('dash-shown').click()")
    assert opened.run(count) == 24


def test_markup_is_shown_never_run_and_hebrew_keeps_its_direction(opened: Browser) -> None:
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


def test_two_hundred_runs_answer_at_once(opened: Browser) -> None:
    took = opened.run(
        "(() => { const start = performance.now();"
        " for (let i = 0; i < 5; i++) { document.querySelector('[name=clear]').click();"
        " document.querySelectorAll('#dash-heads button')[i].click(); document.body.offsetHeight; }"
        " return (performance.now() - start) / 5; })()"
    )
    assert took < 1000  # milliseconds; a tenth of it on a free machine


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1400, 420])
def test_page_fits_its_window_in_light_and_dark(
    page: Browser, path: Path, dark: bool, width: int
) -> None:
    page.errors.clear()
    page.open(path, width=width, dark=dark)
    page.settle()
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


def test_every_control_can_be_reached_by_keyboard_and_has_a_name(opened: Browser) -> None:
    unnamed = opened.run(
        "[...document.querySelectorAll('button, input, select, a')].filter((each) => !each.hidden)"
        ".filter((each) => each.tabIndex < 0 || !(each.textContent || each.ariaLabel"
        " || each.labels?.length)).length"
    )
    assert unnamed == 0
    opened.run("document.querySelectorAll('#dash-rows input')[0].focus()")
    assert opened.run("document.querySelectorAll('.dash-line.dash-hot').length") == 1
