"""The page: what it holds, that nothing in it can break out, and how large it gets."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.reports.map import map_page, payload
from heron.reports.map_data import Categories, ExampleTexts, MapData, MapRun, Numbers, as_column
from heron.reports.pages import escape_json
from html_page import Page, requests_nothing
from made_up_runs import read_payload, unpack

HOSTILE = "</script><script>alert('x')</script> <!-- & \u2028 \u2029 \u202e אבג \u2066 ]]>"


def _run(count: int, name: str = "run", seed: int = 0) -> MapRun:
    random = np.random.default_rng(seed)
    names = ("confidence", "variability", "correctness", "loss")
    values = {name: random.random(count).astype(np.float32) for name in names}
    values["variability"] /= 2
    return MapRun(name, 4, values, Categories("predicted", ("a", "b"), np.zeros(count, np.int32)))


def _data(texts, pairs=(), count=None, **more) -> MapData:
    count = len(texts) if count is None else count
    shown = ExampleTexts(texts, pairs, "he", "rtl")
    return MapData(
        "Data map: run", [f"g{i}" for i in range(count)], (_run(count),), texts=shown, **more
    )


@given(st.lists(st.text(), min_size=1, max_size=6), st.data())
def test_whatever_the_texts_hold_the_page_gives_them_back(texts, data):
    pairs = data.draw(
        st.lists(st.one_of(st.none(), st.text()), min_size=len(texts), max_size=len(texts))
    )
    content, _ = payload(_data(texts, pairs))
    again = read_payload(
        f'<script type="application/json" id="map-data">{escape_json(content)}</script>'
    )
    strings = again["texts"]["strings"]
    assert [strings[place] for place in unpack(again["texts"]["first"])] == texts
    if any(pairs):
        places = unpack(again["texts"]["second"])
        assert [None if place < 0 else strings[place] for place in places] == pairs
    assert len(strings) == len(set(strings))


def test_arrays_and_columns_are_given_back_exactly():
    codes = np.array([2, -1, 0], np.int32)
    columns = (
        Categories("label", ("x", "ש", "<z>"), codes),
        Numbers("n", np.array([1, np.nan, 3], np.float32)),
    )
    runs = (_run(3, "a"), _run(3, "b", seed=1))
    data = MapData("t", ["1", "2", "3"], runs, columns, notes=("a note",))
    again = read_payload(map_page(data))
    assert again["guids"] == ["1", "2", "3"]
    assert again["texts"] is None
    for run, shown in zip(runs, again["runs"], strict=True):
        for name, values in run.values.items():
            np.testing.assert_array_equal(unpack(shown["values"][name]), values)
    label, number = again["columns"]
    assert (label["names"], unpack(label["codes"]).tolist()) == (["x", "ש", "<z>"], [2, -1, 0])
    np.testing.assert_array_equal(unpack(number["values"]), columns[1].values_N)


def test_no_text_guid_name_or_note_can_end_the_data_or_run():
    data = MapData(
        HOSTILE,
        [HOSTILE],
        (_run(1, HOSTILE), _run(1, HOSTILE)),
        (as_column(HOSTILE, [HOSTILE]),),
        ExampleTexts([HOSTILE], [HOSTILE]),
        (HOSTILE,),
    )
    text = map_page(data)
    page = Page(text)
    assert "<script>alert" not in text
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert len(scripts) == len([s for s in scripts if set(s) <= {"type", "id"}]) == 6
    content = re.search(r'id="map-data">(.*?)</script>', text, re.S)[1]
    assert not re.search("[<>&\u2028\u2029]", content)
    assert read_payload(text)["guids"] == [HOSTILE]


def test_the_page_requests_nothing_from_anywhere():
    text = map_page(_data(["a"]))
    assert requests_nothing(text)
    assert "innerHTML" not in text


@pytest.mark.parametrize("letters", ["abcd efg", "שלום לך", "😀 "])
def test_texts_are_cut_to_keep_the_page_below_its_limit_and_the_page_says_so(letters):
    texts = [f"{number} " + letters * 40 for number in range(2_000)]
    page = map_page(_data(texts), megabytes=0.5)
    assert len(page.encode()) < 500_000
    longest = int(re.search(r"texts are cut after (\d+) characters", page)[1])
    strings = read_payload(page)["texts"]["strings"]
    assert max(map(len, strings)) == longest
    assert all(text.startswith(shown[:-1]) for text, shown in zip(texts, strings, strict=True))


def test_without_room_for_texts_they_are_left_out_and_the_page_says_so():
    page = map_page(_data([f"{number} " + "x" * 300 for number in range(3_000)]), megabytes=0.2)
    assert "texts are left out" in page
    assert read_payload(page)["texts"] is None


def test_a_page_of_very_many_examples_has_a_sample_and_says_so():
    count = 200_000
    page = map_page(_data([f"{row} " + "text " * 40 for row in range(count)]))
    content = read_payload(page)
    assert len(page.encode()) <= 6e6
    assert content["count"] == len(content["guids"]) == len(unpack(content["texts"]["first"]))
    assert f"{count:,}" in page
    assert f"{content['count']:,}" in page
    places, strings = unpack(content["texts"]["first"]), content["texts"]["strings"]
    assert all(strings[places[row]].startswith(f"{content['guids'][row][1:]} ") for row in (0, -1))
