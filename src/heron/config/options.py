"""`key=value` options of the commands that need no Hydra: typed by a dataclass, checked by name.

::

    @dataclass
    class Options:
        run: Path                       # required: no default
        split: str = "test"

    options = parse_options(Options, ["run=runs/a/b", "split=validation"])
"""

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin

from heron.base.errors import ConfigError, nearest
from heron.config.constraints import field_types, plain
from heron.config.parsing import parse

T = TypeVar("T")

EVERYWHERE = ("json", "quiet")  # options of every command: `heron.cli`


@dataclass(kw_only=True)
class DataFolders:
    """Options `paths.data=` and `paths.cache=`."""

    paths_data: Path | None = None  # data sets; none: as in the run, or the default
    # Downloads and generated corpora; none: as in the run, or the default.
    paths_cache: Path | None = None


def parse_options(schema: type[T], arguments: Sequence[str], first: str = "") -> T:
    """Turn `key=value` words into an instance of `schema`.

    Lists are written `a,b` or `[a, b]`; `none`, `null` and nothing unset an optional value.

    Args:
        schema: a dataclass. A field `paths_data` is the option `paths.data`; other names that are
            not Python's are `metadata={"option": name}`.
        arguments: the words after the command's name.
        first: the option that a word without `=` sets; a folder's own name may hold one.

    Raises:
        ConfigError: a word without `=` or a repeated key, else all problems that pydantic finds.
    """
    names = {field.name: _option_name(field) for field in dataclasses.fields(schema)}  # type: ignore[arg-type]
    fields, hints = {name: field for field, name in names.items()}, field_types(cast(Any, schema))
    values: dict[str, Any] = {}
    for word in arguments:
        key, equals, value = word.partition("=")
        if (
            first
            and word[:1] != "-"
            and not (equals and (key in fields or not Path(word).exists()))
        ):
            key, value = first, word
        elif not equals:
            where = " Only train has it: HERON_FORKS=DIR finds DIR/conf here."
            hint = where if key == "--config-dir" else nearest(key, {*fields, *EVERYWHERE})
            raise ConfigError(f"'{word}' is not of the form key=value.{hint}")
        name = fields.get(key, key)
        if name in values:
            raise ConfigError(f"option '{key}' is given twice")
        values[name] = _read(value, hints[name]) if key in fields else value
    return parse(schema, values, names={**names, **{key: key for key in EVERYWHERE}})


def parse_with_data(
    schema: type[T], arguments: Sequence[str], first: str = ""
) -> tuple[T, list[str]]:
    """Read options, and separate them from the overrides `data.<key>=value`."""
    overrides = [word for word in arguments if word.startswith("data.")]
    words = [word for word in arguments if word not in overrides]
    return parse_options(schema, words, first), overrides


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


def _read(value: str, hint: Any) -> Any:
    """Split lists, and leave out what unsets a value; pydantic reads the rest."""
    kind = plain(hint)
    if NoneType in get_args(hint) and value.lower() in ("", "none", "null"):
        return None
    if get_origin(kind) is list:
        inner = value[1:-1] if value[:1] == "[" and value[-1:] == "]" else value
        parts = [part.strip() for part in inner.split(",") if part.strip()]
        is_path = get_args(kind) == (Path,)
        return list(map(os.path.expanduser, _join_paths(parts))) if is_path else parts
    return os.path.expanduser(value) if kind is Path else value
