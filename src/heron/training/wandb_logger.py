"""Weights & Biases beside `metrics.csv`: one W&B run per run folder, continued on resume.

W&B never stops a run: where its server does not answer, the run is recorded on disk, and one
warning says how to upload it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import wandb
from pytorch_lightning.loggers import WandbLogger
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from heron.base.errors import first_line
from heron.base.files import read_json, write_json
from heron.base.notices import has_said, say
from heron.base.run_folder import RunFolder
from heron.config.schema import Config
from heron.metrics.names import is_minimised
from heron.training.wandb_record import artifacts, identity, record_config, summary

INIT_SECONDS = 20.0  # a server that does not answer costs a command so much
FINISH_SECONDS = 120.0  # for what is not uploaded yet when the run ends

# The folders of the jobs at work: a curriculum's first run and stages are trained inside another.
# Of the process, as W&B's own run is.
_at_work: list[RunFolder] = []


class _Logger(WandbLogger):
    """Lightning's logger, except that no trouble of W&B's stops a training."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Add one row."""
        _attempt("some metrics", lambda: super(_Logger, self).log_metrics(metrics, step))


def wandb_logger(config: Config, folder: RunFolder) -> WandbLogger | None:
    """Open the W&B run of a run folder, or go on with the one that it had.

    Returns:
        None in all processes of a distributed run but the first.
    """
    if _is_other_process():
        return None
    return _Logger(project=config.logger.project, experiment=_open(config, folder))


@contextmanager
def wandb_run(config: Config, folder: RunFolder) -> Iterator[None]:
    """Complete the W&B run when the block ends, or close it as failed when the block fails.

    Otherwise the next job of a sweep would log into it, and a failed run would look finished.
    Jobs without a Trainer (baselines, and the whole of several stages) get their run here.
    """
    _at_work.append(folder)
    try:
        yield
    except BaseException:
        _close(1)
        raise
    else:
        if not _is_other_process():
            _attempt("scores and artifacts", lambda: _complete(config, folder))
            _close(0)
    finally:
        _at_work.pop()


def _is_other_process() -> bool:
    """Whether this is not the first process of a distributed run: only that one talks to W&B."""
    return bool(getattr(rank_zero_only, "rank", 0))


def _open(config: Config, folder: RunFolder) -> Any:
    """Call `wandb.init`; offline where the server refuses or does not answer.

    One job of a command waits for that, and the jobs after it do not try.
    """
    settings = wandb.Settings(
        init_timeout=INIT_SECONDS,
        finish_timeout=FINISH_SECONDS,
        finish_timeout_raises=True,
        silent=True,
        # W&B would store the command line, the git remote, the uncommitted changes and all that is
        # printed, with whatever secrets are in them. heron records what counts, masked.
        disable_git=True,
        disable_code=True,
        console="off",
        x_disable_meta=True,
        x_save_requirements=False,
    )
    first_run = len(_at_work) > 1 and folder.path.parent.name != folder.stages.name
    words = {
        "project": config.logger.project,
        "dir": folder.path,
        "id": _run_id(config, folder),
        "resume": "allow",
        "config": record_config(config, folder),
        "settings": settings,
        **identity(config, folder, first_run),
    }
    unreachable = f"W&B cannot be reached for {config.logger.project}"
    mode = "offline" if has_said(unreachable) else config.logger.mode
    try:
        run = wandb.init(mode=mode, **words)  # type: ignore[arg-type]
    except wandb.Error as error:
        why = first_line(error).replace(str(words["id"]), "<id>")
        say(
            f"W&B cannot be reached ({why}); this command's runs are recorded on disk instead, and "
            "`wandb sync <run folder>/wandb/offline-run-*` uploads them. "
            "logger.mode=offline does not try",
            about=unreachable,
        )
        wandb.teardown()  # its service still holds the id
        run = wandb.init(mode="offline", **words)
    monitor, best = f"validation/{config.trainer.monitor}", "max"
    if is_minimised(config.trainer.monitor):
        best = "min"
    run.define_metric("trainer/global_step")
    run.define_metric("*", step_metric="trainer/global_step", step_sync=True)
    run.define_metric(monitor, step_metric="trainer/global_step", summary=best)
    return run


def _run_id(config: Config, folder: RunFolder) -> str:
    """Read the id that lies beside `last.ckpt`, or draw one; starting over removes both."""
    path = folder.last.parent / "wandb.json"
    stored = read_json(path) if path.is_file() else {}
    if stored.get("project") != config.logger.project:
        stored = {"project": config.logger.project, "id": secrets.token_hex(8)}
        write_json(path, stored)
    return str(stored["id"])


def _complete(config: Config, folder: RunFolder) -> None:
    run = wandb.run or _open(config, folder)
    run.summary.update(summary(folder))
    if config.logger.artifacts:
        for artifact in artifacts(run.id, folder):
            run.log_artifact(artifact)


def _close(exit_code: int) -> None:
    if wandb.run is not None:
        lost = "what is not uploaded yet (`wandb sync <run folder>/wandb/run-*` tries again)"
        _attempt(lost, lambda: _finish(exit_code))


def _finish(exit_code: int) -> None:
    wandb.finish(exit_code=exit_code)
    if len(_at_work) == 1:
        # Its service writes the last rows after `finish` has returned; wait for them, because the
        # processes of a sweep's jobs end without the usual clean-up.
        wandb.teardown(exit_code=exit_code)


def _attempt(what: str, action: Callable[[], Any]) -> None:
    """Do something with W&B; say what is missing there if it fails.

    Whatever goes wrong, a training of hours must not end for a copy of what is on disk anyway.
    """
    try:
        action()
    except Exception as error:
        why = first_line(error).rstrip(".")
        say(f"W&B lacks {what}: {type(error).__name__}: {why}. The run folder has everything")
