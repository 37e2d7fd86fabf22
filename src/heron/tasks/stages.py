"""`stages`: data sets to train on one after the other."""

from dataclasses import dataclass, field
from typing import Any

from heron.models.config import Freeze, Rate


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

        return core_schema.no_info_before_validator_function(
            lambda given: {"data": given} if isinstance(given, str) else given, handler(source)
        )
