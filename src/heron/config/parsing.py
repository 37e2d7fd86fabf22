"""The one parser: pydantic reads YAML, overrides and options through the parts' own dataclasses.

Errors of pydantic, OmegaConf and Hydra keep their texts; heron adds the key and the nearest
name. Options of the commands that need no Hydra are `key=value`::

    @dataclass
    class Options:
        run: Path                       # required: no default
        split: str = "test"

    options = parse_options(Options, ["run=runs/a/b", "split=validation"])
"""

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin

from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.folders import default_cache_dir, default_data_dir
from heron.config.constraints import (
    adapter,
    field_types,
    key_of,
    key_types,
    plain,
    type_at,
)

T = TypeVar("T")

EVERYWHERE = ("json", "quiet")  # options of every command: `heron.cli`
_UNKNOWN = "unexpected_keyword_argument"
# Lines of errors that do not help somebody who typed a command.
_INNER = re.compile(r"object_type|reference_type|full_key|Config search|Set the env|provider=|See ")


def parse(schema: type[T], values: Any, prefix: str = "", names: Mapping[str, str] = {}) -> T:
    """Read a dataclass from plain values, or check one again.

    Args:
        schema: the dataclass.
        values: a mapping, or an instance.
        prefix: precedes its keys in messages, `data.`.
        names: see `heron.config.parsing.explain`.

    Raises:
        ConfigError: all problems, each with its key.
    """
    from pydantic import ValidationError

    kind: Any = schema
    try:
        found: T = adapter(kind).validate_python(values)
        return found
    except ValidationError as error:
        beside: list[Any] = [type_at(kind, each["loc"][:-1]) for each in error.errors()]
        siblings = {
            f"{place(each['loc'][:-1], prefix)}.{name}".lstrip(".")
            for each, part in zip(error.errors(), beside, strict=True)
            for name in getattr(part, "__dataclass_fields__", ())
        }
        known = {names.get(key, key) for key in (*key_types(kind, prefix), *names, *siblings)}
        raise ConfigError(explain(error, known, prefix, names)) from None


def check(config: Any, prefix: str = "") -> None:
    """Check a dataclass: each field by its type, then the combinations of fields.

    Raises:
        ConfigError: all problems, each with its key.
    """
    parse(type(config), config, prefix)


@dataclass(kw_only=True)
class DataFolders:
    """Options `paths.data=` and `paths.cache=`."""

    paths_data: Path | None = None  # data sets; none: as in the run, or the default
    # Downloads and generated corpora; none: as in the run, or the default.
    paths_cache: Path | None = None

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders of data sets and of the cache, or their defaults."""
        return self.paths_data or default_data_dir(), self.paths_cache or default_cache_dir()


def run_step(arguments: Sequence[str], steps: Mapping[str, Callable[[Sequence[str]], int]]) -> int:
    """Run the step of a command that its first word names; returns the exit code.

    Raises:
        ConfigError: there is no such step.
    """
    name = arguments[0] if arguments else ""
    if name not in steps:
        raise ConfigError(f"'{name}' is no step.{nearest(name, steps, listed=True)}")
    return steps[name](arguments[1:])


def parse_options(schema: type[T], arguments: Sequence[str]) -> T:
    """Turn `key=value` words into an instance of `schema`; a word without `=` sets its first field.

    Lists are written `a,b` or `[a, b]`; `none`, `null` and nothing unset an optional value; the
    path `latest` is the run folder under `runs` that was changed last.

    Args:
        schema: a dataclass. A field `paths_data` is the option `paths.data`; other names that are
            not Python's are `metadata={"option": name}`.
        arguments: the words after the command's name.

    Raises:
        ConfigError: a word `--key` or a repeated key, else all problems that pydantic finds.
    """
    names = {field.name: _option_name(field) for field in dataclasses.fields(schema)}  # type: ignore[arg-type]
    fields, hints = {name: field for field, name in names.items()}, field_types(cast(Any, schema))
    first = names[next(iter(schema.__annotations__))]
    values: dict[str, Any] = {}
    for word in arguments:
        key, equals, value = word.partition("=")
        # A folder's own name may hold "=".
        is_path = key not in fields and ("/" in key or Path(word).exists())
        alone = word[:1] != "-" and (is_path or not equals)
        if alone:
            key, value = first, word
        elif not equals:
            where = " Only train has it: HERON_FORKS=DIR finds DIR/conf here."
            hint = where if key == "--config-dir" else nearest(key, {*fields, *EVERYWHERE})
            raise ConfigError(f"'{word}' is not of the form key=value.{hint}")
        name = fields.get(key, key)
        read = _read(value, hints[name], alone) if key in fields else value
        if key == "split" and value in ("dev", "val", "valid"):
            read = "validation"
        if name in values and not (alone and isinstance(read, list)):
            raise ConfigError(f"option '{key}' is given twice")
        values[name] = [*values[name], *read] if name in values else read
    return parse(schema, values, names={**names, **{key: key for key in EVERYWHERE}})


def parse_with_data(schema: type[T], arguments: Sequence[str]) -> tuple[T, list[str]]:
    """Read options, and separate them from the overrides `data.<key>=value`."""
    overrides = [word for word in arguments if word.startswith("data.")]
    words = [word for word in arguments if word not in overrides]
    return parse_options(schema, words), overrides


def _option_name(field: dataclasses.Field[Any]) -> str:
    name = str(field.metadata.get("option", field.name))
    return name.replace("paths_", "paths.", 1) if name.startswith("paths_") else name


def _join_paths(parts: Sequence[str]) -> list[str]:
    """Rejoin paths whose names contain commas, such as run and sweep folders.

    The longest existing path wins: `runs/demo` may lie beside `runs/demo,trainer.max_epochs=1`.
    """
    found, rest = list[str](), list(parts)
    while rest:
        joined = [",".join(rest[:count]) for count in range(len(rest), 0, -1)]
        path = next((each for each in joined if Path(each).expanduser().exists()), joined[0])
        found.append(path)
        rest = rest[path.count(",") + 1 :]
    return found


def _read(value: str, hint: Any, alone: bool) -> Any:
    """Split lists, unless a word is one item, and leave out what unsets a value."""
    kind = plain(hint)
    if NoneType in get_args(hint) and value.lower() in ("", "none", "null"):
        return None
    if get_origin(kind) is list:
        inner = value[1:-1] if value[:1] == "[" and value[-1:] == "]" else value
        parts = [part.strip() for part in inner.split(",") if part.strip()]
        parts = [value] if alone else parts
        is_path = get_args(kind) == (Path,)
        return list(map(_path, _join_paths(parts))) if is_path else parts
    return _path(value) if kind is Path else value


def _path(value: str) -> str:
    """Expand `~`, and the name `latest` unless there is such a file."""
    runs = []
    if value == "latest" and not Path(value).exists():
        runs = list(Path("runs").glob("*/*/status.json"))
    return str(max(runs, key=os.path.getmtime).parent) if runs else os.path.expanduser(value)


def explain(
    error: Exception, known: Iterable[str] = (), prefix: str = "", names: Mapping[str, str] = {}
) -> str:
    """Describe an error, each problem on a line that begins with its key.

    Args:
        error: of pydantic or OmegaConf.
        known: the keys that there are, of which the nearest to an unknown one is named.
        prefix: precedes the keys of the error, `data.`.
        names: the keys of fields that are not named as they are typed.
    """
    if errors := getattr(error, "errors", None):
        problems = (_problem(each, list(known), prefix, names) for each in errors())
        return "\n".join(dict.fromkeys(problems))
    key, said = getattr(error, "full_key", None), "; ".join(_lines(error)) or repr(error)
    return f"{prefix}{key}: {said}" if key else said


def explain_words(words: Sequence[str], error: BaseException) -> str:
    """Describe Hydra's error about a command's overrides, and what an unknown one may mean."""
    from heron.config.describe import wrong_word  # start-up time: for errors only

    inner: BaseException | None = error  # OmegaConf hides what was raised while it resolved a value
    while inner and not isinstance(inner, HeronError):
        inner = inner.__cause__ or inner.__context__
    if inner:
        return str(inner)
    lines = dict.fromkeys(line.rstrip(".,") for cause in _causes(error) for line in _lines(cause))
    said = "; ".join(lines) or type(error).__name__
    wrong, hint = wrong_word(words, EVERYWHERE)
    wrong = getattr(error, "override", None) or wrong  # the former cannot be read at all
    named = isinstance(error, ImportError) or any(key_of(word) in said for word in words)
    if not wrong and not named:
        wrong = " ".join(words)
    return f"{wrong}: {said}.{hint}" if wrong and wrong not in said else f"{said}.{hint}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lines(error: BaseException) -> list[str]:
    said = str(error).partition("\nAvailable options")[0]  # `nearest` lists them
    lines = map(str.strip, said.splitlines())
    return [line for line in lines if line and not _INNER.match(line)]


def place(loc: Iterable[Any], prefix: str = "", names: Mapping[str, str] = {}) -> str:
    """Write where pydantic found a problem as a dotted key."""
    parts = [str(part) for part in loc]
    parts[:1] = [names.get(part, part) for part in parts[:1]]
    return (prefix + ".".join(part for part in parts if part != "[key]")).rstrip(".")


def _problem(
    found: Mapping[str, Any], known: list[str], prefix: str, names: Mapping[str, str]
) -> str:
    """Write one problem; a sentence of heron's about several keys names them itself."""
    from heron.config.describe import meant  # start-up time: for errors only

    key, given, text = place(found["loc"], prefix, names), found["input"], found["msg"]
    if isinstance(reason := found.get("ctx", {}).get("error"), Exception):
        text = str(reason)
    if found["type"] == _UNKNOWN:
        if key in known:  # of another entry, see `heron.config.constraints.Chosen`
            return f"{key}: {text}; another {key.rpartition('.')[0]}.name has it"
        return f"{key}: {text}.{meant(key, known)}"
    if found["type"] == "value_error" and (isinstance(given, dict) or is_dataclass(given)):
        return text
    shown = f"={given}" if given is None or isinstance(given, str | int | float | list) else ""
    return f"{key}{'' if found['type'] == 'missing' else shown}: {text}"
