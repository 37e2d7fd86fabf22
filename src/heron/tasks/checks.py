"""Settings of a run that cannot work together."""

from collections.abc import Iterator
from typing import Any

from heron.base.errors import nearest
from heron.data import FORMS, TASKS
from heron.models import CLASSIFIERS, POOLINGS
from heron.tasks import BASELINES


def run_problems(config: Any) -> Iterator[str]:
    """List them."""
    task, data = config.task, config.data
    if data.task != task.name:
        chosen = f"{{override /task@_global_.task: {data.task}}}"
        yield (
            f"task.name={task.name}: data={data.name} is for task={data.task}; its YAML "
            f"chooses it by `defaults: [{chosen}, {{override /head@_global_.head: ...}}]`"
        )
        return  # head and settings may be the other task's, too
    own = TASKS[task.name]
    for label in sorted(set(config.batching.multipliers) - set(data.label_order)):
        hint = nearest(label, data.label_order)
        yield f"batching.multipliers.{label}: no such class.{hint}"
    if config.ckpt_path and (config.stages or config.baseline.name != "none"):
        yield "ckpt_path continues one model: set neither stages nor a baseline"
    if config.baseline.name != "none":
        yield from baseline_problems(config)
    elif form := _form_problem(config):
        yield form
    else:
        yield from _head_problems(config)
        if config.curriculum.name != "none":
            yield from curriculum_problems(config)
        yield from _selection_problems(config)
    yield from own.rules.problems(config)


def baseline_problems(config: Any) -> Iterator[str]:
    """Check that a baseline fits the task."""
    name, task = config.baseline.name, config.task.name
    if task not in (fitting := tasks_of_baseline(name)):
        yield f"baseline={name} needs task={' or '.join(fitting)}, not task={task}"
    else:
        yield from BASELINES[name].problems(config)


def tasks_of_baseline(name: str) -> list[str]:
    """List the tasks that a baseline is for."""
    chosen = BASELINES[name].tasks
    return [
        task
        for task in TASKS
        if (TASKS[task].has_classes if chosen is None else not chosen or task in chosen)
    ]


def curriculum_problems(config: Any) -> Iterator[str]:
    """Check that task and dynamics offer the difficulty that a curriculum orders by."""
    curriculum, dynamics = config.curriculum, config.dynamics
    if curriculum.difficulty == "sts" and "pair" not in TASKS[config.task.name].forms:
        fitting = " or ".join(task for task in TASKS if "pair" in TASKS[task].forms)
        yield f"curriculum.difficulty=sts needs task={fitting}, not {config.task.name}"
    watched = dynamics.enabled and dynamics.mode == "evaluation"
    if curriculum.pacing == "self_paced" and not watched:
        yield "curriculum.pacing=self_paced needs dynamics.enabled=true dynamics.mode=evaluation"
    if curriculum.budget == "own" and (steps := config.trainer.max_steps) is not None:
        yield f"trainer.max_steps={steps}: curriculum.budget=own needs trainer.max_steps=null"
    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        yield (
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence, not "
            "head.input=window"
        )


def _form_problem(config: Any) -> str:
    """Check that the task reads the input form, and that the pooling does."""
    head, task = config.head, config.task.name
    forms = TASKS[task].forms
    if head.input not in forms:
        if head.input not in tuple(FORMS):
            return f"head.input={head.input}: unknown.{nearest(head.input, forms)}"
        return (
            f"head.input={head.input}: task={task} reads {' or '.join(forms)}, as "
            f"head={TASKS[task].head} does; head={head.name} is for another task"
        )
    if head.pooling == "tokens":
        own = [each for each in map(TASKS.__getitem__, TASKS) if not each.has_classes]
        poolings = tuple(form for each in own for form in each.forms)
    else:
        poolings = POOLINGS[head.pooling].inputs
    if (poolings and head.input not in poolings) or (not poolings and head.input == "window"):
        needed = " or ".join(poolings or [form for form in forms if form != "window"])
        why = ": a window holds many pairs" if head.input == "window" else ""
        return f"head.pooling={head.pooling} needs head.input={needed}, not {head.input}{why}"
    return ""


def _head_problems(config: Any) -> Iterator[str]:
    head, encoder, task = config.head, config.encoder, config.task.name
    own = TASKS[task].rules.classifiers
    if own and (head.pooling != "tokens" or head.classifier not in own):
        yield (
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task={task} needs "
            f"head.pooling=tokens and head.classifier={' or '.join(own)}, as "
            f"head={TASKS[task].head} has"
        )
    elif head.classifier not in own and head.classifier not in CLASSIFIERS:
        fitting = [other for other in TASKS if head.classifier in TASKS[other].rules.classifiers]
        if fitting:
            yield f"head.classifier={head.classifier} needs task={' or '.join(fitting)}"
        else:
            hint = nearest(head.classifier, [*own, *CLASSIFIERS])
            yield f"head.classifier={head.classifier}: unknown.{hint}"
    if head.distance and head.input not in ("marked", "window"):
        yield "head.distance needs head.input=marked or head.input=window"
    if head.both_ways and (head.input != "window" or not config.data.inverse):
        yield "head.both_ways=true needs head.input=window and data.inverse"
    if encoder.overflow == "windows" and head.input not in (long := TASKS[task].rules.long_forms):
        needed = f"head.input={' or '.join(long)}" if long else "another task"
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
