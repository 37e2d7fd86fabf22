"""Trainings in two real processes, several one after the other, and what they are compared by."""

from __future__ import annotations

import copy
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

from heron.base import ranks
from heron.base.files import parse_yaml
from heron.base.run_folder import RunFolder, config_text
from heron.tasks.config import Config, read
from stopping import stopping

HELPERS = Path(__file__).parent
RUNS = "HERON_TEST_RUNS"
SHARDED = "HERON_TEST_SHARDED"
STOP = "HERON_TEST_STOP"


def run_in_two(
    runs: Mapping[Path, Config], sharded: bool = False, stop: int = 0, seconds: float = 170
) -> None:
    """Train each run in two processes, which torch's launcher starts once for all.

    Args:
        runs: configurations, by run folder; those for one process will do.
        sharded: as `trainer.strategy=fsdp` does, on CPUs.
        stop: stop each run at the beginning of its batch of this number, and go on with it.
        seconds: until they are ended.
    """
    written = [(config_text(config), str(folder)) for folder, config in runs.items()]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--local-addr=127.0.0.1", "--nproc-per-node=2", str(Path(__file__))]
    paths = os.pathsep.join([str(HELPERS), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, RUNS: json.dumps(written)}
    if sharded:
        environment[SHARDED] = "1"
    if stop:
        environment[STOP] = str(stop)
    done = subprocess.run(command, env=environment, capture_output=True, timeout=seconds)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()[-4000:]


def main() -> None:
    """Be one of the two processes."""
    from heron.training.job import run_job

    ranks.join("cpu")
    for text, folder in json.loads(os.environ[RUNS]):
        config = read(parse_yaml(text))
        config.trainer.devices = 2
        if SHARDED in os.environ:
            shard_on_cpus()
            config.trainer.strategy = "fsdp"
        if STOP in os.environ:
            with stopping("on_train_batch_start", int(os.environ[STOP])):
                run_job(copy.deepcopy(config), RunFolder(Path(folder)))
        run_job(config, RunFolder(Path(folder)))
    ranks.leave()


def shard_on_cpus() -> None:
    """Let FSDP run where there is no GPU; torch and Lightning ask for one, and need none.

    What differs from `heron.training.trainer`: the device, and that whole weights are not sent to
    the CPU, where they are already (torch would read what it has freed).
    """
    import pytorch_lightning.strategies.fsdp as lightning
    from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType
    from torch.distributed.fsdp.api import FullOptimStateDictConfig

    import heron.training.trainer

    class CpuStrategy(lightning.FSDPStrategy):
        def _setup_model(self, model: torch.nn.Module) -> torch.nn.Module:
            return FullyShardedDataParallel(model, device_id=torch.device("cpu"), **self.kwargs)

    def whole(module: Any, world_size: int, rank0_only: bool = True) -> Any:
        settings: dict[str, Any] = {"offload_to_cpu": False, "rank0_only": rank0_only}
        return FullyShardedDataParallel.state_dict_type(
            module,
            StateDictType.FULL_STATE_DICT,
            FullStateDictConfig(**settings),
            FullOptimStateDictConfig(**settings),
        )

    usual = heron.training.trainer.build_strategy

    def build(config: Config, sharded: bool = True) -> Any:
        if not sharded:
            return usual(config, sharded)
        return CpuStrategy(**heron.training.trainer.sharding())

    lightning._get_full_state_dict_context = whole
    heron.training.trainer.build_strategy = build


def weights(folder: RunFolder) -> dict[str, torch.Tensor]:
    """Read the weights after the last step (of the last stage)."""
    last = [folder.last, *sorted(folder.stages.glob("*/checkpoints/last.ckpt"))][-1]
    found: dict[str, torch.Tensor] = torch.load(last, weights_only=True)["state_dict"]
    return found


def furthest(one: Mapping[str, torch.Tensor], two: Mapping[str, torch.Tensor]) -> float:
    """Compute the largest difference between the weights of two models of one form."""
    assert one.keys() == two.keys()
    return max(float((one[name] - two[name]).abs().max()) for name in one)


def files(folder: RunFolder) -> list[str]:
    """List all that a run has left, by path."""
    found = [path for path in folder.path.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(folder.path)) for path in found)


def table(path: Path) -> dict[str, np.ndarray]:
    """Read a table's columns, those of numbers (and of lists of them) as float64."""
    columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
    return {name: _column(values) for name, values in columns.items()}


def _column(values: list[Any]) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.asarray(values, dtype=object)


if __name__ == "__main__":
    main()
