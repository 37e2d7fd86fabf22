"""Threads follow the processors that this process may use, and each job has its own number."""

import os
import subprocess
import sys

import pytest
import torch

import small_runs
from heron.base import ranks
from heron.base.libraries import own_threads
from heron.base.ranks import count_cores, threads


def test_cores_are_divided_between_all_processes(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "16")
    assert [threads(processes) for processes in (1, 2, 6, 40)] == [16, 8, 2, 1]


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("", {}, 8),
        ("0::/\n", {"cpu.max": "max 100000"}, 8),
        ("0::/\n", {"cpu.max": "50000 100000"}, 1),
        ("0::/a/b\n", {"a/cpu.max": "250000 100000", "a/b/cpu.max": "max 100000"}, 2),
        ("0::/x\n", {"cpu.max": "300000 100000"}, 3),  # a container's own root
        ("0::/\n", {"cpu.max": "1600000 100000"}, 8),
        (
            "5:cpu,cpuacct:/job\n3:memory:/job\n0::/\n",
            {"cpu/job/cpu.cfs_quota_us": "150000", "cpu/job/cpu.cfs_period_us": "50000"},
            3,
        ),
        (
            "5:cpu:/\n",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            8,
        ),
    ],
)
def test_affinity_and_quotas_of_every_cgroup_around_count(
    own, files, expected, tmp_path, monkeypatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "own").write_text(own)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)))
    monkeypatch.setattr(ranks, "_CGROUPS", tmp_path)
    monkeypatch.setattr(ranks, "_OWN", tmp_path / "own")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert count_cores() == threads() == expected


def test_a_job_has_its_own_number_of_threads_and_leaves_the_program_its_own(monkeypatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr("heron.base.libraries.threads", lambda: 1)
    with own_threads(2):
        assert torch.get_num_threads() == 2
        with own_threads(None):
            assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("words", "weights", "expected"),
    [(["trainer.threads=2"], 0, 2), ([], 10**9, 1), ([], 0, 3)],
    ids=["typed", "small", "large"],
)
def test_status_names_the_threads_that_trained(
    words, weights, expected, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("heron.training.trainer.SECOND_THREAD", weights)
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
