"""The page's logic, run by Node without a document; references are NumPy and Python."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import heron.reports
from heron.reports.map import payload
from heron.reports.map_data import Categories, ExampleTexts, MapData, MapRun, Numbers
from heron.reports.pages import escape_json

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run the page's script")

CORE = Path(heron.reports.__file__).parent / "templates" / "map_core.js"
COUNT = 400
WORDS = ["Plouă", "AFARĂ", "soare", "הגיע", 'a "b", c', "line\nbreak", "ceartă"]


@pytest.fixture(scope="module")
def data() -> MapData:
    """Two runs of 400 examples, some unseen, some in one place."""
    random = np.random.default_rng(0)

    def one(name: str) -> MapRun:
        values = {
            "confidence": np.round(random.random(COUNT), 2),
            "variability": np.round(random.random(COUNT) / 2, 2),
            "correctness": random.integers(0, 5, COUNT) / 4,
            "loss": random.exponential(size=COUNT),
        }
        for column in values.values():
            column[:5] = np.nan
        shown = {key: column.astype(np.float32) for key, column in values.items()}
        return MapRun(name, 4, shown, Categories("predicted", ("x", "y"), _codes(random, 2)))

    names = tuple(f"kind {number}" for number in range(12))
    columns = (
        Categories("kind", names, np.sort(_codes(random, 12) % 12).astype(np.int32)),
        Numbers("words", random.integers(0, 90, COUNT).astype(np.float32)),
    )
    texts = [" ".join(random.choice(WORDS, 3)) for _ in range(COUNT)]
    pairs = [None if row % 3 else WORDS[row % 7] for row in range(COUNT)]
    guids = [f'set:{row}"' if row % 50 == 0 else f"set:{row}" for row in range(COUNT)]
    return MapData("t", guids, (one("A"), one("B")), columns, ExampleTexts(texts, pairs))


def _codes(random, count: int) -> np.ndarray:
    return random.integers(0, count, COUNT).astype(np.int32)


def _node(data: MapData, script: str, **given):
    """Run `script`, which sees H (the page's logic), data and given; returns what it returns."""
    content, _ = payload(data)
    program = f"""
      const H = require({json.dumps(str(CORE))});
      const [payload, given] = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const data = H.read(payload);
      const answer = (() => {{ {script} }})();
      console.log(JSON.stringify(answer, (_, v) => ArrayBuffer.isView(v) ? [...v] : v));
    """
    done = subprocess.run(
        [str(NODE), "-e", program],
        input=f"[{escape_json(content)},{json.dumps(given)}]",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout)


def _floats(values):
    return np.array([np.nan if value is None else value for value in values], np.float32)


def test_every_array_is_read_back(data):
    shown = _node(data, "return [data.runs.map((run) => run.values), data.columns, data.texts];")
    for run, values in zip(data.runs, shown[0], strict=True):
        for name, column in run.values.items():
            np.testing.assert_array_equal(_floats(values[name]), column)
    assert shown[1][0]["codes"] == data.columns[0].codes_N.tolist()
    texts = [shown[2]["strings"][place] for place in shown[2]["first"]]
    assert texts == data.texts.first


def test_the_nearest_point_is_the_one_that_looking_at_all_would_find(data):
    random = np.random.default_rng(1)
    asked = np.c_[random.uniform(-0.1, 0.7, 300), random.uniform(-0.2, 1.2, 300)]
    allowed = (random.random(COUNT) < 0.6).astype(int)
    found = _node(
        data,
        """
        const { variability, confidence } = data.runs[0].values;
        const grid = H.makeGrid(variability, confidence, 16);
        const allowed = given.allowed && Uint8Array.from(given.allowed);
        return given.asked.map(([x, y]) => [
          H.nearest(grid, x, y, 900, 600, 25, null), H.nearest(grid, x, y, 900, 600, 25, allowed)]);
        """,
        asked=asked.tolist(),
        allowed=allowed.tolist(),
    )
    x_N, y_N = (data.runs[0].values[n].astype(float) for n in ("variability", "confidence"))
    hits = 0
    for (x, y), rows in zip(asked, found, strict=True):
        distance_N = np.hypot((x_N - x) * 900, (y_N - y) * 600)
        for row, mask in zip(rows, (np.ones(COUNT, bool), allowed == 1), strict=True):
            of = np.where(mask & ~np.isnan(distance_N), distance_N, np.inf)
            assert (row == -1) == (of.min() >= 25)
            if row >= 0:
                hits += 1
                assert distance_N[row] == pytest.approx(of.min())
                assert mask[row]
    assert hits > 100


def test_walking_right_and_back_reaches_neighbours_and_every_point_in_one_place(data):
    walked = _node(
        data,
        """
        const x = Float32Array.from([0.1, 0.1, 0.1, 0.3, 0.3]);
        const y = Float32Array.from([0.5, 0.5, 0.5, 0.5, 0.9]);
        const right = (from) => H.step(x, y, from, 1, 0, 100, 100, null);
        const left = (from) => H.step(x, y, from, -1, 0, 100, 100, null);
        const up = H.step(x, y, 3, 0, 1, 100, 100, null);
        return [right(0), right(1), right(2), right(3), left(3), left(1), up];
        """,
    )
    assert walked[:4] == [1, 2, 3, -1]
    assert walked[4] in (0, 1, 2)
    assert walked[5:] == [0, 4]


def test_a_rectangle_chooses_what_lies_in_it_and_its_edges(data):
    box = {"x0": 0.1, "x1": 0.25, "y0": 0.5, "y1": 0.75}
    chosen = _node(
        data,
        """
        const { variability, confidence } = data.runs[0].values;
        return H.inRectangle(variability, confidence, given.box, new Uint8Array(data.count));
        """,
        box=box,
    )
    x, y = (data.runs[0].values[name].astype(float) for name in ("variability", "confidence"))
    expected = (x >= 0.1) & (x <= 0.25) & (y >= 0.5) & (y <= 0.75)
    assert chosen == expected.astype(int).tolist()
    assert 0 < sum(chosen) < COUNT


@pytest.mark.parametrize("words", ["plouĂ", "הגיע", "SET:39", " soare ", "nowhere", 'b", c'])
def test_search_finds_the_rows_whose_texts_or_guid_hold_the_words(data, words):
    hits = _node(data, "return H.search(data, given.words);", words=words)
    texts = zip(data.guids, data.texts.first, data.texts.second, strict=True)
    wanted = words.strip().lower()
    expected = [int(any(wanted in (text or "").lower() for text in row)) for row in texts]
    assert hits == expected


def test_searching_for_nothing_chooses_nothing_away(data):
    assert _node(data, "return H.search(data, '  ');") is None


def test_histograms_count_as_numpy_does(data):
    chosen = [row % 3 == 0 for row in range(COUNT)]
    counts = _node(
        data,
        """
        const { loss, confidence } = data.runs[0].values;
        const chosen = Uint8Array.from(given.chosen);
        return [H.histogram(confidence, null, 0, 1, 20), H.histogram(loss, chosen, 0, 3, 7)];
        """,
        chosen=chosen,
    )
    values = {k: v[~np.isnan(v)].astype(float) for k, v in data.runs[0].values.items()}
    assert sum(counts[0]) == len(values["confidence"])
    expected, _ = np.histogram(values["confidence"] + 1e-9, 20, (0, 1 + 1e-9))
    assert np.abs(np.array(counts[0]) - expected).max() <= 2  # two decimals lie on bins' edges
    loss = data.runs[0].values["loss"][chosen]
    loss = np.clip(loss[~np.isnan(loss)], 0, 2.999)  # what lies beyond counts to the last bin
    assert counts[1] == np.histogram(loss, 7, (0, 3))[0].tolist()


def test_the_rows_that_moved_furthest_come_first(data):
    moved = _node(data, "return H.furthest(data.runs[0].values, data.runs[1].values, null, 25);")
    a, b = (np.c_[run.values["confidence"], run.values["variability"]] for run in data.runs)
    distance = np.hypot(*(b - a).astype(float).T)
    order = np.argsort(-np.nan_to_num(distance), kind="stable")[:25]
    np.testing.assert_allclose([m["distance"] for m in moved], distance[order], rtol=1e-6)
    assert {m["row"] for m in moved[:20]} <= set(order.tolist())


def test_a_legend_counts_every_point_and_rare_names_share_a_place(data):
    column, shown = _node(
        data,
        """
        const column = H.colourings(data, 0).find((one) => one.name === "kind");
        return [column, H.colouring(column, data.few, data.palette.length)];
        """,
    )
    counts = np.bincount(column["codes"], minlength=12)
    assert [entry["count"] for entry in shown["entries"]] == [*counts[:6], counts[6:].sum()]
    assert shown["entries"][-1]["name"] == "6 others"
    assert shown["bands"] == np.minimum(column["codes"], 6).tolist()


def test_numbers_are_coloured_by_value_or_on_a_scale(data):
    few, many, order = _node(
        data,
        """
        const all = H.colourings(data, 1);
        const find = (name) => all.find((one) => one.name === name);
        const of = (name) => H.colouring(find(name), data.few, data.palette.length);
        return [of("correctness"), of("loss"), all.map((one) => one.name)];
        """,
    )
    assert order[0] == "correctness"
    assert set(order) == {*data.runs[0].values, "predicted", "kind", "words"}
    assert [entry["name"] for entry in few["entries"]] == ["0", "0.25", "0.5", "0.75", "1"]
    values = data.runs[1].values["correctness"]
    expected = np.where(np.isnan(values), -1, np.nan_to_num(values) * 4)
    assert few["bands"] == expected.tolist()
    scaled, loss = _floats(many["scaled"]), data.runs[1].values["loss"]
    assert np.isnan(scaled).tolist() == np.isnan(loss).tolist()
    ranks = np.argsort(loss[5:], kind="stable")
    assert (np.diff(scaled[5:][ranks]) >= 0).all()
    assert (np.nanmin(scaled), np.nanmax(scaled)) == (0, 1)


def test_exported_guids_and_rows_are_those_chosen(data):
    chosen = [int(row % 50 == 0) for row in range(COUNT)]
    script = "const c = Uint8Array.from(given.chosen); return [H.toTxt(data, c), H.toCsv(data, c)];"
    txt, table = _node(data, script, chosen=chosen)
    rows = list(range(0, COUNT, 50))
    assert txt.splitlines() == [data.guids[row] for row in rows]
    read = list(csv.DictReader(io.StringIO(table, newline="")))
    assert [row["guid"] for row in read] == [data.guids[row] for row in rows]
    for row, cells in zip(rows, read, strict=True):
        assert cells["kind"] == data.columns[0].name_at(row)
        assert cells["predicted B"] == data.runs[1].predicted.name_at(row)
        loss = data.runs[0].values["loss"][row]
        assert (
            cells["loss A"] == ""
            if np.isnan(loss)
            else float(cells["loss A"]) == pytest.approx(loss)
        )


def test_a_view_survives_its_link_and_a_broken_link_opens_the_page(data):
    view = {"colour": "a=b&c", "search": "הגיע #1", "box": "0.1,0.2,0,1", "run": None}
    back, broken = _node(
        data, "return [H.fromHash(H.toHash(given.view)), H.fromHash('#x=%E0%A4%A&&y')];", view=view
    )
    assert back == {key: value for key, value in view.items() if value is not None}
    assert broken == {}
