"""heron's plugins for Hydra, found by their place: a launcher and two sweepers.

Light to import: Hydra imports all plugins whenever it starts.
"""

from collections.abc import Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class HeronLauncher(Launcher):
    """`hydra/launcher=heron`: each job in a process of its own, `n_jobs` side by side."""

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Remember what the jobs share."""
        from heron.sweeps.launch import Launch

        self.batch = Launch(hydra_context, config, self.n_jobs)

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Run jobs, each after its failed ones too; returns how they ended."""
        return self.batch(job_overrides, initial_job_idx)


class GridSweeper(BasicSweeper):
    """`hydra/sweeper=grid`: Hydra's basic sweeper, also over tables of experiments."""

    def __init__(
        self,
        max_batch_size: int | None = None,
        params: dict[str, Any] | None = None,
        swept: Sequence[str] = (),
    ):
        super().__init__(max_batch_size, params)

    def sweep(self, arguments: list[str]) -> Any:
        """Launch every point; a job that fails ends no other."""
        from heron.sweeps.launch import run_grid

        return run_grid(self)


class OptunaSweeper(BasicSweeper):
    """`hydra/sweeper=optuna`: the next points are chosen by the scores of those before."""

    def __init__(self, params: dict[str, Any] | None = None, **settings: Any):
        super().__init__(None, params)
        self.settings = settings

    def sweep(self, arguments: list[str]) -> Any:
        """Ask, launch and tell until there are enough trials."""
        from heron.sweeps.search import run_search

        return run_search(self)
