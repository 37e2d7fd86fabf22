"""Checks of what most runs do not have: a search, a baseline, a curriculum, several devices, ..."""

from collections.abc import Iterator, Mapping
from typing import Any

from heron.base.errors import nearest
from heron.config.curriculum import GROUPS, CurriculumConfig, uses_groups
from heron.config.registries import BASELINES, TASKS
from heron.config.schema import BertScoreConfig, Config, EncoderConfig, TrainerConfig

_KEYS_OF_STAGES = ("name", "share", "steps", "unlock", "groups")


def search_problems(config: Config) -> Iterator[str]:
    """Check that a search with Optuna has scores to choose by."""
    sweeper = config.sweeper
    if not config.is_validated():
        yield (
            "sweeper=optuna chooses by scores on validation: name data.files.validation, or set "
            "data.validation.fraction above 0"
        )
    if config.baseline.name != "none" and config.trainer.monitor == "loss":
        yield (
            f"sweeper=optuna chooses by trainer.monitor=loss, and baseline={config.baseline.name} "
            "has none: set trainer.monitor=macro_f1"
        )
    if sweeper.pruner != "none" and config.stages:
        yield (
            f"sweeper.pruner={sweeper.pruner} compares one training's epochs; stages train several "
            "times: set sweeper.pruner=none"
        )


def baseline_problems(config: Config) -> Iterator[str]:
    """Check that a baseline fits the task, and that nothing needs an encoder."""
    name, task = config.baseline.name, config.task.name
    empty = {
        "optim.soft": "optim.soft.columns=[] optim.soft.predictions=[]",
        "optim.suspects": "optim.suspects.dynamics=[]",
    }
    for key in config.optim.target_options():
        yield f"{key} changes what an encoder learns; baseline={name} has none: add {empty[key]}"
    if config.stages:
        yield f"stages train an encoder; baseline={name} has none: add stages=[]"
    if config.curriculum.name != "none":
        yield (
            f"curriculum={config.curriculum.name} orders training steps; baseline={name} has none: "
            "add curriculum=none"
        )
    fitting = tasks_of_baseline(name)
    if task not in fitting:
        own = [other for other in BASELINES if task in tasks_of_baseline(other)]
        has = f"; it has baseline={', '.join(own)}" if own else ""
        yield f"baseline={name} needs task={' or '.join(fitting)}, not task={task}{has}"
    else:
        yield from BASELINES[name].problems(config)


def curriculum_problems(config: Config) -> Iterator[str]:
    """Check that the task and the dynamics have what a curriculum orders by."""
    curriculum, dynamics = config.curriculum, config.dynamics
    if curriculum.difficulty == "sts" and "pair" not in TASKS[config.task.name].forms:
        fitting = [task for task in TASKS if "pair" in TASKS[task].forms]
        yield (
            "curriculum.difficulty=sts compares two texts of a kind: it needs "
            f"task={' or '.join(fitting)}, not {config.task.name}. Use length, or a statistic of a "
            "run's dynamics"
        )
    watched = dynamics.enabled and dynamics.mode == "evaluation"
    if curriculum.pacing == "self_paced" and not watched:
        yield (
            "curriculum.pacing=self_paced needs the loss of every example after every epoch: "
            "dynamics.enabled=true dynamics.mode=evaluation"
        )
    if curriculum.budget == "own" and config.trainer.max_steps is not None:
        yield (
            f"trainer.max_steps={config.trainer.max_steps}: curriculum.budget=own takes the steps "
            "of its stages: set trainer.max_steps=null or curriculum.budget=equal"
        )
    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        yield (
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence; "
            "with head.input=window a text comes with all its pairs"
        )


def plan_problems(config: CurriculumConfig) -> Iterator[str]:
    """List which settings of a curriculum cannot work together."""
    if config.pacing == "stages":
        yield from _stage_problems(config)
    elif config.budget == "own" or config.stages:
        yield (
            f"curriculum.stages and curriculum.budget=own need curriculum.pacing=stages, not "
            f"{config.pacing}"
        )
    if config.difficulty == "external" and not (config.scores and config.column):
        yield (
            "curriculum.difficulty=external needs curriculum.scores=FILE and curriculum.column=NAME"
        )
    for key, difficulty in (("scores", "external"), ("column", "external"), ("embeddings", "sts")):
        value = getattr(config, key)
        if value != getattr(CurriculumConfig, key) and config.difficulty != difficulty:
            yield (
                f"curriculum.{key}={value} needs curriculum.difficulty={difficulty}, not "
                f"{config.difficulty}"
            )
    if uses_groups(config) and config.reverse:
        yield (
            "curriculum.reverse=true reverses the order by difficulty; stages with groups and "
            "curriculum.order=groups have an order of their own"
        )


def _stage_problems(config: CurriculumConfig) -> Iterator[str]:
    if not config.stages:
        yield "curriculum.pacing=stages needs curriculum.stages"
        return
    wanted = "steps" if config.budget == "own" else "share"
    for number, entry in enumerate(config.stages, 1):
        if problem := _stage_problem(entry, wanted):
            yield f"curriculum.stages, number {number}: {problem}"
            return
    shares = sum(float(entry.get("share", 0)) for entry in config.stages)
    if wanted == "share" and abs(shares - 1) > 1e-6:
        yield f"curriculum.stages: the shares add up to {shares:g}, not to 1"


def _stage_problem(entry: Mapping[str, Any], wanted: str) -> str:
    for key in entry:
        if key not in _KEYS_OF_STAGES:
            return f"unknown key '{key}'.{nearest(str(key), _KEYS_OF_STAGES)}"
    size, unlock = entry.get(wanted), entry.get("unlock", 1.0)
    whole = wanted == "steps"
    if not isinstance(size, int if whole else int | float) or not size > 0:
        what = "optimizer steps, a whole" if whole else "the share of all steps, a"
        hint = "" if whole or "steps" not in entry else "; steps need curriculum.budget=own"
        return f"{wanted}={size}; it needs {what} number above 0{hint}"
    if not isinstance(unlock, int | float) or not 0 < unlock <= 1:
        return f"unlock={unlock}: must be in (0, 1]"
    if "groups" in entry and "unlock" in entry:
        return "either unlock or groups, not both"
    groups = entry.get("groups", ())
    if not isinstance(groups, list | tuple):
        return f"groups is a list, such as [{groups or 'easy'}]"
    unknown = [str(group) for group in groups if group not in GROUPS]
    return f"no group '{unknown[0]}'.{nearest(unknown[0], GROUPS)}" if unknown else ""


def tasks_of_baseline(name: str) -> list[str]:
    """List the tasks that a baseline is for."""
    chosen = BASELINES[name].tasks
    return [
        task
        for task in TASKS
        if (TASKS[task].has_classes if chosen is None else not chosen or task in chosen)
    ]


def bertscore_problems(config: BertScoreConfig) -> Iterator[str]:
    """Refuse options without an encoder, and an encoder without a layer."""
    if config.model is None:
        if config != BertScoreConfig(long=config.long, precision=config.precision):
            yield "task.bertscore.* needs an encoder: task.bertscore.model=NAME"
    elif config.layer is None:
        yield (
            f"task.bertscore.layer is missing: scores of different layers of {config.model} "
            "cannot be compared, and there is no common choice. bert-score has 9 (of 12) for "
            "multilingual BERT and XLM-R base, 17 (of 24) for XLM-R large, and none for "
            "AlephBERT or Romanian BERT: task.bertscore.layer=9 is a fair choice for 12 layers"
        )


def window_problems(config: EncoderConfig) -> Iterator[str]:
    """List what windows and separators cannot do."""
    if config.trailing_separator and config.separator is None:
        yield (
            "encoder.trailing_separator=true writes encoder.separator at the end as well: it "
            "needs encoder.separator, for example ' [SEP] '"
        )
    if config.overflow != "windows":
        return
    if config.separator is not None:
        yield (
            "encoder.overflow=windows needs encoder.separator=null: windows over one joined "
            "text would not each hold the hypothesis"
        )
    if config.truncation == "longest_first":
        yield (
            "encoder.overflow=windows needs encoder.truncation=only_first or only_second: "
            "windows move over one of the two texts"
        )
    if config.stride > config.max_length // 2:
        yield (
            f"encoder.stride={config.stride}: must be at most half of encoder.max_length="
            f"{config.max_length}, or windows hardly move"
        )


def trainer_problems(config: TrainerConfig) -> Iterator[str]:
    """List what several devices and the mean of epochs cannot do."""
    several = config.devices * config.num_nodes > 1
    if several and config.accelerator in ("mps", "tpu"):
        yield (
            f"trainer.devices={config.devices}: several devices need trainer.accelerator=cpu or "
            f"cuda, not {config.accelerator}"
        )
    if config.strategy == "fsdp" and (not several or config.accelerator == "cpu"):
        yield (
            "trainer.strategy=fsdp shards a model over several GPUs: set trainer.devices to "
            "their number, or trainer.strategy=auto"
        )
    if config.select == "mean" and (config.patience is not None or config.strategy == "fsdp"):
        yield (
            "trainer.select=mean knows its last epochs beforehand and keeps whole weights: "
            "set trainer.patience=null and another trainer.strategy than fsdp"
        )
