"""Trainings in two real processes, several one after the other, and what they are compared by."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch

from heron import ranks
from heron.config import from_yaml, to_yaml
from heron.runtime.run_folder import RunFolder
from heron.schema import Config

TESTS = Path(__file__).parent


def run_in_two(runs: Mapping[Path, Config], seconds: float = 170.0) -> None:
    """Train each run, in two processes that torch's launcher starts once for all."""
    written = [(to_yaml(config), str(folder)) for folder, config in runs.items()]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr=127.0.0.1", "--nproc-per-node=2", str(Path(__file__))]
    paths = os.pathsep.join([str(TESTS), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "HERON_TEST_RUNS": json.dumps(written)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=seconds)
    assert done.returncode == 0, done.stderr.decode()[-4000:]


def main() -> None:
    """Be one of the two processes."""
    from heron.runtime.job import run_job

    ranks.join("cpu")
    for text, folder in json.loads(os.environ["HERON_TEST_RUNS"]):
        config = from_yaml(text)
        config.trainer.devices = 2
        run_job(config, RunFolder(Path(folder)))
    ranks.leave()


def weights(folder: RunFolder) -> dict[str, torch.Tensor]:
    """Read the weights after the last step."""
    found: dict[str, torch.Tensor] = torch.load(folder.last, weights_only=True)["state_dict"]
    return found


def furthest(one: Mapping[str, torch.Tensor], two: Mapping[str, torch.Tensor]) -> float:
    """Compute the largest difference between the weights of two models of one form."""
    assert one.keys() == two.keys()
    return max(float((one[name] - two[name]).abs().max()) for name in one)


def numbers(path: Path) -> dict[str, np.ndarray]:
    """Read a table's columns as float64 where they are numbers, else as objects."""
    columns: dict[str, Any] = pq.read_table(path).to_pydict()
    return {name: _numeric(values) for name, values in columns.items()}


def _numeric(values: list[Any]) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.asarray(values, dtype=object)


if __name__ == "__main__":
    main()
