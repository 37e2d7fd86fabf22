"""One attempt at a run: its folder is locked, claimed, kept up to date, and told how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from heron.base import ranks
from heron.base.errors import ConfigError, DataError, HeronError
from heron.base.files import locked
from heron.base.libraries import quiet
from heron.base.run_folder import RunFolder
from heron.base.signals import interruptible
from heron.config.schema import Config
from heron.training.claim import BusyError, check_sources, claim, count_ranks, source_hashes
from heron.training.memory import naming_memory
from heron.training.status import (
    Clock,
    beating,
    failure,
    heartbeat,
    is_settled,
    peak_rss_mb,
    provenance,
    try_update,
)
from heron.training.trainer import wandb_run

Scores = dict[str, dict[str, float]]

# What the first of several processes tells the others to do.
_TRAIN, _OVER = "train", "over"


@dataclass(slots=True)
class Attempt:
    """What came of an attempt.

    Args:
        is_over: an earlier attempt has ended the run: there is nothing to do.
        scores: as in `scores.json`, set in the block; None where its search ended the run early.
    """

    is_over: bool = False
    scores: Scores | None = None


@contextmanager
def attempt(
    config: Config, folder: RunFolder, overrides: Sequence[str] = (), wait: bool = False
) -> Iterator[Attempt]:
    """Hold a run's folder while the block works on the run; `status.json` says how that ended.

    Of several processes the first holds the folder and writes; the others only take part.

    Args:
        config, folder, overrides, wait: as for `run_job`.

    Raises:
        ConfigError: the folder holds a run with another configuration, or the run needs more
            processes than there are.
        BusyError: another process is working on it.
    """
    if count_ranks(config) != ranks.ranks():
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} needs {count_ranks(config)} processes, "
            f"this is one of {ranks.ranks()}: start the run by `heron train`"
        )
    quiet()
    if not ranks.is_first():
        if ranks.from_first(_TRAIN) == _OVER:
            yield Attempt(True, folder.read_scores())
            return
        with interruptible(), naming_memory(config):
            yield Attempt()
        return
    try:
        with locked(folder.lock, wait=wait):
            is_new = folder.is_new()
            try:
                yield from _attempt_alone(config, folder, overrides)
            except HeronError:
                if is_new:
                    folder.discard()
                raise
    except BlockingIOError as error:
        raise BusyError(f"{folder.path}: another process is working on this run") from error


def _attempt_alone(
    config: Config, folder: RunFolder, overrides: Sequence[str]
) -> Iterator[Attempt]:
    """Yield the attempt, the folder's lock held."""
    claim(config, folder)
    sources = _sources(config, folder)
    status = folder.read_status()
    is_pruned = status.get("state") == "pruned" and is_settled(config, status)
    if sources is None or is_pruned:
        ranks.from_first(_OVER)
        yield Attempt(True, {} if is_pruned else _scores(folder))
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
            wandb_run(config, folder),
            beating(folder, clock),
            naming_memory(config),
        ):
            yield this
    except BaseException as error:
        try_update(folder, **failure(error, clock.seconds()))
        raise
    ended = {"state": "done"}
    if this.scores is None:
        ended = {"state": "pruned", "pruned_by": str(config.sweeper.study)}
    folder.update_status(**ended, seconds=clock.seconds(), peak_rss_mb=peak_rss_mb())


def _sources(config: Config, folder: RunFolder) -> dict[str, str] | None:
    """Hash what the run is made from; None if the run is done already."""
    done = folder.state() == "done"
    try:
        sources = source_hashes(config)
    except DataError:
        if done:  # the data may be gone by now; the scores are not
            return None
        raise
    if done or folder.last.is_file():
        check_sources(sources, folder)
    return None if done else sources


def _scores(folder: RunFolder) -> Scores:
    """Read a finished run's scores.

    Raises:
        ConfigError: they are missing or damaged.
    """
    if not folder.scores.is_file():
        what = "is missing, yet the run is done; run.resume=false trains it again"
        raise ConfigError(f"{folder.scores} {what}")
    return folder.read_scores()
