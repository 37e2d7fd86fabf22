"""Settings of a run that cannot work together."""

from collections.abc import Iterator
from typing import Any

from heron.base.errors import nearest
from heron.data import FORMS, TASKS
from heron.models import CLASSIFIERS, POOLINGS
from heron.tasks import BASELINES


def run_problems(config: Any) -> Iterator[str]:
    """List the settings that cannot work together.

    Args:
        config: of a run, each part of which is checked.

    Yields:
        A sentence for each problem, with its keys.
    """
    task = config.task
    data = config.data
    if data.task != task.name:
        task_option = f"{{override /task@_global_.task: {data.task}}}"
        yield (
            f"task.name={task.name}: data={data.name} is for task={data.task}; its YAML "
            f"chooses it by `defaults: [{task_option}, {{override /head@_global_.head: ...}}]`"
        )
        return  # head and settings may be the other task's, too

    for label in sorted(set(config.batching.multipliers) - set(data.label_order)):
        hint = nearest(label, data.label_order)
        yield f"batching.multipliers.{label}: no such class.{hint}"
    has_baseline = config.baseline.name != "none"
    if config.ckpt_path and (config.stages or has_baseline):
        yield "ckpt_path continues one model: set neither stages nor a baseline"

    if has_baseline:
        yield from baseline_problems(config)
    else:
        form_problem = _form_problem(config)
        if form_problem:
            yield form_problem
        else:
            yield from _head_problems(config)
            if config.curriculum.name != "none":
                yield from curriculum_problems(config)
            yield from _selection_problems(config)
    yield from TASKS[task.name].rules.problems(config)


def baseline_problems(config: Any) -> Iterator[str]:
    """Check that a baseline fits the task."""
    name = config.baseline.name
    task = config.task.name
    fitting = tasks_of_baseline(name)
    if task in fitting:
        yield from BASELINES[name].problems(config)
    else:
        yield f"baseline={name} needs task={' or '.join(fitting)}, not task={task}"


def tasks_of_baseline(name: str) -> list[str]:
    """List the tasks that a baseline is for."""
    tasks = BASELINES[name].tasks
    if tasks is None:
        return [task for task in TASKS if TASKS[task].has_classes]
    return [task for task in TASKS if not tasks or task in tasks]


def curriculum_problems(config: Any) -> Iterator[str]:
    """Check that task and dynamics offer the difficulty that a curriculum orders by.

    Args:
        config: of a run with a curriculum.
    """
    curriculum = config.curriculum
    dynamics = config.dynamics
    task = config.task.name
    if curriculum.difficulty == "sts" and "pair" not in TASKS[task].forms:
        fitting = [other for other in TASKS if "pair" in TASKS[other].forms]
        yield f"curriculum.difficulty=sts needs task={' or '.join(fitting)}, not {task}"

    is_watched = dynamics.enabled and dynamics.mode == "evaluation"
    if curriculum.pacing == "self_paced" and not is_watched:
        yield "curriculum.pacing=self_paced needs dynamics.enabled=true dynamics.mode=evaluation"

    steps = config.trainer.max_steps
    if curriculum.budget == "own" and steps is not None:
        yield f"trainer.max_steps={steps}: curriculum.budget=own needs trainer.max_steps=null"

    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        yield (
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence, not "
            "head.input=window"
        )


def _form_problem(config: Any) -> str:
    """Check that the task reads the input form, and that the pooling does; empty if both do.

    Args:
        config: of a run without a baseline.
    """
    head = config.head
    task = config.task.name
    forms = TASKS[task].forms
    if head.input not in forms:
        if head.input not in tuple(FORMS):
            return f"head.input={head.input}: unknown.{nearest(head.input, forms)}"
        return (
            f"head.input={head.input}: task={task} reads {' or '.join(forms)}, as "
            f"head={TASKS[task].head} does; head={head.name} is for another task"
        )

    readable: list[str] = []
    if head.pooling == "tokens":
        for name in TASKS:
            if not TASKS[name].has_classes:
                readable += TASKS[name].forms
    else:
        readable += POOLINGS[head.pooling].inputs
    if not readable:  # a pooling that reads every form with one row per sequence
        readable += [form for form in forms if form != "window"]
    if head.input in readable:
        return ""
    why = ": a window holds many pairs" if head.input == "window" else ""
    needed = " or ".join(readable)
    return f"head.pooling={head.pooling} needs head.input={needed}, not {head.input}{why}"


def _head_problems(config: Any) -> Iterator[str]:
    """Check that the head's classifier and input go with the task, the encoder and the batches.

    Args:
        config: of a run without a baseline.

    Yields:
        A sentence for each problem, with its keys.
    """
    head = config.head
    encoder = config.encoder
    task = config.task.name
    own = TASKS[task].rules.classifiers
    if own and (head.pooling != "tokens" or head.classifier not in own):
        yield (
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task={task} needs "
            f"head.pooling=tokens and head.classifier={' or '.join(own)}, as "
            f"head={TASKS[task].head} has"
        )
    elif not own and head.classifier not in CLASSIFIERS:
        tasks = [name for name in TASKS if head.classifier in TASKS[name].rules.classifiers]
        hint = f" needs task={' or '.join(tasks)}"
        if not tasks:
            hint = f": unknown.{nearest(head.classifier, CLASSIFIERS)}"
        yield f"head.classifier={head.classifier}{hint}"

    if head.distance and head.input not in ("marked", "window"):
        yield "head.distance needs head.input=marked or head.input=window"
    if head.both_ways and (head.input != "window" or not config.data.inverse):
        yield "head.both_ways=true needs head.input=window and data.inverse"

    long_forms = TASKS[task].rules.long_forms
    if encoder.overflow == "windows" and head.input not in long_forms:
        needed = f"head.input={' or '.join(long_forms)}" if long_forms else "another task"
        yield f"encoder.overflow=windows needs {needed}, not head.input={head.input}"
    if encoder.separator is not None and head.input != "pair":
        yield "encoder.separator needs head.input=pair"
    if config.batching.oversample != "none" and head.input == "window":
        yield (
            "batching.oversample needs one row per sequence; with head.input=window a text comes "
            "with all its pairs: use optim.class_weights"
        )


def _selection_problems(config: Any) -> Iterator[str]:
    if not config.is_validated() and config.trainer.needs_validation():
        yield (
            "trainer.select=best and trainer.patience need a validation split: name "
            "data.files.validation, or set data.validation.fraction above 0"
        )
