"""Named entities: a task with tensors of its own, as a fork; see README.md."""

from heron.data import TASKS, TaskRules


@TASKS.late("tagger")
def _task() -> TaskRules:
    from .task import TASK

    return TASK
