"""One attempt at a run: its folder is locked and claimed, and `status.json` says how it ended."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from heron.base import ranks
from heron.base.errors import ConfigError, DataError, HeronError, first_line
from heron.base.files import locked
from heron.base.libraries import silence_libraries
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder, Scores
from heron.base.signals import interruptible
from heron.tasks.config import Config
from heron.training.callbacks import wandb_options
from heron.training.claim import BusyError, check_sources, claim, count_ranks, source_hashes
from heron.training.status import (
    Clock,
    failure,
    heartbeat,
    is_finished,
    keep_heartbeat,
    peak_rss_mb,
    provenance,
    try_update,
)

# Start-up time: few runs need them.
record_again = on_demand("heron.training.wandb_logger:record_again")
wandb_run = on_demand("heron.training.wandb_logger:wandb_run")

# What the first of several processes tells the others to do.
_TRAIN, _OVER = "train", "over"
_OUT_OF_MEMORY = re.compile(r"out of memory|(can't|cannot) allocate|bad_alloc", re.IGNORECASE)


class OutOfMemoryError(HeronError):
    """A machine or a device has less memory than a run needs."""


@dataclass(slots=True)
class Attempt:
    """The result of an attempt."""

    is_over: bool = False  # an earlier attempt has ended the run: there is nothing to do
    # As in `scores.json`, set in the block; None where its search ended the run early.
    scores: Scores | None = None


@contextmanager
def attempt(
    config: Config, folder: RunFolder, overrides: Sequence[str] = (), wait: bool = False
) -> Iterator[Attempt]:
    """Hold a run's folder while the block works on the run; `status.json` says how that ended.

    Of several processes the first holds the folder and writes; the others write nothing. Arguments
    and errors are those of `run_job`; `OutOfMemoryError` says that memory has run out.
    """
    if count_ranks(config) != ranks.ranks():
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} needs {count_ranks(config)} processes, "
            f"this is one of {ranks.ranks()}: start the run by `heron train`"
        )
    silence_libraries()
    if not ranks.is_first():
        if ranks.from_first(_TRAIN) == _OVER:
            yield Attempt(True, folder.read_scores())
            return
        with interruptible(), explain_memory(config):
            yield Attempt()
        return
    try:
        with locked(folder.lock, wait=wait):
            is_new = folder.is_new()
            try:
                yield from _attempt_locked(config, folder, overrides)
            except HeronError:
                if is_new:
                    folder.discard()
                raise
    except BlockingIOError as error:
        raise BusyError(f"{folder.path}: another process is working on this run") from error


def _attempt_locked(
    config: Config, folder: RunFolder, overrides: Sequence[str]
) -> Iterator[Attempt]:
    """Yield the attempt of the first process, which holds the folder's lock."""
    claim(config, folder)
    sources = _sources(config, folder)
    status = folder.read_status()
    is_pruned = status.get("state") == "pruned" and is_finished(config, status)
    if sources is None or is_pruned:  # it is done, or was ended early
        ranks.from_first(_OVER)
        if os.environ.get("WANDB_RUN_ID") and wandb_options(config):
            record_again(config, folder)
        yield Attempt(True, {} if is_pruned else _read_scores(folder))
        return
    clock, this = Clock(status.get("seconds", 0.0)), Attempt()
    folder.update_status(
        state="running",
        seed=config.seed,
        overrides=list(overrides),
        error=None,
        traceback=None,
        retry=None,
        heartbeat=heartbeat(),
        sources=sources,
        **provenance(),
        **{key: None for key in ("pruned", "pruned_by") if key in status},
    )
    ranks.from_first(_TRAIN)
    try:
        with (
            interruptible(),
            wandb_run(config, folder) if wandb_options(config) else nullcontext(),
            keep_heartbeat(folder, clock),
            explain_memory(config),
        ):
            yield this
    except BaseException as error:
        try_update(folder, **failure(error, clock.seconds()))
        raise
    ended: dict[str, Any] = {"state": "done", "outputs": folder.outputs()}
    tried = config.trainer.flags.get("fast_dev_run")
    if this.scores is None or tried:  # a run of a few batches is not taken for a finished one
        by = "trainer.fast_dev_run" if tried else str(config.sweeper.study)
        ended = {"state": "pruned", "pruned_by": by}
    folder.update_status(**ended, seconds=clock.seconds(), peak_rss_mb=peak_rss_mb())


def _sources(config: Config, folder: RunFolder) -> dict[str, str] | None:
    """Hash the files that the run is made from; None if the run is done already."""
    done = folder.state() == "done"
    try:
        sources = source_hashes(config)
    except DataError:
        if done:  # scores outlive the data
            return None
        raise
    if done or folder.last.is_file():
        check_sources(sources, folder)
    return None if done else sources


def _read_scores(folder: RunFolder) -> Scores:
    """Read a finished run's scores; a ConfigError says that they are missing or damaged."""
    if not folder.scores.is_file():
        what = "is missing, yet the run is done; run.resume=false trains it again"
        raise ConfigError(f"{folder.scores} {what}")
    scores = folder.read_scores()
    folder.require_outputs()
    return scores


@contextmanager
def explain_memory(config: Config) -> Iterator[None]:
    """Raise `OutOfMemoryError` where memory runs out; where it is torch's, with keys to change."""
    try:
        yield
    except Exception as error:
        of_torch = isinstance(error, RuntimeError) and _OUT_OF_MEMORY.search(str(error))
        if not isinstance(error, MemoryError) and not of_torch:
            raise
        text = f"out of memory ({first_line(error) or type(error).__name__})"
        if of_torch and config.baseline.name == "none":
            key = "size" if config.batching.plan == "shuffle" else "tokens"
            text += (
                f"; lower batching.{key} (and in evaluation batching.tokens), or set trainer."
                "precision=bf16-mixed or encoder.gradient_checkpointing=true. A training keeps its "
                "steps where trainer.accumulate_grad_batches is raised as batches get smaller"
            )
        raise OutOfMemoryError(text) from error
