"""`heron sweep`: states, progress and failures of a sweep, from its files alone."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from heron.base.files import dump_yaml, locked, write_json
from heron.base.run_folder import RunFolder
from heron.commands.sweep import progress_table, read_progress, summary, time_left
from small_runs import heron


def job(folder: Path, name: str, state: str, epochs: int = 0, **status: Any) -> RunFolder:
    """Write what a job of three epochs leaves behind in a state."""
    run = RunFolder(folder / name)
    run.path.mkdir()
    run.config.write_text(dump_yaml({"trainer": {"max_epochs": 3}}), "utf-8")
    write_json(run.status, {"state": state, **status})
    with open(run.metrics, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["epoch", "step", "validation/loss", "train/loss"])
        writer.writerows([epoch, 5 * epoch, 0.5, ""] for epoch in range(epochs))
        writer.writerow([epochs, 5 * epochs + 1, "", 0.7])
    if state == "done":
        write_json(run.scores, {"validation": {"macro_f1": 0.512}})
    return run


def states(folder: Path) -> dict[str, str]:
    return {progress.run.job: progress.state for progress in read_progress(folder)}


def test_a_job_that_says_running_has_failed_where_nobody_holds_its_lock(tmp_path):
    job(tmp_path, "gone", "running")
    working = job(tmp_path, "working", "running")
    job(tmp_path, "far", "running", heartbeat={"host": "elsewhere", "time": 4e9, "pid": 1})
    with locked(working.lock):
        assert states(tmp_path) == {"gone": "failed", "working": "running", "far": "failed"}


def test_a_viewer_writes_nothing_and_follows_no_link(tmp_path):
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    run = job(sweep, "shared", "running")
    (tmp_path / "precious").write_text("precious")
    run.lock.symlink_to(tmp_path / "precious")
    plain = job(sweep, "plain", "running")
    for folder in (plain.path, run.path, sweep):
        folder.chmod(0o555)
    try:
        before = sorted(sweep.rglob("*"))
        assert states(sweep) == {"shared": "failed", "plain": "failed"}
        assert sorted(sweep.rglob("*")) == before
    finally:
        for folder in (sweep, run.path, plain.path):
            folder.chmod(0o755)
    assert (tmp_path / "precious").read_text() == "precious"


def test_watching_goes_on_while_a_search_chooses_its_next_point(tmp_path, monkeypatch):
    (tmp_path / "study.journal").touch()
    job(tmp_path, "a", "done", epochs=3)
    second = RunFolder(tmp_path / "b")
    waits = iter(
        [
            lambda: job(tmp_path, "b", "pending"),
            lambda: second.update_status(state="done"),
            lambda: None,
        ]
    )
    monkeypatch.setattr("time.sleep", lambda seconds: next(waits)())
    assert heron("sweep", tmp_path, "--watch") == 0
    assert next(waits, None) is None


def test_failures_are_shown_by_their_first_line_and_make_the_exit_code_1(tmp_path, capsys):
    job(tmp_path, "good", "done", epochs=3, seconds=12.5)
    assert heron("sweep", tmp_path) == 0
    job(tmp_path, "bad", "failed", error="ValueError: first line\nsecond line", seconds=1.0)
    assert heron("sweep", tmp_path) == 1
    printed = capsys.readouterr().out
    assert "ValueError: first line" in printed
    assert "second line" not in printed


def test_time_left_is_what_the_others_took_divided_by_those_side_by_side(tmp_path):
    for number, seconds in enumerate((50.0, 100.0, 150.0)):
        job(tmp_path, f"done{number}", "done", seconds=seconds)
    running = [job(tmp_path, f"running{n}", "running", seconds=40.0) for n in range(2)]
    for number in range(4):
        job(tmp_path, f"pending{number}", "pending")
    with locked(running[0].lock), locked(running[1].lock):
        jobs = read_progress(tmp_path)
    assert time_left(jobs) == (2 * 60 + 4 * 100) / 2
    assert "about 4 min left" in summary(jobs)


def test_time_left_is_unknown_before_a_job_is_done_and_never_negative(tmp_path):
    late = job(tmp_path, "late", "running", seconds=500.0)
    with locked(late.lock):
        assert time_left(read_progress(tmp_path)) == 0
        job(tmp_path, "done", "done", seconds=10.0)
        assert time_left(read_progress(tmp_path)) == 0


def test_watching_ends_when_nothing_runs_or_waits(tmp_path, monkeypatch):
    last = job(tmp_path, "last", "pending")
    naps: list[float] = []

    def finish(seconds: float) -> None:
        naps.append(seconds)
        last.update_status(state="done")

    monkeypatch.setattr("time.sleep", finish)
    assert heron("sweep", "--watch", tmp_path, "every=2") == 0
    assert naps == [2.0]


def test_a_running_job_shows_its_steps_within_the_epoch(tmp_path):
    working = job(tmp_path, "working", "running", epochs=1, steps={"done": 120, "of": 400})
    with locked(working.lock):
        (row,) = progress_table(read_progress(tmp_path)).rows
    assert row[2] == "1 of 3 (step 120 of 400)"
