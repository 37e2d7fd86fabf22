"""The benchmark of dynamics: both routes compute the same, and its arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cartography import (
    TARGET_EXAMPLES,
    Options,
    Route,
    largest_difference,
    line_statistics,
    measure,
    median,
    read_lines,
    run,
    scale,
    verdict,
)
from benchmarks.frame import main
from heron.base.errors import HeronError
from heron.base.files import read_json
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics


def test_both_routes_compute_the_same_from_what_they_wrote(tmp_path: Path) -> None:
    heron, lines, difference = measure(Options(examples=300, lines=200, rounds=2), tmp_path)
    assert difference < 1e-6
    assert [route.examples for route in (*heron, lines)] == [300, 300, 200]
    for route in (*heron, lines):
        assert min(route.write, route.read, route.compute, route.megabytes) > 0
    theirs = line_statistics(read_lines(tmp_path / "training_dynamics"))
    # Without the published number for the never learnt, forgetting differs, and that is seen.
    ours = statistics(read_dynamics(tmp_path / "run"))
    assert largest_difference(ours, theirs) == 1000 - 6
    with pytest.raises(HeronError, match="other examples"):
        largest_difference(ours, dict(reversed(theirs.items())))


def test_seconds_and_size_are_scaled_to_as_many_examples() -> None:
    assert scale(Route(10, 1, 2, 3, 4), 30) == Route(30, 3, 6, 9, 12)
    rounds = [Route(1, 0, total / 2, total / 2, 0) for total in (4, 1, 2)]
    assert median(rounds).total == 2


def test_the_verdict_is_for_the_targets_number_of_examples() -> None:
    assert "reached" in verdict([Route(TARGET_EXAMPLES, 9, 0.4, 0.5, 1)])
    assert "missed" in verdict([Route(TARGET_EXAMPLES, 0, 0.6, 0.5, 1)])
    assert "no verdict" in verdict([Route(TARGET_EXAMPLES - 1, 0, 0.1, 0.1, 1)])


def test_the_command_prints_the_ratio_and_keeps_every_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept.json"
    words = ["examples=60", "lines=20", "rounds=3", "records=2", f"out={out}"]
    assert main(Options, run, words) == 0
    assert "ratio" in capsys.readouterr().out
    kept = read_json(out)
    assert len(kept["heron"]) == 3
    middle = sorted(route["total"] for route in kept["heron"])[1]
    assert kept["ratio"]["total"] == pytest.approx(kept["lines"]["total"] * 3 / middle)
    assert kept["options"]["records"] == 2


def test_the_slow_route_has_no_more_examples_than_the_fast_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(Options, run, ["examples=10", "lines=20"]) == 2
    assert "lines=20" in capsys.readouterr().err
