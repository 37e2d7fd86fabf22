"""Masked language modelling (`task=mlm`): continued pretraining of an encoder on raw text."""

from heron.data import TASKS, TaskRules


@TASKS.late("mlm")
def task() -> TaskRules:
    """Import the task."""
    from heron_tools.mlm.task import TASK

    return TASK
