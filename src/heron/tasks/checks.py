"""Settings that cannot work together in a run with a baseline or a curriculum."""

from collections.abc import Iterator
from typing import Any

from heron.data import TASKS
from heron.tasks import BASELINES


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
