"""One run's life: open, claimed, running, ended; and what its `status.json` holds.

`status.json` says where it is: `pending` (planned by a sweep) -> `running` (with a heartbeat) ->
`done`, `pruned`, `tried` (`trainer.fast_dev_run`), `failed`, `interrupted` or `requeued` (SLURM
runs it again); from which code, files and machine it comes, and why it failed. Whoever works on a
run holds its folder's lock. Where the status says `running` while nobody holds it, the process is
gone, and `RunFolder.state` says `failed`.

Light to import: Lightning and transformers are loaded when a run begins, so that a mistake in a
command line is answered at once. A sweep's parent process claims every folder and trains in none.
"""

import os
import resource
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from heron.base import ranks, slurm
from heron.base.errors import (
    ConfigError,
    HeronError,
    is_machine_error,
    nearest,
    os_error_text,
    visible,
)
from heron.base.files import fingerprint, locked, remove_half_written, sha256_file
from heron.base.run_files import Scores
from heron.base.run_folder import HEAD, RunFolder, checkpoint_of, config_text
from heron.base.secrets import redact, redacted
from heron.base.signals import INTERRUPTED, Terminated, interruptible
from heron.base.terminal import kept_by, say
from heron.data.readers import every_set, load_with_report, require_classes
from heron.data.sources import locate
from heron.models.config import EncoderConfig
from heron.tasks import BASELINES
from heron.tasks.config import Config
from heron.tasks.task import task_of
from heron.training.components import wandb_options
from heron.training.run_names import identifying

# exit codes of a job's process, beside `INTERRUPTED`
DONE = 0
FAILED = 1
BUSY = 75
BEAT = 5.0  # seconds between heartbeats


class BusyError(ConfigError):
    """Another process is working on the run."""


@dataclass
class Run:
    """One run that a command asks for: a job of a sweep, a stage, or the command's only one.

    `with run.claimed(): if run.begin(): with run.running(): ...`, then `run.end(scores)`.
    """

    config: Config  # resolved
    folder: RunFolder
    overrides: Sequence[str] = ()  # what the user typed; in a sweep, with this job's values
    whole: Any = None  # of a sweep's job: Hydra's configuration, or what composes it

    def composed(self) -> "Run":
        """Return the run with `whole` composed, which may be a function."""
        return replace(self, whole=self.whole()) if callable(self.whole) else self

    def check(self, known: dict[str, HeronError | None], read: bool = False) -> None:
        """Check what can be checked before there is a run folder.

        Args:
            known: errors found in the data of earlier jobs, by its settings; this job's is added.
            read: whether to read the data as a run does; otherwise its files are only looked for.

        Raises:
            ConfigError: `trainer.monitor` is no score, or a data set cannot be used.
            DataError: files that are missing; with `read`, columns and rows that are wrong.
        """
        _check_monitor(self.config)
        data_dir, cache_dir = self.config.paths.folders
        sets = [data for data in every_set(self.config).values() if not data.generator]
        key = fingerprint([asdict(data) for data in sets], str(data_dir), str(cache_dir))

        if key not in known:
            known[key] = None
            check = load_with_report if read else locate
            try:
                for data in sets:
                    check(data, data_dir, cache_dir)
            except HeronError as error:
                known[key] = error

        known_error = known[key]
        if known_error:
            raise known_error

    def is_kept(self) -> bool:
        """Tell whether the run is done and is not to be started over."""
        return self.config.run.resume and self.folder.state() == "done"

    def ended(self, status: Mapping[str, Any]) -> str:
        """Tell by its `status.json` how the run has ended: `done`, `pruned`, `failed`, else empty.

        A training that a search has ended early is `pruned` for that search, and only while it
        prunes; in any other command it counts as cut.
        """
        state = str(status.get("state"))
        search = self.config.sweeper
        if state == "pruned":
            prunes = search.trial is not None and search.pruner != "none"
            return state if prunes and status.get("pruned_by") == search.study else ""

        return state if state in ("done", "failed") else ""

    @contextmanager
    def claimed(self, wait: bool = False) -> Iterator[None]:
        """Hold the folder's lock during the block, and make sure that the folder is this run's.

        Of several processes the first holds it. A folder in which nothing was prepared is removed
        after an error of the user's.

        Raises:
            BusyError: another process works on the run, and this one shall not `wait`.
            ConfigError: `trainer.monitor` is no score, or the folder holds a run with another
                configuration; the message lists the differing keys.
        """
        if not ranks.is_first():
            yield
            return

        try:
            with locked(self.folder.lock, wait=wait):
                is_new = self.folder.is_new()
                try:
                    self._claim()
                    yield
                except HeronError:
                    if is_new:
                        self.folder.discard()
                    raise
        except BlockingIOError as busy:
            raise BusyError(f"{self.folder.path}: another process is working on this run") from busy

    def _claim(self) -> None:
        """Write the configuration, or compare it with the stored one."""
        config = self.config
        folder = self.folder
        _check_monitor(config)
        remove_half_written(folder.path.rglob(".*"))
        if not config.run.resume:
            folder.clear()

        if folder.last.is_file() and not folder.read_status():
            say(
                f"{folder.status} is missing or damaged: the run counts as killed and resumes from "
                f"{folder.last.name}; it is unknown whether its data has changed since"
            )

        if folder.config.is_file():
            if folder.config.read_text(encoding="utf-8", errors="replace") == config_text(config):
                return
            from heron.training.stored import read_own  # not for a new run

            config = self._as_before(read_own(folder.config))

        folder.write_config(config)

    def _as_before(self, before: Config) -> Config:
        """Refuse another configuration than the stored one.

        Returns:
            The run's configuration, with the precision that it has begun with.
        """
        config = self.config
        # The run that a curriculum learns from has no experiment's name.
        config.experiment = config.experiment or before.experiment
        if config.trainer.precision == "auto":
            trainer = replace(config.trainer, precision=before.trainer.precision)
            config = replace(config, trainer=trainer)

        # Secrets are not stored; configurations that differ in nothing else are the same run.
        stored = redacted(identifying(before))
        wanted = redacted(identifying(config))
        changes = []
        for key in stored | wanted:
            if stored.get(key) != wanted.get(key):
                changes.append(f"{key} was {stored.get(key)}, now {wanted.get(key)}")

        if changes:
            raise ConfigError(
                f"{self.folder.path} holds a run with another configuration: {'; '.join(changes)}. "
                "Name another run.job, or set run.resume=false to start it over"
            )

        return config

    def check_sources(self) -> dict[str, str]:
        """Hash the files that the run is made from; an ended run's files may be missing.

        Raises:
            ConfigError: some have changed since the run began; names them.
        """
        status = self.folder.read_status()
        has_result = self.ended(status) in ("done", "pruned")
        try:
            sources = source_hashes(self.config)
        except HeronError:
            if has_result:  # scores outlive the data
                return {}
            raise

        before = status.get("sources", {}) if has_result or self.folder.last.is_file() else {}
        changed = [name for name in sources if before.get(name, sources[name]) != sources[name]]
        if changed:
            raise ConfigError(
                f"{self.folder.path}: changed since this run began: {', '.join(changed)}. "
                "Name another run.job, or set run.resume=false to start it over"
            )

        return sources

    def plan(self, retry: str) -> dict[str, Any]:
        """Claim the folder for a sweep; returns the status of a job that is not to be run.

        Failed jobs are run again if they were cut, or all of them with `retry=failed`.
        """
        with self.claimed():
            status = self.folder.read_status()
            ended = self.ended(status)
            if ended in ("done", "pruned"):
                self.check_sources()
                self.folder.require_outputs()
                return status

            if ended == "failed" and retry != "failed" and not status.get("retry"):
                return status

            if not status:
                seed = self.config.seed
                overrides = list(self.overrides)
                self.folder.update_status(state="pending", seed=seed, overrides=overrides)
            elif status.get("state") in ("failed", "pruned", "tried"):
                # The old error goes, so that a new one can be told from it.
                self.folder.update_status(state="pending", error=None, traceback=None)

        return {}

    def begin(self) -> bool:
        """Mark the claimed run as running.

        Returns:
            Whether there is something to do, in all processes; False where the run has ended.
        """
        if not ranks.is_first():
            return ranks.from_first(False)

        status = self.folder.read_status()
        sources = self.check_sources()
        self._clock = Clock(status.get("seconds", 0.0))
        has_ended = self.ended(status) in ("done", "pruned")

        if not has_ended:
            from heron.base.libraries import provenance  # start-up time: torch

            begun = {"seed": self.config.seed, "overrides": list(self.overrides)}
            for name in ("error", "traceback", "retry"):  # of an earlier attempt
                begun[name] = None
            for name in {"pruned", "pruned_by"} & status.keys():
                begun[name] = None
            begun |= {"heartbeat": heartbeat(), "sources": sources, **provenance()}
            self.folder.update_status(state="running", **begun)
        elif os.environ.get("WANDB_RUN_ID") and wandb_options(self.config):
            from heron.training.wandb_logger import record_again

            record_again(self.config, self.folder)

        return ranks.from_first(not has_ended)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Keep the heartbeat during the work; a failure is written to `status.json`."""
        if not ranks.is_first():
            with interruptible():
                yield
            return

        of_wandb: Any = nullcontext()
        if wandb_options(self.config):
            from heron.training.wandb_logger import wandb_run  # start-up time

            of_wandb = wandb_run(self.config, self.folder)

        warnings = kept_by(self.folder.keep_warning)
        try:
            with warnings, interruptible(), of_wandb, keep_heartbeat(self.folder, self._clock):
                yield
        except BaseException as error:
            self.folder.try_update(**failure(error, self._clock.seconds()))
            raise

    def end(self, scores: Scores | None) -> None:
        """Mark the run as ended: done, or early by its search (no scores)."""
        if not ranks.is_first():
            return

        # A run of a few batches is not taken for a finished one.
        if self.config.trainer.flags.get("fast_dev_run"):
            ended: dict[str, Any] = {"state": "tried"}
        elif scores is None:
            ended = {"state": "pruned", "pruned_by": str(self.config.sweeper.study)}
        else:
            ended = {"state": "done", "outputs": self.folder.outputs()}

        self.folder.update_status(**ended, seconds=self._clock.seconds(), peak_rss_mb=peak_rss_mb())
        # Now that the run is done, nothing resumes it.
        if ended["state"] == "done" and not self.config.run.keep_checkpoints:
            self.folder.remove_spare_checkpoints()

    def read_scores(self) -> Scores:
        """Read an ended run's scores; a run that was pruned or only tried has none.

        Raises:
            ConfigError: they or other outputs are missing, damaged or have changed since.
        """
        if self.folder.state() in ("pruned", "tried"):
            return {}
        if ranks.is_first():
            self.folder.require_outputs()

        return self.folder.read_scores()

    def score(self) -> float | None:
        """Read the ended run's validation score by its `trainer.monitor`."""
        return self.folder.read_score(self.config.trainer.monitor)

    def attempt(
        self, train: Callable[[], Any], in_sweep: bool = True, is_alone: bool = False
    ) -> int:
        """Train in this process; print the error that ends it, and return the job's exit code.

        Args:
            train: trains the run.
            in_sweep: whether to write the error to `status.json`, too; a busy run is no error then.
            is_alone: whether the process is the job's own; otherwise Ctrl+C and SIGTERM are raised.
        """
        note = ": done already; run.resume=false starts over" if self.is_kept() else ""
        print(f"heron train: {self.folder.path}{note}", flush=True)
        clock = Clock()
        try:
            train()
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt) and not is_alone:
                raise
            is_busy = in_sweep and isinstance(error, BusyError)
            if isinstance(error, Exception) and not is_busy:
                self.print_error(error)

            status = self.folder.read_status()
            failed = failure(error, clock.seconds())
            is_written = status.get("error") == failed["error"]  # its training has stored it
            is_over = is_written or status.get("state") in ("done", "pruned")
            if in_sweep and not is_busy and not is_over:
                self.folder.try_update(**failed)
            return job_exit_code(error)

        return DONE

    def print_error(self, error: BaseException) -> None:
        """Print an error; without traceback where the user or the machine has caused it."""
        text = str(error)
        trace = ""
        if isinstance(error, OSError):
            words = [f"paths.{name}={path}" for name, path in vars(self.config.paths).items()]
            text = os_error_text(error, words)

        if not isinstance(error, HeronError) and not is_machine_error(error):
            trace = "".join(traceback.format_exception(error))

        print(visible(redact(f"{trace}heron train: {text}")), file=sys.stderr, flush=True)


def count_ranks(config: Config) -> int:
    """Count the processes that a run needs; a baseline always needs one."""
    return config.trainer.devices if config.baseline.name == "none" else 1


def _check_monitor(config: Config) -> None:
    """Refuse an unknown score now; Lightning would do so after the first epoch."""
    require_classes(config.data)  # the scores have their names
    monitor = config.trainer.monitor
    scores = task_of(config).monitored_names(config)
    if monitor not in scores:
        hint = nearest(monitor, scores, listed=True)
        raise ConfigError(f"trainer.monitor={monitor}: no such score.{hint}")


def job_exit_code(error: BaseException) -> int:
    """Choose the exit code of a job's process: Ctrl+C and SIGTERM are `INTERRUPTED`."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return BUSY if isinstance(error, BusyError) else FAILED


class Clock:
    """Counts the seconds of work on a run, by a monotonic clock, after those `spent` before."""

    def __init__(self, spent: float = 0.0):
        self.spent = spent
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Read the clock."""
        return round(self.spent + time.monotonic() - self._started, 1)


def source_hashes(config: Config) -> dict[str, str]:
    """Hash the files that a run is made from: data, and those of a local encoder or head.

    Returns:
        Hexadecimal SHA-256 by name, for `status.json`: `<split>` of the run's own data set,
        `<data set>.<split>` of its stages' and of those it is only tested on, `encoder`, `head`,
        those of the task (`Task.sources`), and keys that name runs or tables, such as
        `curriculum.dynamics`.
    """
    files: dict[str, Any] = {}
    for name, data in sorted(every_set(config).items()):
        prefix = "" if data is config.data else f"{name}."
        for split, path in locate(data, *config.paths.folders).items():
            files[f"{prefix}{split}"] = path

    of_task = task_of(config).sources(config)
    models = {name: EncoderConfig(path or "") for name, path in of_task.items()}
    if config.baseline.name != "none":
        files |= BASELINES[config.baseline.name].sources(config)
    else:
        models["encoder"] = config.encoder

    files |= of_task
    if config.ckpt_path:
        files["ckpt_path"] = checkpoint_of(Path(config.ckpt_path))
    if config.head.start:
        files["head"] = Path(config.head.start, HEAD)

    files["curriculum.scores"] = config.curriculum.scores
    hashes = {}
    for name, path in files.items():
        if path and Path(path).is_file():
            hashes[name] = sha256_file(path)

    # What follows takes time to import.
    local = {name: model for name, model in models.items() if model.name}
    local = {name: model for name, model in local.items() if Path(model.name).is_dir()}
    if local:
        from heron.data.hub import identity

        for name, model in local.items():
            hashes[name] = fingerprint(identity(model))

    several: dict[str, list[Path]] = {}
    if config.curriculum.dynamics is not None:
        from heron.dynamics.files import record_paths

        several["curriculum.dynamics"] = record_paths(config.curriculum.dynamics)

    if config.optim.soft.predictions or config.optim.suspects.dynamics:
        from heron.tasks.soft_targets import target_files

        several |= target_files(config)

    for key, paths in several.items():
        hashes[key] = fingerprint(map(sha256_file, paths))

    return hashes


@contextmanager
def keep_heartbeat(folder: RunFolder, clock: Clock) -> Iterator[None]:
    """Update `heartbeat` and `seconds` in `status.json` every few seconds, from a thread."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            folder.try_update(heartbeat=heartbeat(), seconds=clock.seconds())

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def heartbeat() -> dict[str, Any]:
    """Sign of life: Unix time in seconds, process id, machine."""
    return {"time": round(time.time(), 1), "pid": os.getpid(), "host": socket.gethostname()}


def failure(error: BaseException, seconds: float) -> dict[str, Any]:
    """Describe for `status.json` how a run failed, and whether the same command tries again."""
    return {
        "state": ending_state(error),
        "seconds": seconds,
        "error": f"{type(error).__name__}: {error}",
        "traceback": "".join(traceback.format_exception(error)).splitlines()[-20:],
        "retry": not isinstance(error, Exception) or is_machine_error(error),
        "peak_rss_mb": peak_rss_mb(),
    }


def ending_state(error: BaseException) -> str:
    """Name the state of a run that an error has ended."""
    if isinstance(error, Exception):
        return "failed"
    if isinstance(error, Terminated) and slurm.will_return():
        return "requeued"
    return "interrupted"


def peak_rss_mb() -> float:
    """Read this process's largest resident memory so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 if sys.platform != "darwin" else 1024**2), 1)
