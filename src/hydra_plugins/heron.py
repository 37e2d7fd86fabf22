"""heron's plugins for Hydra, found by their place: a launcher and two sweepers.

Light to import: Hydra imports all plugins whenever it starts.
"""

from collections.abc import Sequence
from typing import Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
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


class _HeronSweeper(Sweeper):
    """What heron's sweepers share; not registered by Hydra, because `sweep` is abstract."""

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what `run_grid` and `run_search` read, and make the configured launcher."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )


class GridSweeper(_HeronSweeper):
    """`hydra/sweeper=grid`: the jobs of Hydra's basic sweeper, also over tables of experiments."""

    def __init__(
        self,
        max_batch_size: int | None = None,
        params: dict[str, Any] | None = None,
        swept: Sequence[str] = (),
    ):
        self.max_batch_size = max_batch_size

    def sweep(self, arguments: list[str]) -> Any:
        """Launch every point; a job that fails ends no other."""
        from heron.sweeps.launch import run_grid

        return run_grid(self)


class OptunaSweeper(_HeronSweeper):
    """`hydra/sweeper=optuna`: the next points are chosen by the scores of those before."""

    def __init__(self, **settings: Any):
        """Take any keys: `run_search` reads them from the configuration and names a wrong one."""

    def sweep(self, arguments: list[str]) -> Any:
        """Ask, launch and tell until there are enough trials."""
        from heron.sweeps.search import run_search

        return run_search(self)
