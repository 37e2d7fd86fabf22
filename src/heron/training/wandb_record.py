"""What W&B is told about a run: its names, its configuration, its scores, its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wandb

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.secrets import redacted
from heron.base.tables import read_table
from heron.config.checks import as_dict
from heron.config.schema import Config
from heron.training.hooks import FIGURES

_TEXTS = ("text", "text_pair")


def identity(config: Config, folder: RunFolder, first_run: bool = False) -> dict[str, Any]:
    """Name a run in W&B.

    Args:
        config: the run's.
        folder: a job of a sweep, or a stage in one.
        first_run: whether a curriculum learns from it.

    Returns:
        `group` (the sweep), `name` (the job), `job_type` (train, baseline, stages, stage,
        first-run) and `tags` (`task:nli`, ...), as `wandb.init` takes them.
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
    return {
        "group": job.parent.name[:128],
        "name": name,
        "job_type": kind,
        "tags": _tags(config),
    }


def _tags(config: Config) -> list[str]:
    """What runs are told apart by; W&B takes tags of at most 64 characters."""
    tags = {"task": config.task.name, "language": config.data.language}
    if config.baseline.name == "none":
        tags |= {"encoder": Path(config.encoder.name).name, "head": config.head.name}
        tags["curriculum"] = config.curriculum.name
    else:
        tags["baseline"] = config.baseline.name
    tags |= {"data": config.data.name, "protocol": config.protocol}
    return [f"{key}:{value}"[:64] for key, value in tags.items()]


def record_config(config: Config, folder: RunFolder) -> dict[str, Any]:
    """Give the resolved configuration, and where it came from: git commit, SHA-256 of the data."""
    status = folder.read_status()
    origin = {key: status.get(key) for key in ("heron", "git", "sources", "overrides")}
    record: dict[str, Any] = redacted({**as_dict(config), "provenance": origin})
    return record


def summary(folder: RunFolder) -> dict[str, float]:
    """Give the final scores and what was spent.

    The scores are those of the weights that were chosen by validation, as in `scores.json`.

    Returns:
        `{"scores/<split>/<metric>": fraction, "ledger/<count>": number}`.
    """
    found: dict[str, float] = {}
    if folder.scores.is_file():
        for split, scores in read_json(folder.scores).items():
            found |= {f"scores/{split}/{name}": value for name, value in scores.items()}
    if folder.ledger.is_file():
        ledger = read_json(folder.ledger)
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
        artifact.add_file(str(FIGURES["map"](folder)), "map.png", policy="immutable")
        yield artifact
