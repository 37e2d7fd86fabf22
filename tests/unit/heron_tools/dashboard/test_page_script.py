"""The dashboard's logic, run by Node without a document; references are Python and NumPy."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

import heron_tools.dashboard
from heron.results.collect import collect
from heron_tools.dashboard.page import dashboard_data
from made_up_runs import make_sweep

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run the page's script")
CORE = Path(heron_tools.dashboard.__file__).parent / "templates" / "dash_core.js"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    sweep = make_sweep(tmp_path_factory.mktemp("sweep"), seeds=3)
    return dashboard_data("grid", collect(sweep), sweep)


def _node(data: Any, script: str) -> Any:
    program = f"const H = require({json.dumps(str(CORE))});"
    program += "const data = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    program += f"console.log(JSON.stringify((() => {{ {script} }})()));"
    found = subprocess.run(
        [str(NODE), "-e", program],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(found.stdout)


def _places(data: dict[str, Any], keep: Any) -> list[int]:
    return [place for place, run in enumerate(data["runs"]) if keep(run)]


def test_filter_knows_words_equality_and_size(data):
    def settings(run: dict[str, Any]) -> dict[str, str]:
        return dict(zip(data["keys"], run["settings"], strict=True))

    def score(run: dict[str, Any]) -> float:
        return run["scores"]["validation"][0] or 0

    cases = {
        "": lambda run: True,
        "head=ess": lambda run: settings(run)["head"] == "ess",
        "head!=ess seed=1": lambda run: (
            settings(run)["head"] != "ess" and run["settings"][-1] == "1"
        ),
        "optim.lr>=3e-5": lambda run: float(settings(run)["optim.lr"]) >= 3e-5,
        "optim.lr=0.0001": lambda run: float(settings(run)["optim.lr"]) == 1e-4,
        "validation/macro_f1>0.5": lambda run: score(run) > 0.5,
        "state=failed": lambda run: run["state"] == "failed",
        "עברית": lambda run: "עברית" in settings(run)["head"],
        '"עברית מעורבת mix" seed<1': lambda run: (
            "mix" in settings(run)["head"] and run["settings"][-1] == "0"
        ),
        "JOB seed=1 CORRECT": lambda run: False,
        '"JOB 01"': lambda run: "job 01" in run["job"],
        "no=such": lambda run: False,
    }
    found = _node(data, f"return {json.dumps(list(cases))}.map((words) => H.filter(data, words));")
    for words, places in zip(cases, found, strict=True):
        assert places == _places(data, cases[words]), words


def test_ticks_are_round_numbers_within_the_axis(data):
    numbers = [[0.4123, 0.6377], [0, 947], [-0.31, 0.31], [2e-5, 3e-3], [0.25, 0.25]]
    script = f"return {json.dumps(numbers)}.map((all) => H.scale(all).ticks);"
    ticks = [[name for name, _ in axis] for axis in _node(data, script)]
    assert ticks[0] == ["0.45", "0.5", "0.55", "0.6"]
    assert ticks[1] == ["0", "200", "400", "600", "800"]
    assert ticks[2] == ["-0.2", "0", "0.2"]
    assert ticks[3] == ["0.0001", "0.001"]
    assert ticks[4] == ["0.25"]
    for (low, high), axis in zip(numbers, _node(data, script), strict=True):
        places = [at for _, at in axis]
        wanted = [(float(name) - low) / (high - low) for name, _ in axis] if high > low else [0.5]
        if high < 100 * low:
            assert places == pytest.approx(wanted)


def test_sorting_is_by_size_with_missing_values_last_either_way(data):
    column = "validation/macro_f1"
    up, down, rates = _node(
        data,
        f"const all = data.runs.map((_, i) => i); return [H.sort(data, all, '{column}', false),"
        f" H.sort(data, all, '{column}', true), H.sort(data, all, 'optim.lr', false)];",
    )
    values = [run["scores"]["validation"][0] for run in data["runs"]]
    known = [place for place, value in enumerate(values) if value is not None]
    missing = [place for place, value in enumerate(values) if value is None]
    assert up == sorted(known, key=lambda place: values[place]) + missing
    assert down == sorted(known, key=lambda place: -values[place]) + missing
    at = data["keys"].index("optim.lr")
    sizes = [float(data["runs"][place]["settings"][at]) for place in rates]
    assert sizes == sorted(sizes)


def test_spread_is_mean_and_sample_deviation_over_finished_seeds(data):
    found = _node(data, "return H.spread(data, data.runs.map((_, i) => i), 'test/macro_f1');")
    means = [group["mean"] for group in found]
    assert means == sorted(means, reverse=True)
    assert len(found) == len(data["groups"])
    for group in found:
        runs = [r for r in data["runs"] if r["group"] == group["group"] and r["state"] == "done"]
        values = [run["scores"]["test"][0] for run in runs]
        assert group["n"] == len(values)
        assert group["mean"] == pytest.approx(statistics.fmean(values))
        assert group["sd"] == pytest.approx(statistics.stdev(values))


def test_of_a_minimised_score_the_lowest_comes_first(data):
    script = "const all = data.runs.map((_, i) => i);"
    script += "return [H.spread(data, all, 'validation/macro_f1').map((group) => group.mean),"
    script += " H.firstChoice(data, 3), H.isMinimised(data, 'validation/macro_f1')];"
    means, first, is_minimised = _node({**data, "minimised": ["macro_f1"]}, script)
    assert means == sorted(means)
    values = [run["scores"]["validation"][0] for run in data["runs"]]
    known = [place for place, value in enumerate(values) if value is not None]
    assert first == sorted(known, key=lambda place: values[place])[:3]
    assert is_minimised


def test_axes_run_from_0_to_1_in_the_order_of_their_values(data):
    names = [*data["keys"], "validation/macro_f1", "seconds"]
    found = _node(
        data,
        f"return {json.dumps(names)}.map((name) => {{ const axis = H.axisOf(data, name);"
        " return data.runs.map((run) => H.cell(data, run, name)).map((v) => [v, axis.place(v)]);"
        "});",
    )
    for name, pairs in zip(names, found, strict=True):
        known = [(value, at) for value, at in pairs if value is not None]
        assert all(0 <= at <= 1 for _, at in known)
        if name == "optim.lr" or name == "validation/macro_f1":
            ordered = [at for _, at in sorted((float(value), at) for value, at in known)]
            assert ordered == sorted(ordered)
            assert (ordered[0], ordered[-1]) == (0, 1)


def test_a_marked_stretch_of_an_axis_keeps_what_lies_in_it(data):
    found = _node(data, "return H.filter(data, 'seed=0', { 'validation/macro_f1': [0.9, 1] });")
    values = [run["scores"]["validation"][0] for run in data["runs"]]
    known = [value for value in values if value is not None]
    low = min(known) + 0.9 * (max(known) - min(known))
    at = data["keys"].index("seed")
    expected = _places(
        data,
        lambda run: (run["scores"]["validation"][0] or 0) >= low and run["settings"][at] == "0",
    )
    assert found == expected


def test_curves_shown_first_are_the_best_by_validation(data):
    first = _node(data, "return H.firstChoice(data, 3);")
    values = [run["scores"]["validation"][0] or 0 for run in data["runs"]]
    assert first == sorted(range(len(values)), key=lambda place: -values[place])[:3]


def test_what_copying_reaches_is_read_beside_a_score_each_value_once():
    def run(test: float, curve: list[list[float]] | None) -> dict[str, Any]:
        curves = {"validation/lead3_rouge1": curve} if curve else {}
        return {"scores": {"validation": [0.3, 0.2], "test": [0.3, test]}, "curves": curves}

    data = {
        "keys": [],
        "metrics": ["rouge1", "lead3_rouge1"],
        "copied": {"rouge1": ["lead3_rouge1"]},
        "runs": [run(0.15, [[9, 0.19], [18, 0.19]]), run(0.15, None), run(0.1, None)],
    }
    script = "return ['test/rouge1', 'validation/rouge1', 'test/lead3_rouge1', 'train/loss']"
    found = _node(data, f"{script}.map((column) => H.copied(data, [0, 1, 2], column));")
    values = [[each["value"] for each in levels] for levels in found]
    # A curve is of the rows that are summarized after each epoch, which may be some of all.
    assert values == [[0.1, 0.15], [0.19, 0.2], [], []]
    assert found[0][0]["name"] == "lead3_rouge1"
