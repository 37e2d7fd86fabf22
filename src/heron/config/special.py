"""Checks of what most runs do not have: a search, a baseline, a curriculum, several devices, ..."""

from collections.abc import Iterator

from heron.config.registries import BASELINES, TASKS
from heron.config.schema import BertScoreConfig, Config, EncoderConfig, TrainerConfig


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
    for key in config.optim.target_options():
        yield f"{key} changes what an encoder learns; baseline={name} has none"
    if config.stages:
        yield f"stages train an encoder; baseline={name} has none"
    if config.curriculum.name != "none":
        yield (
            f"curriculum={config.curriculum.name} orders training steps; baseline={name} has none"
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
            "trainer.max_steps: curriculum.budget=own trains the steps of its stages; leave one out"
        )
    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        yield (
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence; "
            "with head.input=window a text comes with all its pairs"
        )


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
