"""Sequential fine-tuning: one run that trains on several data sets, one after the other.

Each stage has its own run folder, `stages/<n>-<data set>/`, so that a stopped run resumes between
and inside its stages. A stage begins with the encoder and the head of the stage before; the last
stage's model is the run's.

Source: LCHAIM section 4 (HebNLI, then LCHAIM; Table 4 has them the other way round).
"""

import copy
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.run_folder import RunFolder, Scores
from heron.config.overrides import set_keys
from heron.config.resolve import resolve_stages
from heron.config.schema import Config, HeadConfig, StageConfig
from heron.config.stored import from_yaml, to_yaml
from heron.data.readers import data_set
from heron.data.sources import locate
from heron.training.exported import trained_encoder

RunJob = Callable[[Config, RunFolder], Scores]


def run_stages(config: Config, folder: RunFolder, run_job: RunJob) -> Scores:
    """Train the stages of `config`, or resume them; `run_job` trains one, unless it is done.

    Returns:
        The last stage's scores, and those of each stage n as `<n>-<data set>/<split>`.

    Raises:
        ConfigError, DataError: before any training: a stage's settings or data set do not fit, or
            its data is missing.
    """
    stages = resolve_stages(config)
    head: HeadConfig | None = None
    for number, stage in enumerate(stages, 1):
        try:
            before, head = head, stage_config(config, stages, stage, None).head
            # What decides the shapes of its weights.
            head = replace(head, name="", dropout=0.0, start=None, over_windows="")
            if stage.keep_head and before not in (None, head):
                raise ConfigError(
                    "its head has other layers than that of the stage before: set keep_head: false"
                )
        except ConfigError as error:
            raise ConfigError(f"stage {number} ({stage.data}): {error}") from error
    for stage in stages:
        locate(data_set(config, stage.data), Path(config.paths.data), Path(config.paths.cache))
    every: Scores = {}
    last: Scores = {}
    done: RunFolder | None = None
    for number, stage in enumerate(stages, 1):
        name = f"{number}-{stage.data}"
        inner = RunFolder(folder.stages / name)
        inner.path.mkdir(parents=True, exist_ok=True)
        print(f"heron train: stage {number} of {len(stages)}: {stage.data}", flush=True)
        last = run_job(stage_config(config, stages, stage, done), inner)
        every |= {f"{name}/{split}": scores for split, scores in last.items()}
        done = inner
    assert done is not None
    if ranks.is_first():
        _show_last_stage(done, folder)
        write_json(folder.scores, {**last, **every})
    return {**last, **every}


def stage_config(
    config: Config, stages: list[StageConfig], stage: StageConfig, before: RunFolder | None
) -> Config:
    """Compose one stage: the run's configuration with the stage's data and settings.

    Every stage is tested on each one's data; it begins with the model of the one `before`.

    Raises:
        ConfigError: a key that is not there, or a value that is refused.
    """
    inner = copy.deepcopy(config)
    inner.stages = []
    inner.data = copy.deepcopy(data_set(config, stage.data))
    if stage.data != config.data.name:
        inner.others = {**inner.others, config.data.name: config.data}
    named = dict.fromkeys([*(each.data for each in stages), *config.also_test])
    inner.also_test = [name for name in named if name != stage.data]
    settings: list[tuple[Any, str, Any]] = [
        (inner.trainer, "max_epochs", stage.max_epochs),
        (inner.optim, "lr", stage.lr),
        (inner.optim, "head_lr", stage.head_lr),
        (inner.encoder, "freeze", stage.freeze),
    ]
    for part, key, value in settings:
        if value is not None:
            setattr(part, key, value)
    if stage.max_epochs is not None:
        inner.trainer.max_steps = None  # the run's; this stage says otherwise
    set_keys(inner, stage.changes, "changes")
    inner.run.export = True  # the next stage begins with it
    if before is not None:
        before.require_model()
        inner.encoder = trained_encoder(inner.encoder, before.model)
        inner.head.start = str(before.model) if stage.keep_head else None
    return from_yaml(to_yaml(inner))


def _show_last_stage(last: RunFolder, folder: RunFolder) -> None:
    """Link or copy the last stage's model, predictions and curves into the run's folder."""
    if folder.model.is_symlink():
        folder.model.unlink()
    elif folder.model.exists():
        raise ConfigError(
            f"{folder.model}: remove it; it is not the link to the last stage that belongs there"
        )
    folder.model.symlink_to(os.path.relpath(last.model, folder.path))
    for name in ("predictions", "dynamics"):
        if (last.path / name).is_dir():
            shutil.copytree(last.path / name, folder.path / name, dirs_exist_ok=True)
    if last.metrics.is_file():
        shutil.copy2(last.metrics, folder.metrics)
