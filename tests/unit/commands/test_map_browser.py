"""The map's page in a browser: what a reader sees and does. Needs an installed Chromium."""

import pytest

from browser import find_browser
from heron.commands.map import run as run_map
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics
from made_up_runs import make_records, make_run

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


def test_the_keyboard_walks_through_points_and_clears(opened):
    opened.run("document.getElementById('map-points').focus()")
    seen = set()
    for key in ["ArrowRight"] * 3 + ["ArrowUp"] * 3 + ["ArrowLeft"] * 2 + ["ArrowDown"]:
        opened.key(key)
        seen.add(opened.run(DETAILS).splitlines()[0])
    assert len(seen) >= 5
    opened.key("Escape")
    assert "Point at the map" in opened.run(DETAILS)
