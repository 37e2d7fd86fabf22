"""Masked language modelling (`task=mlm`): continues the pretraining of an encoder on raw text."""

from heron.data import TASKS
from heron_tools.mlm.task import TASK

TASKS.register("mlm", TASK)
