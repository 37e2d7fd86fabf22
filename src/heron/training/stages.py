"""Sequential fine-tuning: one run that trains on several data sets, one after the other.

Each stage has its own run folder, `stages/<n>-<data set>/`, so that a stopped run resumes between
and inside its stages. Each later stage starts from the encoder of the stage before, and with
`keep_head` from its head. The model of the last stage is the model of the run. An earlier stage may
be of another task, such as raw text: it has that task's head and settings.

Source: LCHAIM section 4 (HebNLI, then LCHAIM; for Table 4 first LCHAIM, then HebNLI).
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import read_yaml, write_json
from heron.base.run_files import Scores, SpentBudget, read_record
from heron.base.run_folder import RunFolder
from heron.config.constraints import flatten
from heron.config.describe import group_options
from heron.data import TASKS
from heron.data.readers import data_set, every_set
from heron.data.sources import locate
from heron.tasks.config import Config, StageConfig, TrainerConfig
from heron.training.exported import trained_encoder
from heron.training.stored import derive, read_own

RunJob = Callable[[Config, RunFolder], Scores]


def run_stages(config: Config, folder: RunFolder, run_job: RunJob) -> Scores:
    """Train the stages of `config`, or resume them.

    Args:
        config: with `stages`.
        folder: of the whole run; each stage has a folder in it.
        run_job: trains one stage, and skips a finished one.

    Returns:
        The last stage's scores, and those of each stage n as `<n>-<data set>/<split>`.

    Raises:
        ConfigError: a stage's settings or data set do not fit, or the last one is of another task
            (before any training).
        DataError: the data of a stage are missing (before any training).
    """
    stages = config.read_stages()
    _check(config, stages)
    for data in every_set(config).values():
        locate(data, *config.paths.folders)

    last = {}
    of_stages = {}
    done: list[RunFolder] = []
    for number, stage in enumerate(stages, 1):
        inner = RunFolder(folder.stages / f"{number}-{stage.data}")
        inner.path.mkdir(parents=True, exist_ok=True)
        print(f"heron train: stage {number} of {len(stages)}: {stage.data}", flush=True)
        last = run_job(stage_config(config, stages, stage, *done[-1:]), inner)
        for split, scores in last.items():
            of_stages[f"{inner.path.name}/{split}"] = scores
        done.append(inner)

    scores_of_run = {**last, **of_stages}
    if ranks.is_first():
        _link_last_stage(inner, folder)
        folder.update_status(data=inner.read_status().get("data"))
        for stage_folder in done:
            for text in stage_folder.read_status().get("warnings", []):
                folder.keep_warning(f"{stage_folder.path.name}: {text}")

        _join_ledgers(stages, done, folder)
        write_json(folder.scores, scores_of_run)

    return scores_of_run


def _check(config: Config, stages: list[StageConfig]) -> None:
    """Refuse now what would fail, or make another model, after the first stages are trained."""
    earlier: Config | None = None
    for number, stage in enumerate(stages, 1):
        try:
            whole = stage_config(config, stages, stage)
            # Settings that do not change the shapes of weights may differ.
            whole.head = replace(whole.head, name="", dropout=0.0, start=None, over_windows="")
            if earlier and _keeps_head(stage, whole, earlier) and earlier.head != whole.head:
                raise ConfigError(
                    "its head has other layers than that of the stage before: set keep_head: false"
                )

            if number == len(stages) and whole.task.name != config.task.name:
                raise ConfigError(
                    f"its task is {whole.task.name}, the run's is {config.task.name}: the last "
                    "stage makes the run's model, so end with a data set of the run's task"
                )
        except ConfigError as error:
            raise ConfigError(f"stage {number} ({stage.data}): {error}") from error

        earlier = whole


def stage_config(
    config: Config, stages: list[StageConfig], stage: StageConfig, before: RunFolder | None = None
) -> Config:
    """Derive one stage: the run's configuration with the stage's data and settings.

    The stage is tested on the data of all stages with its task and classes. It starts from the
    model in `before`, the folder of the stage before it.

    Raises:
        ConfigError: `changes` of the stage has an unknown key or an invalid value.
    """
    data = data_set(config, stage.data, of_stage=True)
    names = dict.fromkeys([*(other.data for other in stages), *config.also_test])
    also_test = []
    for name in names:
        if name != stage.data:
            other = data_set(config, name, of_stage=True)
            if (other.task, other.label_order) == (data.task, data.label_order):
                also_test.append(name)

    # The next stage loads the exported model.
    changes = {"stages": [], "data": asdict(data), "also_test": also_test, "run.export": True}
    if data.task != config.task.name:
        changes |= _of_task(config, data.task)

    if stage.data != config.data.name:
        changes["optim.suspects"] = {}  # suspects are rows of the run's own data
        changes["others"] = {**config.values()["others"], config.data.name: asdict(config.data)}

    settings = {
        "trainer.max_epochs": stage.max_epochs,
        "optim.lr": stage.lr,
        "optim.head_lr": stage.head_lr,
        "encoder.freeze": stage.freeze,
    }
    changes |= {key: value for key, value in settings.items() if value is not None}
    if stage.max_epochs is not None:
        changes["trainer.max_steps"] = None  # the run's must not override the stage's epochs

    inner = derive(config, changes | stage.changes)
    if before is not None:
        before.require_model()
        inner.encoder = trained_encoder(inner.encoder, before.model)
        keeps_head = _keeps_head(stage, inner, read_own(before.config))
        inner.head.start = str(before.model) if keeps_head else None

    return inner


def _of_task(config: Config, name: str) -> dict[str, Any]:
    """Replace what belongs to the run's own task by the defaults of the data set's task."""
    task = config.task
    changes: dict[str, Any] = {
        "task": {"name": name, "bootstrap": task.bootstrap, "resample": task.resample},
        "head": {},
        "curriculum": {},
        "trainer.monitor": TrainerConfig().monitor,
        "optim.class_weights": "none",
        "optim.loss": "cross_entropy",
        "optim.soft": {},
        "optim.suspects": {},
        "batching.oversample": "none",
        "batching.multipliers": {},
    }

    for group, option in (("task", name), ("head", TASKS[name].head)):
        path = group_options(group)[option]
        is_global = path.read_text(encoding="utf-8").startswith("# @package _global_")
        changes |= flatten(read_yaml(path), "" if is_global else f"{group}.")

    return changes


def _keeps_head(stage: StageConfig, inner: Config, before: Config) -> bool:
    """Tell whether a stage starts from the head of the stage before: by default, of its task."""
    if stage.keep_head is None:
        return inner.task.name == before.task.name
    return stage.keep_head


def _join_ledgers(stages: list[StageConfig], done: list[RunFolder], folder: RunFolder) -> None:
    """Add up what the stages have spent; `unique` counts a data set of two stages once."""
    planned = 0
    rows = []
    total = Counter[str]()
    unique = Counter[str]()  # by data set; of two stages the larger number

    for stage, inner in zip(stages, done, strict=True):
        ledger: Any = read_record(inner.ledger, SpentBudget)
        spent = ledger["total"]
        planned += ledger["planned_steps"]
        total.update(spent)
        unique[stage.data] = max(spent["unique"], unique[stage.data])

        for row in ledger["stages"]:
            name = inner.path.name
            part = row["stage"]
            if part != "everything":
                name = f"{name}: {part}"
            rows.append({**row, "stage": name})

    total["unique"] = unique.total()
    joined = {"planned_steps": planned, "total": total, "stages": rows}
    write_json(folder.ledger, joined)


def _link_last_stage(last: RunFolder, folder: RunFolder) -> None:
    """Link or copy the last stage's model, predictions and curves into the run's folder."""
    if folder.model.is_symlink():
        folder.model.unlink()

    folder.model.symlink_to(os.path.relpath(last.model, folder.path))
    for name in ("predictions", "dynamics"):
        if (last.path / name).is_dir():
            shutil.copytree(last.path / name, folder.path / name, dirs_exist_ok=True)

    if last.metrics.is_file():
        shutil.copy2(last.metrics, folder.metrics)
