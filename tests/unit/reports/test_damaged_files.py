"""Damaged JSON in a run folder: one line that names file and key, and the other runs still show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heron.cli import main
from heron.commands.sweep import failure_table, progress_table, read_progress
from heron.reports.run import class_table, score_table, stage_table
from heron.reports.sweep import group_table, runs_table, spent_table
from heron.results.collect import collect
from heron_tools.dashboard.page import dashboard_data

FILES = ("status.json", "scores.json", "ledger.json")
NUMBERS = st.integers(-(10**400), 10**400) | st.floats()
LEAVES = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "x", "2", "done"])
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "rows", "steps"]), inner, max_size=2)
    ),
    max_leaves=4,
)
STATUS = {
    "heartbeat": {"time": 1.0, "pid": 3, "host": "elsewhere"},
    "steps": {"done": 1, "of": 2},
    "sources": {"train": "ab"},
    "outputs": {"scores.json": "ab"},
    "data": {"splits": {"train": {"rows": 3}}, "dropped": {}, "shared": {}},
    "error": None,
    "precision": "32-true",
}
SCORES = {"macro_f1": 0.5, "macro_f1_low": 0.4, "macro_f1_high": 0.6, "f1/A": 0.3, "support/A": 5}


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the places of a JSON value: keys and positions from its root."""
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    return [above, *(place for key, part in inner for place in places(part, (*above, key)))]


def replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """Copy a JSON value with another one at a place."""
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


@pytest.fixture
def sweep(make_run, make_ledger):
    for job in ("damaged", "whole"):
        ledger = make_ledger(80, ("easy", "all"))
        folder = make_run(job, (f"head={job}",), scores=SCORES, ledger=ledger)
        status = json.loads((folder / "status.json").read_text()) | STATUS
        (folder / "status.json").write_text(json.dumps(status))
    return folder.parent


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), name=st.sampled_from(FILES), state=st.sampled_from(["done", "running"]))
def test_any_value_at_any_key_is_shown_or_named_and_never_a_traceback(sweep, data, name, state):
    file = sweep / "damaged" / name
    before = file.read_text()
    value = json.loads(before)
    if name == "status.json":
        value["state"] = state
    place = data.draw(st.sampled_from(places(value)))
    file.write_text(json.dumps(replaced(value, place, data.draw(JSON))))
    try:
        runs = collect(sweep)
        jobs = read_progress(sweep)
        for table in (progress_table(jobs), failure_table(jobs), runs_table(runs)):
            assert table.rows or table.title == "Failures"
        group_table(runs)
        spent_table(runs)
        for run in runs:
            score_table(run)
            class_table(run)
            stage_table(run)
        shown = dashboard_data("sweep", runs, sweep)["runs"]
        damaged, whole = sorted(runs, key=lambda run: run.job)
        assert (whole.state, whole.score("test", "macro_f1")) == ("done", 0.5)
        assert len(shown) == 2
        if damaged.state == "broken":
            assert "\n" not in damaged.status["error"]
            assert str(file) in damaged.status["error"]
    finally:
        file.write_text(before)


@pytest.mark.parametrize(
    ("name", "place", "value", "key"),
    [
        ("status.json", ("seconds",), "long", "seconds"),
        ("status.json", ("overrides",), 3, "overrides"),
        ("scores.json", ("test", "macro_f1"), "high", "test.macro_f1"),
        ("scores.json", ("test",), [[]], "test"),
        ("ledger.json", ("total",), [], "total"),
        ("ledger.json", ("stages", 0, "tokens"), None, "stages.0.tokens"),
    ],
)
def test_commands_on_a_sweep_name_a_damaged_file_and_its_key(
    sweep, name, place, value, key, capsys
):
    file = sweep / "damaged" / name
    file.write_text(json.dumps(replaced(json.loads(file.read_text()), place, value)))
    for words in (["sweep", sweep], ["report", sweep], ["dashboard", sweep]):
        assert main(list(map(str, words))) in (0, 1), words
    shown = " ".join(capsys.readouterr().out.split())
    assert name in shown
    assert f"{key}: " in shown
    main(["compare", str(sweep / "damaged"), str(sweep / "whole"), "resamples=100"])
    assert "Traceback" not in capsys.readouterr().err
