"""The schema of the configuration: every key that the code reads, with its type and its unit.

YAML in `conf/` holds the values. A field's type says which values are allowed, and the method
`problems()` of a class which of them cannot work together; `heron.config.parsing` reads both.
`heron options` prints the comments on the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, make_dataclass
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from annotated_types import Ge, Interval

from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.config.constraints import (
    PARTS,
    AsWritten,
    Chosen,
    ConstrainedConfig,
    Count,
    InlineMapping,
    Natural,
    OneOf,
    Seed,
    field_types,
)
from heron.config.parsing import parse
from heron.data import TASKS
from heron.data.config import (
    TEST,
    TRAIN,
    VALIDATION,
    BatchingConfig,
    DataConfig,
    RunSettings,
)
from heron.dynamics.config import CurriculumConfig, DynamicsConfig
from heron.metrics import METRICS
from heron.models.config import EncoderConfig, Freeze, HeadConfig, OptimConfig, Rate
from heron.tasks import BASELINES, BaselineConfig
from heron.tasks.checks import run_problems

if TYPE_CHECKING:  # start-up time
    from omegaconf import DictConfig


@dataclass
class PathsConfig:
    """Folders; none of them influences a result."""

    data: str = "data"  # data sets (`<data>/trc/...`); the default is `HERON_DATA`
    cache: str = "cache"  # downloads, generated corpora, tokenized features
    runs: str = "runs"  # run folders

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders of data sets and of the cache."""
        return Path(self.data), Path(self.cache)


@dataclass
class TaskConfig:
    """What is learned and how it is scored.

    These are the keys of every task. A task with further ones has a subclass: `TaskRules.options`.
    """

    # `relation`, `nli` (sentence pairs), `qa` (answers are spans of the text), `summarization`,
    # `classification` (single texts), or a tool's or fork's. `heron options task=NAME` lists the
    # keys that one has.
    name: Annotated[str, OneOf(registry=TASKS)] = "relation"
    bootstrap: Natural = 1000  # bootstrap resamples for the 95 % intervals; 0: no intervals
    # unit of a resample: `group` (documents; texts where there are none) or `row`. Pairs of one
    # document are not independent, so `row` gives intervals that are too narrow.
    resample: Annotated[str, OneOf("group", "row")] = "group"
    # further scores, registered by forks; computed at the end of a run
    metrics: list[Annotated[str, OneOf(registry=METRICS)]] = field(default_factory=list)

    @classmethod
    def of(cls, config: RunSettings) -> Self:
        """Give the task's part of a run's configuration, for code of this task alone."""
        part = config.task
        assert isinstance(part, cls)
        return part


_TASK = Chosen(TASKS, TaskConfig)

PRECISIONS = OneOf("auto", "bf16-mixed", "32-true", "16-mixed")
# What a baseline ignores, see `SettingRules.ignores`.
_TRAINING = (
    *("stages", "curriculum.name", "optim.soft.columns", "optim.soft.predictions"),
    "optim.suspects.dynamics",
)


class Parts(InlineMapping):
    """Settings of tools and forks, by their key in `PARTS`."""

    def check(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Read each by its dataclass; raises a ConfigError with its keys."""
        return {name: parse(PARTS[name], part, f"{name}.") for name, part in value.items()}


class TrainerFlags(InlineMapping):
    """Arguments of Lightning's Trainer by name, each of the type that it has there."""

    def check(self, value: dict[str, Any]) -> dict[str, Any]:
        """Leave out null ones; imports Lightning only if there are others."""
        flags = {name: flag for name, flag in value.items() if flag is not None}
        if flags:
            import pytorch_lightning as pl  # start-up time

            fields = []
            for parameter in signature(pl.Trainer).parameters.values():
                fields.append((parameter.name, parameter.annotation, parameter.default))
            parse(make_dataclass("Trainer", fields), flags, "trainer.")
        return flags


@dataclass
class TrainerConfig(ConstrainedConfig):
    """How long and on what a run trains, and what is kept."""

    max_epochs: Count = 3  # passes over the train split
    # optimizer steps, in place of `max_epochs`; the last epoch is cut short. null: `max_epochs`
    # decides.
    max_steps: Count | None = None
    # the validation score that chooses the best epoch (the highest), or
    # `loss` (the lowest)
    monitor: str = "macro_f1"
    # `best` epoch (by `monitor`, needs a validation split), `last`, or the `mean` of the weights
    # after each of the last `mean_of` epochs
    select: Annotated[str, OneOf("best", "last", "mean")] = "best"
    mean_of: Count = 3  # of `select=mean`: number of epochs
    # epochs without a better `monitor` before training stops; null: it never stops early
    patience: Count | None = None
    # device type; `auto` takes a GPU where there is one
    accelerator: Annotated[str, OneOf("auto", "cpu", "cuda", "gpu", "mps", "tpu")] = "auto"
    # processes on each machine, each with its own device (or share of the cores). Every batch is
    # divided between them, so a step computes the same with any number.
    devices: Count = 1
    # of several devices: `auto` and `ddp` (each has the whole model), `fsdp` (each has a part of
    # it; GPUs only), or `ddp_find_unused_parameters_true` (`ddp` for an encoder with weights that
    # no output depends on)
    strategy: Annotated[str, OneOf("auto", "ddp", "ddp_find_unused_parameters_true", "fsdp")] = (
        "auto"
    )
    # `bf16-mixed`, `32-true`, `16-mixed`, or by the machine: `auto` takes `bf16-mixed` on a GPU
    # (`16-mixed` on one without bf16) and on processors whose bf16 products are known to be faster
    # (AMX; AMD with avx512_bf16), else `32-true`. A run's config.yaml has what was chosen, and the
    # run keeps it.
    precision: Annotated[str, PRECISIONS] = "auto"
    # minutes between checkpoints; an epoch that took seconds ends with one, too
    checkpoint_minutes: float = 5.0
    checkpoint_steps: Count | None = None  # the same in optimizer steps; null: by time only
    # CPU threads of each process; null: as many as the cores it may use, and 1 for a small model
    threads: Annotated[int, Interval(ge=1, le=1024)] | None = None
    # show a progress bar; null: when the output is a terminal
    enable_progress_bar: bool | None = None
    # batches per optimizer step; its gradient is that of one batch with all their rows
    accumulate_grad_batches: Count = 1
    # largest gradient norm, or value (`gradient_clip_algorithm=value`); 0: no clipping
    gradient_clip_val: Annotated[float, Ge(0)] | None = 1.0
    # any other argument of Lightning's Trainer; leave out `flags`: trainer.fast_dev_run=true,
    # trainer.limit_train_batches=0.1, trainer.val_check_interval=0.5, trainer.profiler=simple
    flags: Annotated[dict[str, Any], TrainerFlags()] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Accept `monitor` as loggers name it, too: `validation/macro_f1`."""
        self.monitor = self.monitor.removeprefix("validation/")

    def needs_validation(self) -> bool:
        """Tell whether scores on validation choose the epoch or end the training."""
        return self.select == "best" or self.patience is not None

    def problems(self) -> Iterator[str]:
        """List settings of the trainer that cannot work together."""
        if self.patience is not None and self.flags.get("limit_val_batches") == 0:
            yield "trainer.patience needs validation, not trainer.limit_val_batches=0"
        machines = self.flags.get("num_nodes", 1)
        if machines != 1:
            yield f"trainer.num_nodes={machines}: a run has one; pl.Trainer in a script takes more"

        several_devices = self.devices > 1
        fsdp = self.strategy == "fsdp"
        if several_devices and self.accelerator in ("mps", "tpu"):
            yield (
                f"trainer.devices={self.devices}: several devices need trainer.accelerator=cpu or "
                f"cuda, not {self.accelerator}"
            )
        if fsdp and (not several_devices or self.accelerator == "cpu"):
            yield "trainer.strategy=fsdp needs several GPUs: set trainer.devices to their number"
        if self.select == "mean" and (self.patience is not None or fsdp):
            yield (
                "trainer.select=mean needs a fixed last epoch and whole weights: set "
                "trainer.patience=null and another trainer.strategy than fsdp"
            )


@dataclass
class RunConfig:
    """The run folder, and what happens when it exists."""

    # folder under `paths.runs`; null: named by the experiment or the data, and by overrides that
    # change data, task or length (`heron.training.run_names.sweep_name`)
    sweep: str | None = None
    job: str | None = None  # folder under the sweep; null: named by the overrides and a hash
    resume: bool = True  # continue from `last.ckpt` and skip finished runs; false: start over
    export: bool = True  # write `model/` in Hugging Face form
    # keep the checkpoints of a finished run, from which `ckpt_path` trains on; else its weights are
    # kept once, in `model/`
    keep_checkpoints: bool = False
    # train every job in its own process; null: in sweeps only. A job on several devices always
    # has its own process.
    isolate: bool | None = None
    # which ended jobs the same command trains again: `cut` (stopped, killed, out of memory, disk
    # full) or `failed` (all that failed)
    retry: Annotated[str, OneOf("cut", "failed")] = "cut"
    # under `run.from=DIR`, instantiate the classes that its config.yaml names, of any package
    trust: bool = False


@dataclass
class SweeperConfig:
    """The search that a run is a trial of; set by `hydra/sweeper=optuna`."""

    # what stops bad trials early
    pruner: Annotated[str, OneOf("none", "median", "hyperband")] = "none"
    startup_trials: Natural = 5  # random trials before the sampler learns
    startup_epochs: Count = 1  # epochs that every trial gets
    study: str | None = None  # name of the study in the sweep's journal
    trial: int | None = None  # number of the trial


@dataclass
class StageConfig:
    """One stage of sequential fine-tuning; null keeps the run's own value."""

    # a data set of `conf/data`, with the run's classes or of another task. Of another task, the
    # stage has that task's head and settings (`conf/task`), and passes on its encoder only.
    data: str
    max_epochs: int | None = None  # passes over its train split
    lr: Rate | None = None  # peak learning rate of the encoder
    head_lr: Rate | None = None  # peak learning rate of the head
    freeze: Freeze | None = None  # as `encoder.freeze`; `all` trains a probe
    # start from the previous stage's head, not from a new one; null: if that has the same task
    keep_head: bool | None = None
    # dotted keys that differ in this stage, such as `{batching.size: 8, optim.warmup_steps: 500,
    # head.classifier: linear}`
    changes: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Read a data set's name alone, too."""
        from pydantic_core import core_schema

        def as_mapping(stage: Any) -> Any:
            return {"data": stage} if isinstance(stage, str) else stage

        return core_schema.no_info_before_validator_function(as_mapping, handler(source))


@dataclass
class Config(ConstrainedConfig):
    """Everything one run needs."""

    data: DataConfig  # data set to train on and to be scored on
    seed: Seed = 0  # of random weights, dropout and the order of examples
    # whose choices apply where a paper and its released code differ: `paper`, `repo`, or heron's
    # own, `fixed`
    protocol: Annotated[str, OneOf("fixed", "paper", "repo")] = "fixed"
    experiment: str | None = None  # the chosen experiment; set by `experiment=NAME`
    # run to continue, by its folder or checkpoint, with its weights, optimizer, epoch and random
    # state, up to `trainer.max_epochs`; null: train from the start
    ckpt_path: str | None = None
    report: str | None = None  # the paper's table to compare a sweep with, such as `trc/table4`
    # data sets to train on one after the other: names, or mappings as in
    # `StageConfig`; empty: train once, on `data`
    stages: list[Annotated[Any, AsWritten(StageConfig)]] = field(default_factory=list)
    # further data sets with the same classes; their test splits (validation where there is none)
    # are predicted and scored as `<data set>.<split>`
    also_test: list[str] = field(default_factory=list)
    # data sets to use instead of those of that name in `conf/data`; within a stage, the run's own
    # `data` with all its overrides
    others: dict[str, DataConfig] = field(default_factory=dict)
    paths: PathsConfig = field(default_factory=PathsConfig)
    task: Annotated[TaskConfig, _TASK] = field(default_factory=TaskConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    baseline: Annotated[Any, Chosen(BASELINES, BaselineConfig)] = field(
        default_factory=BaselineConfig
    )
    optim: OptimConfig = field(default_factory=OptimConfig)
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    # loggers beside `metrics.csv`: `{name: {_target_: the class, option: value}}`
    logger: dict[str, Any] = field(default_factory=dict)
    # callbacks beside heron's own: `{name: {_target_: the class, option: value}}`
    callbacks: dict[str, Any] = field(default_factory=dict)
    run: RunConfig = field(default_factory=RunConfig)
    sweeper: SweeperConfig = field(default_factory=SweeperConfig)
    # what tools and forks have registered (`heron.config.constraints.PARTS`); leave out `parts`
    parts: Annotated[dict[str, Any], Parts()] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give a task that is only named its own keys: `Config(data, task=TaskConfig("qa"))`."""
        if type(self.task) is TaskConfig:
            self.task = _TASK.check(self.task)

    def __getattr__(self, name: str) -> Any:
        """Get the settings of a tool or fork."""
        try:
            return self.__dict__["parts"][name]
        except KeyError:
            raise AttributeError(f"no part {name}") from None

    def values(self) -> dict[str, Any]:
        """List all values as YAML has them."""
        values = asdict(self)
        return values | values.pop("parts")

    def problems(self) -> Iterator[str]:
        """List what cannot work together in a run."""
        yield from run_problems(self)

    def without_effect(self) -> dict[str, str]:
        """Find the set keys that have no effect, each with the setting that makes it so."""
        ignored = dict.fromkeys(TASKS[self.task.name].rules.ignores, f"task={self.task.name}")
        if self.baseline.name != "none":
            ignored |= dict.fromkeys(_TRAINING, f"baseline={self.baseline.name}")

        default = Config(data=DataConfig())
        without = {}
        for word, cause in ignored.items():
            key, _, ignored_value = word.partition("=")
            value = attrgetter(key)(self)
            if ignored_value:
                is_set = str(value) == ignored_value
            else:
                is_set = value != attrgetter(key)(default)
            if is_set:
                without[word] = cause

        if self.head.markers and self.head.input != "marked":
            without["head.markers"] = f"head.input={self.head.input}"
        return without

    def read_stages(self) -> list[StageConfig]:
        """Read `stages`; a ConfigError names the number of a wrong one, from 0, and its key."""
        stages = []
        for number, stage in enumerate(self.stages):
            stages.append(parse(StageConfig, stage, f"stages.{number}."))
        return stages

    def is_validated(self) -> bool:
        """Tell whether the data have a validation split, their own or taken from train."""
        data = self.data
        has_own = data.generator or data.hub or VALIDATION in data.files
        return bool(has_own or data.validation.fraction or data.folds.count)


def resolve(config: DictConfig) -> Config:
    """Check a composed configuration, without Hydra's part, and turn it into dataclasses.

    Raises:
        ConfigError: an unknown key, a value of the wrong type or outside its range, or a
            combination that cannot work; names the key and what is allowed.
    """
    from omegaconf import OmegaConf  # start-up time
    from omegaconf.errors import OmegaConfBaseException

    values = {}
    try:
        for key in config:
            if key != "hydra":
                part = config[key]
                is_node = OmegaConf.is_config(part)
                values[key] = OmegaConf.to_container(part, resolve=True) if is_node else part
    except OmegaConfBaseException as error:
        from heron.config.parsing import explain

        raise ConfigError(explain(error)) from error
    checked = read(values, composed=True)

    keys_of_others = [f"task.{key}" for key in _keys_of_other_tasks(values.get("task"))]
    causes = dict.fromkeys(keys_of_others, f"task={checked.task.name}")
    causes |= checked.without_effect()
    for cause in dict.fromkeys(causes.values()):
        keys = ", ".join(key for key in causes if causes[key] == cause)
        say(f"no effect with {cause}: {keys}")

    return checked


def read(values: Mapping[Any, Any], composed: bool = False) -> Config:
    """Check plain values, and make the configuration of a run from them.

    Args:
        values: as YAML has them.
        composed: whether they are a command's and not a stored run's. Then the entries of the
            user's own files are completed, and a train file that nothing reads is left out.

    Raises:
        ConfigError: see `resolve`.
    """
    whole = _gathered(values)
    data = whole.get("data")
    if composed and isinstance(data, dict) and data.get("files"):
        from heron.data.overrides import own_files  # start-up time

        paths = whole.get("paths") or {}
        data_dir = Path(str(paths.get("data") or "data"))
        cache_dir = Path(str(paths.get("cache") or "cache"))
        whole["data"] = own_files(data, data_dir, cache_dir)
    config = parse(Config, whole)
    if composed and not _reads_train(config):
        config.data.files.pop(TRAIN, None)
    return config


def _reads_train(config: Config) -> bool:
    """Tell whether a run needs the train file: to be fitted, or to take a split from it."""
    name = config.baseline.name
    data = config.data
    is_fitted = name == "none" or BASELINES[name].reads_train
    return is_fitted or data.folds.count > 0 or not {VALIDATION, TEST} <= data.files.keys()


def _gathered(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Sort the keys of a run into those of `Config`; other tasks' keys are left out.

    Tools' settings are moved to `parts`, arguments of Lightning's Trainer to `trainer.flags`.
    """
    whole = {}
    for key, part in values.items():
        whole[key] = dict(part) if isinstance(part, Mapping) else part

    trainer = whole.get("trainer")
    if isinstance(trainer, dict):
        of_lightning = [key for key in trainer if key not in TrainerConfig.__dataclass_fields__]
        if of_lightning:
            flags = dict(trainer.get("flags") or {})
            for key in of_lightning:
                flags[key] = trainer.pop(key)
            trainer["flags"] = flags

    for key in _keys_of_other_tasks(whole.get("task")):
        del whole["task"][key]

    tools = [key for key in whole if key not in Config.__dataclass_fields__ and key in PARTS]
    if tools:
        whole["parts"] = {key: whole.pop(key) for key in tools}
    return whole


def _keys_of_other_tasks(task: Any) -> list[str]:
    """List the keys of a run's task that only other tasks read, such as `n_best` of `qa`.

    An experiment or a sweep over data sets may set them, and so do runs of earlier versions.
    """
    if not isinstance(task, Mapping):
        return []
    own = field_types(_TASK.schema(str(task.get("name", TaskConfig.name))))
    further = [key for key in task if key not in own]
    if not further:
        return []
    of_all = field_types(_TASK.type())
    return [key for key in further if key in of_all]
