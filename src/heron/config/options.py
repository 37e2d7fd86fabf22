"""`key=value` options of the commands that need no Hydra: typed by a dataclass, checked by name.

::

    @dataclass
    class Options:
        run: Path                       # required: no default
        split: str = "test"

    options = parse_options(Options, ["run=runs/a/b", "split=validation"])
"""

import dataclasses
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from heron.base.errors import ConfigError, nearest
from heron.config.constraints import LAST_SEED, check

T = TypeVar("T")

EVERYWHERE = ("json", "quiet")  # options of every command: `heron.commands.printing`
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(kw_only=True)
class DataFolders:
    """Options `paths.data=` and `paths.cache=`."""

    paths_data: Path | None = None  # data sets; none: as in the run, or the default
    # Downloads and generated corpora; none: as in the run, or the default.
    paths_cache: Path | None = None


def parse_options(schema: type[T], arguments: Sequence[str]) -> T:
    """Turn `key=value` words into an instance of `schema`.

    Args:
        schema: a dataclass with fields of type str, int, float, bool, Path, lists of these
            (comma separated), or any of them `| None`. A field `paths_data` is the option
            `paths.data`; other names that are not Python's are `metadata={"option": name}`.
            Their constraints (`heron.config.constraints`) are checked.
        arguments: the words after the command's name.

    Raises:
        ConfigError: a word without `=`, an unknown or repeated key, a value of the wrong type or
            out of range, or a required key that is missing; the message names the nearest key.
    """
    hints = typing.get_type_hints(schema)
    fields = {_option_name(field): field for field in dataclasses.fields(schema)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for word in arguments:
        key, equals, value = word.partition("=")
        if not equals:
            what = f"'{word}' is not of the form key=value."
            if word == "--config-dir":
                raise ConfigError(f"{what} Only train has it: HERON_FORKS=DIR finds DIR/conf here")
            raise ConfigError(f"{what}{nearest(key, {*fields, *EVERYWHERE})}")
        if key not in fields:
            raise ConfigError(f"unknown option '{key}'.{nearest(key, {*fields, *EVERYWHERE})}")
        name = fields[key].name
        if name in values:
            raise ConfigError(f"option '{key}' is given twice")
        values[name] = _convert(key, value, hints[name])
    missing = [
        key
        for key, field in fields.items()
        if field.name not in values
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigError("missing option " + ", ".join(f"{key}=..." for key in missing))
    options = schema(**values)
    check(options)
    return options


def parse_with_data(
    schema: type[T], arguments: Sequence[str], first: str = ""
) -> tuple[T, list[str]]:
    """Read options, and separate them from the overrides `data.<key>=value`.

    `first` is the option that a word without `=` sets.
    """
    overrides = [word for word in arguments if word.startswith("data.")]
    words = [word for word in arguments if word not in overrides]
    if first:
        words = [w if "=" in w or w.startswith("-") else f"{first}={w}" for w in words]
    return parse_options(schema, words), overrides


def parse_folder(schema: type[T], arguments: Sequence[str], missing: str) -> T:
    """Read options of which the first word is `folder=DIR` or only DIR; `missing` says so without.

    A run's folder name may itself contain "=" (seed=0-1a2b3c4d).
    """
    if not arguments:
        raise ConfigError(missing)
    first, *rest = arguments
    return parse_options(schema, [f"folder={first.removeprefix('folder=')}", *rest])


def _option_name(field: dataclasses.Field[Any]) -> str:
    name = str(field.metadata.get("option", field.name))
    return name.replace("paths_", "paths.", 1) if name.startswith("paths_") else name


def _join_paths(parts: Sequence[str]) -> list[str]:
    """Rejoin paths whose own names contain commas, as those of runs and sweeps do.

    The longest that exists counts: `runs/demo` may lie beside `runs/demo,trainer.max_epochs=1`.
    """
    found, rest = list[str](), list(parts)
    while rest:
        joined = [",".join(rest[:count]) for count in range(len(rest), 0, -1)]
        path = next((each for each in joined if Path(each).expanduser().exists()), joined[0])
        found.append(path)
        rest = rest[path.count(",") + 1 :]
    return found


def _convert(key: str, value: str, hint: Any) -> Any:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        if value.lower() in ("", "none", "null"):
            return None
        hint = next(arg for arg in typing.get_args(hint) if arg is not type(None))
    if typing.get_origin(hint) is list:
        (inner,) = typing.get_args(hint)
        if value.startswith("[") and value.endswith("]"):  # as `heron train` writes lists
            value = value[1:-1]
        parts = [part.strip() for part in value.split(",") if part.strip()]
        parts = _join_paths(parts) if inner is Path else parts
        return [_convert(key, part, inner) for part in parts]
    if hint is bool:
        if value.lower() not in _BOOLEANS:
            raise ConfigError(f"{key}={value}: expected true or false")
        return _BOOLEANS[value.lower()]
    if hint is Path:
        return Path(value).expanduser()
    try:
        found = hint(value)
    except ValueError as error:
        raise ConfigError(f"{key}={value}: expected {hint.__name__}") from error
    if key == "seed" and not 0 <= found <= LAST_SEED:
        raise ConfigError(f"{key}={value}: must be between 0 and {LAST_SEED}")
    return found
