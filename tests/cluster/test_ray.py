"""What becomes of a training when a worker of a real Ray is killed."""

from __future__ import annotations

import os
import signal

import pytest

from cluster.conftest import wait_until_it_trains
from cluster.slurm import MODULES
from heron.base.run_folder import RunFolder
from stopping import assert_same_run

pytestmark = [pytest.mark.real, pytest.mark.slow]

pytest.importorskip("ray", reason="no Ray: pip install -e .[ray]")


def test_the_job_of_a_killed_worker_is_run_again_and_ends_as_undisturbed(
    command, undisturbed, in_background, tmp_path
):
    jobs = [RunFolder(tmp_path / "runs" / "sweep" / f"seed-{seed}") for seed in (0, 1)]
    words = ("-m", "hydra/launcher=ray", "seed=0,1", "run.job=seed-${seed}")
    two_workers = "+hydra.launcher.ray.init.num_cpus=2"
    environment = {**os.environ, "PYTHONPATH": MODULES}
    # Ray warns where variables of accelerators are empty.
    environment["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    printed = tmp_path / "printed"
    process = in_background(command(*words, two_workers), printed, env=environment)
    wait_until_it_trains(jobs[0])

    victim = jobs[0].read_status()["heartbeat"]["pid"]
    os.kill(victim, signal.SIGKILL)
    assert process.wait(300) == 0, printed.read_text("utf-8")
    for seed, job in enumerate(jobs):
        assert_same_run(job, undisturbed(f"seed={seed}"))
    assert jobs[0].read_status()["heartbeat"]["pid"] != victim
