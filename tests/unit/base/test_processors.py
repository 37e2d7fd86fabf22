"""Threads follow the processors that this process may use, and each job has its own number."""

import os
import subprocess
import sys

import pytest
import torch

import small_runs
from heron.base.libraries import own_threads
from heron.base.ranks import threads


def test_cores_are_divided_between_all_processes(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "16")
    assert [threads(processes) for processes in (1, 2, 6, 40)] == [16, 8, 2, 1]


def test_a_job_has_its_own_number_of_threads_and_leaves_the_program_its_own(monkeypatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr("heron.base.libraries.threads", lambda: 1)
    with own_threads(2):
        assert torch.get_num_threads() == 2
        with own_threads(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("words", "threshold", "expected"),
    [(["trainer.threads=2"], 0, 2), ([], 10**9, 1), ([], 0, 3)],
    ids=["typed", "below the threshold", "above it"],
)
def test_status_names_the_threads_that_trained(
    words, threshold, expected, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("heron.training.trainer.SECOND_THREAD", threshold)
    given = [word for word in small_runs.TINY if not word.startswith("trainer.threads")]
    monkeypatch.setattr(small_runs, "TINY", given)
    monkeypatch.setattr("heron.base.libraries.threads", lambda: 3)
    with own_threads(3):
        folder = small_runs.train(tmp_path, *words)
        assert torch.get_num_threads() == 3
    assert folder.read_status()["threads"] == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1000 None"),
        ({"GOMP_SPINCOUNT": "7"}, "7 None"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "None ACTIVE"),
    ],
)
def test_threads_wait_briefly_unless_the_environment_says_how(given, expected) -> None:
    names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    code = f"""
import os, sys
given = dict(os.environ)
import heron.cli, heron.training.run
assert os.environ == given, "importing heron changes no environment"
heron.cli.main(["options", "-h"])
assert "torch" not in sys.modules
print(*map(os.environ.get, {names}))
"""
    outer = {key: value for key, value in os.environ.items() if key not in names}
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, env={**outer, **given}, capture_output=True, check=True)
    assert said.stdout.decode().splitlines()[-1] == expected
