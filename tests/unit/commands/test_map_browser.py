"""The map's page in a browser: what a reader sees and does. Needs an installed Chromium."""

import numpy as np
import pytest

from browser import find_browser
from heron.commands.map import run as run_map
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics
from small_maps import make_records, make_run

CHROMIUM = find_browser()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs an installed Chromium"),
    pytest.mark.slow,
]

HOSTILE = "שלום </script><script>window.broken = 1</script> <img src=x onerror='broken=1'> סוף"
AREA = "(() => { const a = document.getElementById('map-points').getBoundingClientRect(); "
AREA += "return [a.left, a.top, a.width, a.height]; })()"
DETAILS = "document.getElementById('map-details').innerText"
COUNT = "document.getElementById('map-count').textContent"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("map")
    texts = [HOSTILE, *(f"משפט מספר {number}" for number in range(14))]
    folder = make_run(place, texts=texts)
    make_records(place / "other", [f"p{row}" for row in range(60)], seed=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heron.reports.map.save_figure", lambda figure, form: b"")
        run_map([f"run={folder}", f"with={place / 'other'}"])
    return folder


@pytest.fixture
def opened(page, folder):
    page.errors.clear()
    page.open(folder / "map-with-other" / "map.html")
    page.settle()
    yield page
    assert page.errors == []


def _place(opened, folder, row):
    """Where a row's point is on the screen, by the axes that the page draws."""
    left, top, width, height = opened.run(AREA)
    found = statistics(read_dynamics(folder))
    widest = max(0.5, float(found.variability_N.max()))
    x = (found.variability_N[row] + 0.012) / (widest + 0.024)
    y = (1.02 - found.confidence_N[row]) / 1.04
    return left + 52 + x * (width - 64), top + 12 + y * (height - 54)


def _click(opened, x, y):
    opened.mouse("mouseMoved", x, y)
    opened.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    opened.mouse("mouseReleased", x, y, button="left", clickCount=1)


def _drag(opened, start, end):
    opened.mouse("mouseMoved", *start)
    opened.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
    for share in (0.5, 1.0):
        place = [a + share * (b - a) for a, b in zip(start, end, strict=True)]
        opened.mouse("mouseMoved", *place, button="left", buttons=1)
    opened.mouse("mouseReleased", *end, button="left", clickCount=1)
    opened.settle()


def test_pointing_at_a_point_shows_its_row_from_right_to_left(opened, folder):
    opened.mouse("mouseMoved", *_place(opened, folder, 17))
    shown = opened.run(DETAILS)
    assert shown.splitlines()[0] == "p17"
    assert "משפט מספר 3" in shown
    assert "label neutral" in shown
    direction = "getComputedStyle(document.querySelector('#map-details p:nth-child(2)')).direction"
    assert opened.run(direction) == "rtl"


def test_markup_in_a_text_is_shown_never_run(opened, folder):
    opened.mouse("mouseMoved", *_place(opened, folder, 2))
    assert HOSTILE in opened.run(DETAILS)
    assert opened.run("typeof window.broken") == "undefined"


def test_a_rectangle_chooses_the_points_in_it_and_exports_their_guids(opened, folder):
    left, top, width, height = opened.run(AREA)
    middle = left + width / 2, top + height / 2
    _drag(opened, (left + 53, top + 13), middle)
    opened.run(
        "URL.createObjectURL = (blob) => { window.saved = blob; return 'data:,'; };"
        "HTMLAnchorElement.prototype.click = function () { window.named = this.download; }"
    )
    opened.run("document.querySelector('#map-export [name=txt]').click()")
    guids = opened.run("saved.text()").split()
    found = statistics(read_dynamics(folder))
    places = [_place(opened, folder, row) for row in range(60)]
    inside = [row for row, (x, y) in enumerate(places) if x <= middle[0] and y <= middle[1]]
    assert guids == [found.guids[row] for row in inside]
    assert opened.run(COUNT) == f"{len(inside)} of 60 chosen"
    assert opened.run("named") == "guids.txt"
    rows = opened.run("document.querySelectorAll('#map-rows tbody tr').length")
    assert rows == min(len(inside), 40)


def test_search_chooses_rows_and_clear_gives_all_back(opened):
    opened.run(
        "(() => { const box = document.querySelector('[name=search]'); box.value = 'מספר 13';"
        " box.dispatchEvent(new Event('input')); })()"
    )
    opened.run("new Promise(done => setTimeout(done, 200))")
    opened.settle()
    assert opened.run(COUNT) == "4 of 60 chosen"
    opened.run("document.querySelector('#map-rows tbody tr:nth-child(2) button').click()")
    assert opened.run(DETAILS).split("\n\n")[:2] == ["p57", "משפט מספר 13"]
    opened.run("document.querySelector('[name=clear]').click()")
    opened.settle()
    assert opened.run(COUNT) == "all 60 examples"


def test_every_colouring_draws_and_legend_entries_hide_their_points(opened):
    names = opened.run("[...document.querySelector('[name=colour]').options].map((o) => o.value)")
    assert {"correctness", "label", "predicted", "group", "genre", "words", "loss"} <= set(names)
    for name in names:
        opened.run(
            f"(() => {{ const s = document.querySelector('[name=colour]'); s.value = '{name}';"
            " s.dispatchEvent(new Event('change')); })()"
        )
        opened.settle()
    opened.run(
        "(() => { const s = document.querySelector('[name=colour]'); s.value = 'label';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    opened.run("document.querySelector('.map-legend button').click()")
    opened.settle()
    assert opened.run(COUNT) == "40 of 60 chosen"


def test_a_choice_is_kept_when_the_other_runs_positions_are_shown(opened):
    left, top, width, height = opened.run(AREA)
    _drag(opened, (left + 53, top + 13), (left + width / 2, top + height / 2))
    before = opened.run(COUNT)
    opened.run("document.querySelectorAll('[name=run]')[1].click()")
    opened.run("document.querySelector('[name=arrows]').click()")
    opened.settle()
    assert opened.run(COUNT) == before != "all 60 examples"
    moved = opened.run("document.querySelectorAll('#map-movers tbody tr').length")
    assert moved == min(30, int(before.split()[0]))


def test_the_keyboard_walks_through_points_and_clears(opened):
    opened.run("document.getElementById('map-points').focus()")
    seen = set()
    for key in ["ArrowRight"] * 3 + ["ArrowUp"] * 3 + ["ArrowLeft"] * 2 + ["ArrowDown"]:
        opened.key(key)
        seen.add(opened.run(DETAILS).splitlines()[0])
    assert len(seen) >= 5
    opened.key("Escape")
    assert "Point at the map" in opened.run(DETAILS)


def test_a_link_opens_the_view_that_was_copied(opened, folder):
    link = "#colour=label&search=%D7%9E%D7%A1%D7%A4%D7%A8&box=0,0.6,0,0.5&guid=p9&run=1"
    opened.run(f"location.hash = {link!r}")
    opened.settle()
    assert opened.run("document.querySelector('[name=colour]').value") == "label"
    assert opened.run("document.querySelector('[name=run]:checked').value") == "1"
    assert opened.run(DETAILS).splitlines()[0] == "p9"
    low = statistics(read_dynamics(folder)).confidence_N <= 0.5
    expected = int(np.count_nonzero(low[4:]))  # the first text has no number
    assert opened.run(COUNT) == f"{expected} of 60 chosen"


@pytest.mark.parametrize("dark", [False, True])
def test_points_stand_out_from_the_background_in_light_and_dark(page, folder, dark):
    page.open(folder / "map-with-other" / "map.html", dark=dark)
    page.settle()
    contrasts = page.run(
        """(() => {
          const light = (rgb) => rgb.map((v) => v / 255).map((v) =>
            v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const colours = HeronDraw.theme();
          const ground = light(HeronDraw.channels(colours.shade));
          const data = JSON.parse(document.getElementById("map-data").textContent);
          const on = (share) => HeronDraw.onScale(data.scale, share, colours.range);
          return [0, 0.5, 1].map(on).map(light).map((v) =>
            (Math.max(v, ground) + 0.05) / (Math.min(v, ground) + 0.05));
        })()"""
    )
    assert min(contrasts) > 2
    assert page.errors == []


def test_a_dark_page_is_printed_in_light_colours(page, folder):
    page.open(folder / "map-with-other" / "map.html", dark=True)
    page.settle()
    dark = "HeronDraw.theme().dark"
    assert page.run(dark) is True
    page.run("dispatchEvent(new Event('beforeprint'))")
    corner = (
        "[...document.getElementById('map-points').getContext('2d').getImageData(3, 3, 1, 1).data]"
    )
    assert min(page.run(corner)) > 200
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(dark) is True
    assert page.errors == []
