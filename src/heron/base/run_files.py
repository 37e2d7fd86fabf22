"""The types of a run folder's JSON files and of `config.yaml`, and their one reader.

A file may have further keys. Those that are listed are read by heron and have these types.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypeVar, cast

from annotated_types import Interval
from typing_extensions import TypedDict

from heron.base.errors import ConfigError
from heron.base.files import read_json, read_yaml

T = TypeVar("T")

Seconds = Annotated[float, Interval(ge=0, lt=1e12)]
Count = Annotated[int, Interval(ge=0, lt=2**63)]
Scores = dict[str, dict[str, float]]  # `scores.json`: `{"<split>": {"<metric>": fraction}}`


class Heartbeat(TypedDict, total=False):
    """Sign of life of the process that works on a run."""

    time: float  # Unix time, seconds
    pid: int
    host: str


class Steps(TypedDict):
    """Optimizer steps within an epoch."""

    done: Count
    of: Count


class DataCounts(TypedDict, total=False):
    """What a run has read; see `heron.training.job.describe`."""

    splits: dict[str, dict[str, int]]
    dropped: dict[str, dict[str, int]]
    shared: dict[str, int]


class Status(TypedDict, total=False):
    """`status.json`; see `heron.training.run`."""

    state: str
    seconds: Seconds
    error: str | None
    retry: bool | None
    heartbeat: Heartbeat
    steps: Steps
    pruned_by: str | None
    overrides: list[str]
    sources: dict[str, str]
    outputs: dict[str, str | int]
    data: DataCounts | None
    precision: str
    accelerator: str
    heron: str
    git: dict[str, Any] | None
    versions: dict[str, str]


class Spent(TypedDict):
    """Counts of a training, or of one of its stages."""

    steps: Count
    batches: Count
    samples: Count
    tokens: Count
    padded: Count
    unique: Count
    stage: NotRequired[str]


class SpentBudget(TypedDict):
    """`ledger.json`; see `heron.training.callbacks.Ledger`."""

    planned_steps: Count
    total: Spent
    stages: list[Spent]


class Pointer(TypedDict):
    """`model/encoder.json`: the frozen encoder that a head was trained on."""

    name: str
    files: dict[str, str]  # see `heron.data.hub.identity`


class FoldSettings(TypedDict, total=False):
    """Keys of `data.folds` that reports count with."""

    count: Count
    fold: int | None


class SampleSettings(TypedDict, total=False):
    """Keys of `data.sample` that reports count with."""

    fraction: float


class DataSettings(TypedDict, total=False):
    """Keys of `data` that reports list, look up or count with."""

    name: str
    language: str
    label_order: list[Any] | None
    markers: list[Any] | None
    unicode: dict[str, Any]
    folds: FoldSettings | None
    sample: SampleSettings


class TaskSettings(TypedDict, total=False):
    """Keys of `task` that reports list or look up."""

    name: str
    metrics: list[str] | None


class TrainerSettings(TypedDict, total=False):
    """Keys of `trainer` that reports look up or count with."""

    monitor: str
    max_epochs: Count | None
    precision: str | int | None


class NamedSettings(TypedDict, total=False):
    """A part that is looked up by its name."""

    name: str


class ReportedSettings(TypedDict, total=False):
    """`config.yaml`, as reports read it: also that of a run from somebody else."""

    parts: dict[str, Any] | None
    stages: list[Any] | None
    data: DataSettings
    task: TaskSettings
    trainer: TrainerSettings
    baseline: NamedSettings


@cache
def _validator(kind: Any) -> Any:
    """Make the validator of a type, which takes longer than to use it."""
    from pydantic import TypeAdapter  # start-up time

    return TypeAdapter(kind)


def read_record(path: Path, kind: type[T]) -> T:
    """Read a JSON or YAML file of a run.

    Raises:
        ConfigError: the file is damaged; names it, the first wrong key and the type it should have.
        FileNotFoundError: there is none.
    """
    from pydantic import ValidationError  # start-up time

    try:
        value = read_yaml(path) if path.suffix == ".yaml" else read_json(path)
        _validator(cast(Any, kind)).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        why = f"{key}: {first['msg']}" if key else first["msg"]
    except ValueError as error:
        why = str(error)
    else:
        return value
    fix = "copy it again from where the run was trained, or train again (run.resume=false)"
    raise ConfigError(f"{path} is damaged: {why}; {fix}")
