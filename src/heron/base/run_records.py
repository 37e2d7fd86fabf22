"""The types of what a run folder's small files hold; they may come from somebody else."""

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat, TypeAdapter, ValidationError, create_model

from heron.base.errors import ConfigError
from heron.base.files import parse_json
from heron.base.yaml_files import read_yaml


def _record(default: Any, **types: Any) -> Any:
    """Make the type of a JSON object with these keys, `...`: with all; others hold anything."""
    return create_model("Record", **{key: (kind, default) for key, kind in types.items()})


_COUNTS = dict[str, int]
_LIST = list[Any] | None
_TYPES: dict[str, Any] = {
    "status.json": _record(
        None,
        **dict.fromkeys(("state", "heron", "precision"), str),
        error=str | None,
        overrides=list[str],
        seconds=FiniteFloat,
        steps=_record(..., done=int, of=int),
        heartbeat=_record(None, time=FiniteFloat, host=str),
        **dict.fromkeys(("sources", "versions"), dict[str, str]),
        git=dict[str, Any] | None,
        data=_record(None, splits=dict[str, _COUNTS], shared=_COUNTS, dropped=dict[str, _COUNTS])
        | None,
    ),
    "config.yaml": _record(
        None,
        data=_record(None, label_order=_LIST, markers=_LIST),
        task=_record(None, name=str, metrics=list[str] | None),
        trainer=_record(None, max_epochs=int),
        stages=list[dict[str, Any]] | None,
    ),
    "scores.json": dict[str, dict[str, float]],
    "ledger.json": _record(
        None, planned_steps=int, total=_COUNTS, stages=list[dict[str, int | str]]
    ),
    "baseline.json": _record(..., baseline=str),
    "encoder.json": _record(..., name=str, files=dict[str, Any]),
}
_adapter = cache(TypeAdapter)


def read_record(path: Path) -> Any:
    """Read a small file of a run; a ConfigError names the place that is not of its type."""
    kind = _adapter(_TYPES[path.name])
    try:
        if path.suffix == ".yaml":
            value = read_yaml(path)
            kind.validate_python(value)
            return value
        text = path.read_bytes()
        kind.validate_json(text, strict=True)
        return parse_json(text.decode())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        why = str(error)
    fix = "copy it again from where the run was trained, or train again (run.resume=false)"
    raise ConfigError(f"{path} is damaged: {why}; {fix}")
