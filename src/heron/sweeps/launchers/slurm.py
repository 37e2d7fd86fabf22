"""Workers as a SLURM array, through submitit, or on this machine (`launcher.cluster=local`)."""

from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.config.schema import LauncherConfig
from heron.sweeps.launchers import require
from heron.sweeps.launchers.worker import Worker

_MOST_TIMEOUTS = 1000  # a worker that runs out of minutes is queued again
_NEVER = 365 * 24 * 60  # minutes, where no cluster limits a worker's time


class SlurmWorkers:
    """Jobs of submitit's, one for each worker."""

    def __init__(self, jobs: list[Any], cluster: str):
        self._jobs, self._cluster = jobs, cluster

    def working(self) -> bool:
        """Tell whether any of them works or waits for its turn."""
        if self._cluster == "debug":
            # It works while its result is asked for.
            return any(job.result() is None for job in self._jobs)
        return not all(job.done() for job in self._jobs)

    def errors(self) -> list[str]:
        """List the errors with which workers have ended."""
        found = []
        for job in self._jobs:
            error = job.exception()
            if error is not None:
                lines = str(error).strip().splitlines()
                found.append(f"worker {job.job_id} has ended: {lines[-1] if lines else error!r}")
        return found

    def cancel(self) -> None:
        """Cancel what runs or waits."""
        for job in self._jobs:
            if not job.done():
                job.cancel(check=False)

    def names(self) -> list[str]:
        """List the job ids."""
        return [f"{len(self._jobs)} workers, jobs {', '.join(job.job_id for job in self._jobs)}"]


def start_slurm(
    worker: Worker, number: int, settings: LauncherConfig, folder: Path
) -> SlurmWorkers:
    """Submit workers."""
    executor = make_executor(settings, folder)
    return SlurmWorkers(executor.map_array(worker, range(number)), settings.cluster)


def make_executor(settings: LauncherConfig, folder: Path) -> Any:
    """Set submitit up to start workers; writes nothing.

    Raises:
        ConfigError: no submitit, no SLURM here, or an option that submitit does not know.
    """
    require("submitit", "launcher=slurm")
    import submitit  # start-up time

    try:
        executor = submitit.AutoExecutor(
            folder=folder.absolute(),
            cluster=settings.cluster,
            slurm_max_num_timeout=_MOST_TIMEOUTS,
        )
    except RuntimeError as error:
        raise ConfigError(
            f"launcher=slurm: {error} launcher.cluster=local tries it without SLURM"
        ) from error
    try:
        executor.update_parameters(**parameters(settings))
    except (NameError, ValueError, AssertionError) as error:
        text = " ".join(line.strip() for line in str(error).splitlines())
        raise ConfigError(f"launcher.options: {text[:400]}") from error
    return executor


def parameters(settings: LauncherConfig) -> dict[str, Any]:
    """Convert the settings to submitit's parameters."""
    own = {"slurm_partition": settings.partition, "slurm_account": settings.account}
    more = {f"slurm_{key.removeprefix('slurm_')}": value for key, value in settings.options.items()}
    return {
        "name": "heron",
        "timeout_min": settings.minutes if settings.cluster == "slurm" else _NEVER,
        "gpus_per_node": settings.gpus,
        "cpus_per_task": settings.cpus,
        "mem_gb": settings.memory_gb,
        "tasks_per_node": 1,
        "nodes": 1,
        **{key: value for key, value in own.items() if value is not None},
        **more,
    }
