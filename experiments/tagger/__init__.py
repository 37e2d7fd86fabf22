"""Named entities: a task with tensors of its own, as a fork; see README.md."""

from . import task as task
