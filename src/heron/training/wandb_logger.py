"""Weights & Biases beside `metrics.csv`: one W&B run per run folder, continued on resume.

W&B never stops a run: where its server does not answer, the run is recorded on disk, and one
warning says how to upload it.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import wandb
from pytorch_lightning.loggers import WandbLogger
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from heron.base.errors import first_line
from heron.base.files import read_json, write_json
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder, read_record
from heron.base.secrets import redacted
from heron.base.tables import read_table
from heron.base.terminal import said, say
from heron.metrics.names import is_minimised
from heron.tasks.config import Config

draw_map = on_demand("heron.reports.map:draw_map")  # of a higher layer

_TEXTS = ("text", "text_pair")
# What W&B's environment says of a run, by the key of `logger` that says the same.
_VARIABLES = {
    **{key: f"WANDB_{key.upper()}" for key in ("project", "entity", "name", "notes", "tags")},
    **{"group": "WANDB_RUN_GROUP", "job_type": "WANDB_JOB_TYPE", "mode": "WANDB_MODE"},
}
INIT_SECONDS = 20.0  # to wait for a server that does not answer
FINISH_SECONDS = 120.0  # to upload the rest when the run ends

# Folders of the runs being trained: stages and a curriculum's first run are inside another run.
# A module global, because W&B's own current run is one.
_training: list[RunFolder] = []


class _Logger(WandbLogger):
    """Lightning's logger, except that an error of W&B does not stop a training."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Add one row."""
        _attempt("some metrics", lambda: super(_Logger, self).log_metrics(metrics, step))


def wandb_logger(config: Config, folder: RunFolder) -> WandbLogger:
    """Open the W&B run of a run folder, or resume it; in the first process only."""
    return _Logger(experiment=_open(config, folder))


@contextmanager
def wandb_run(config: Config, folder: RunFolder) -> Iterator[None]:
    """Complete the W&B run when the block ends, or close it as failed when the block fails.

    Otherwise the next job of a sweep would log into it, and a failed run would look finished.
    Jobs without a Trainer (baselines, and the whole of several stages) get their run here.
    """
    _training.append(folder)
    try:
        yield
    except BaseException:
        _close(1)
        raise
    else:
        if not getattr(rank_zero_only, "rank", 0):  # only the first process talks to W&B
            _attempt("scores and artifacts", lambda: _complete(config, folder))
            _close(0)
    finally:
        _training.pop()


def _open(config: Config, folder: RunFolder) -> Any:
    """Call `wandb.init`; offline if the server refuses or does not answer.

    Only one job of a command waits for the server; the jobs after it do not try.
    """
    settings = wandb.Settings(
        init_timeout=INIT_SECONDS,
        finish_timeout=FINISH_SECONDS,
        finish_timeout_raises=True,
        silent=True,
        # W&B would store the command line, the git remote, uncommitted changes and everything that
        # is printed, secrets included. heron records what matters, with secrets masked.
        disable_git=True,
        disable_code=True,
        console="off",
        x_disable_meta=True,
        x_save_requirements=False,
    )
    first_run = len(_training) > 1 and folder.path.parent.name != folder.stages.name
    words = identity(config, folder, first_run) | {
        "dir": folder.path,
        "id": _run_id(config, folder),
        "resume": "allow",
        "config": record_config(config, folder),
        "settings": settings,
    }
    unreachable = f"W&B cannot be reached for {words['project']}"
    try:
        run = wandb.init(**words | {"mode": "offline"} if unreachable in said() else words)
    except wandb.Error as error:
        why = first_line(error).replace(str(words["id"]), "<id>")
        say(
            f"W&B cannot be reached ({why}); this command's runs are recorded on disk instead, and "
            "`wandb sync <run folder>/wandb/offline-run-*` uploads them. "
            "logger.mode=offline does not try",
            about=unreachable,
        )
        wandb.teardown()  # its service still holds the id
        run = wandb.init(**words | {"mode": "offline"})
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
    project = identity(config, folder)["project"]
    if stored.get("project") != project:
        stored = {"project": project, "id": secrets.token_hex(8)}
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
    if len(_training) == 1:
        # Its service writes the last rows after `finish` has returned; wait for them, because the
        # processes of a sweep's jobs end without the usual clean-up.
        wandb.teardown(exit_code=exit_code)


def _attempt(what: str, action: Callable[[], Any]) -> None:
    """Call `action`; if it fails, warn that W&B lacks `what`.

    A training must not end because a copy of what is on disk could not be uploaded.
    """
    try:
        action()
    except Exception as error:
        why = first_line(error).rstrip(".")
        say(f"W&B lacks {what}: {type(error).__name__}: {why}. The run folder has everything")


def identity(config: Config, folder: RunFolder, first_run: bool = False) -> dict[str, Any]:
    """Name a run in W&B: `group` (the sweep), `name` (the job), `job_type`, `tags` and more.

    What W&B's environment says wins over that, and what `logger` says wins over both. By default
    the job's type is train, baseline, stages, stage or first-run, which a curriculum learns from.
    """
    job, name, kind = folder.path.resolve(), folder.path.resolve().name, "train"
    if job.parent.name == folder.stages.name:
        job, kind = job.parents[1], "stage"
        name = f"{job.name}/{name}"
    elif first_run:
        kind = "first-run"
    elif config.stages:
        kind = "stages"
    elif config.baseline.name != "none":
        kind = "baseline"
    own = {"project": "heron", "mode": "offline", "name": name, "job_type": kind}
    own |= {"group": job.parent.name[:128], "tags": ",".join(_tags(config))}
    found = {
        key: getattr(config.logger, key) or os.environ.get(variable) or own.get(key)
        for key, variable in _VARIABLES.items()
    }
    tags = found["tags"].split(",") if isinstance(found["tags"], str) else found["tags"]
    return found | {"tags": tags}


def _tags(config: Config) -> list[str]:
    """Make tags such as `task:nli`; W&B takes at most 64 characters each."""
    tags = {"task": config.task.name, "language": config.data.language}
    if config.baseline.name == "none":
        tags |= {"encoder": Path(config.encoder.name).name, "head": config.head.name}
        tags["curriculum"] = config.curriculum.name
    else:
        tags["baseline"] = config.baseline.name
    tags |= {"data": config.data.name, "protocol": config.protocol}
    return [f"{key}:{value}"[:64] for key, value in tags.items()]


def record_config(config: Config, folder: RunFolder) -> dict[str, Any]:
    """Return the resolved configuration with its provenance: git commit, SHA-256 of the data."""
    status = folder.read_status()
    origin = {key: status.get(key) for key in ("heron", "git", "sources", "overrides")}
    return redacted({**asdict(config), "provenance": origin})


def summary(folder: RunFolder) -> dict[str, float]:
    """Return the final scores, as in `scores.json`, and what was spent.

    Keys are `scores/<split>/<metric>` (fractions) and `ledger/<count>`.
    """
    found: dict[str, float] = {}
    for split, scores in folder.read_scores().items():
        found |= {f"scores/{split}/{name}": value for name, value in scores.items()}
    if folder.ledger.is_file():
        ledger = read_record(folder.ledger)
        found |= {f"ledger/{name}": value for name, value in ledger["total"].items()}
        found["ledger/planned_steps"] = ledger["planned_steps"]
    return found


def artifacts(run_id: str, folder: RunFolder) -> Iterator[wandb.Artifact]:
    """Build the artifacts: predictions as tables without texts, and the data map's figure."""
    files = sorted(folder.predictions("test").parent.glob("*.parquet"))
    if files:
        artifact = wandb.Artifact(f"predictions-{run_id}", "predictions")
        for path in files:
            table = read_table(path)
            names: list[Any] = [name for name in table.columns if name not in _TEXTS]
            rows: list[Any] = [[row[name] for name in names] for row in table.rows]
            artifact.add(wandb.Table(columns=names, data=rows), path.stem.replace("/", "-"))
        yield artifact
    if any(folder.dynamics(0).parent.glob("epoch=*.parquet")):
        artifact = wandb.Artifact(f"data-map-{run_id}", "data-map")
        artifact.add_file(str(draw_map(folder)), "map.png", policy="immutable")
        yield artifact
