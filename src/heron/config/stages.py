"""`stages`: data sets to train on one after the other."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.config.constraints import broken
from heron.config.schema import Freeze, Rate


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


def read_stages(entries: Sequence[Any]) -> list[StageConfig]:
    """Read stages: names of data sets, or mappings as in `StageConfig`.

    Raises:
        ConfigError: a stage without data, an unknown key, or a value of the wrong type.
    """
    stages = []
    known = [field.name for field in dataclasses.fields(StageConfig)]
    for entry in entries:
        values = {"data": entry} if isinstance(entry, str) else entry
        if not isinstance(values, dict):
            raise ConfigError(f"stages: {entry!r} is neither a data set's name nor a mapping")
        if unknown := [str(key) for key in values if key not in known]:
            raise ConfigError(f"stages: unknown key '{unknown[0]}'.{nearest(unknown[0], known)}")
        try:
            merged = OmegaConf.merge(OmegaConf.structured(StageConfig), values)
            stage = OmegaConf.to_object(merged)
        except OmegaConfBaseException as error:
            raise ConfigError(f"stages: {str(error).splitlines()[0]}") from error
        assert isinstance(stage, StageConfig)
        if problems := list(broken(stage, "stages: ")):
            raise ConfigError("\n".join(problems))
        stages.append(stage)
    return stages
