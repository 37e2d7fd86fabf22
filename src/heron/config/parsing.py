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
        parsed: T = adapter(kind).validate_python(values)
        return parsed
    except ValidationError as error:
        known = {names.get(key, key) for key in (*key_types(kind, prefix), *names)}
        for problem in error.errors():
            parent = problem["loc"][:-1]
            for name in getattr(type_at(kind, parent), "__dataclass_fields__", ()):
                known.add(f"{place(parent, prefix)}.{name}".lstrip("."))
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
    fields = {option: field for field, option in names.items()}
    hints = field_types(cast(Any, schema))
    first = names[next(iter(schema.__annotations__))]

    values: dict[str, Any] = {}
    for word in arguments:
        key, equals, value = word.partition("=")
        # A folder's own name may hold "=".
        is_path = key not in fields and ("/" in key or Path(word).exists())
        is_alone = word[:1] != "-" and (is_path or not equals)
        if is_alone:
            key = first
            value = word
        elif not equals:
            hint = nearest(key, {*fields, *EVERYWHERE})
            if key == "--config-dir":
                hint = " Only train has it: HERON_FORKS=DIR finds DIR/conf here."
            raise ConfigError(f"'{word}' is not of the form key=value.{hint}")

        name = fields.get(key, key)
        read: Any = value
        if key == "split" and value in ("dev", "val", "valid"):
            read = "validation"
        elif key in fields:
            read = _read(value, hints[name], is_alone)
        if name not in values:
            values[name] = read
        elif is_alone and isinstance(read, list):
            values[name] += read
        else:
            raise ConfigError(f"option '{key}' is given twice")
    return parse(schema, values, names={**names, **{key: key for key in EVERYWHERE}})


def parse_with_data(schema: type[T], arguments: Sequence[str]) -> tuple[T, list[str]]:
    """Read options, and separate them from the overrides `data.<key>=value`."""
    overrides = [word for word in arguments if word.startswith("data.")]
    words = [word for word in arguments if word not in overrides]
    return parse_options(schema, words), overrides


def _option_name(field: dataclasses.Field[Any]) -> str:
    """Name the option that sets a field."""
    name = str(field.metadata.get("option", field.name))
    return name.replace("paths_", "paths.", 1) if name.startswith("paths_") else name


def _join_paths(parts: Sequence[str]) -> list[str]:
    """Rejoin paths whose names contain commas, such as run and sweep folders.

    The longest existing path wins: `runs/demo` may lie beside `runs/demo,trainer.max_epochs=1`.
    """
    paths = []
    rest = list(parts)
    while rest:
        count = len(rest)
        path = ",".join(rest)
        for shorter in range(len(rest), 0, -1):
            joined = ",".join(rest[:shorter])
            if Path(joined).expanduser().exists():
                count = shorter
                path = joined
                break
        paths.append(path)
        rest = rest[count:]
    return paths


def _read(value: str, hint: Any, is_alone: bool) -> Any:
    """Read an option's text: None, a path, or the items of a list; a word alone is one item."""
    kind = plain(hint)
    if NoneType in get_args(hint) and value.lower() in ("", "none", "null"):
        return None
    if kind is Path:
        return _path(value)
    if get_origin(kind) is not list:
        return value

    parts = [value]
    if not is_alone:
        if value.startswith("[") and value.endswith("]"):
            value = value[1:-1]
        parts = [part.strip() for part in value.split(",") if part.strip()]
    if get_args(kind) == (Path,):
        return [_path(path) for path in _join_paths(parts)]
    return parts


def _path(value: str) -> str:
    """Expand `~`, and the name `latest` unless there is such a file."""
    if value == "latest" and not Path(value).exists():
        runs = list(Path("runs").glob("*/*/status.json"))
        if runs:
            return str(max(runs, key=os.path.getmtime).parent)
    return os.path.expanduser(value)


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
    errors = getattr(error, "errors", None)  # pydantic's
    if errors:
        problems = [_problem(problem, list(known), prefix, names) for problem in errors()]
        return "\n".join(dict.fromkeys(problems))
    text = "; ".join(_lines(error)) or repr(error)
    key = getattr(error, "full_key", None)  # OmegaConf's
    return f"{prefix}{key}: {text}" if key else text


def explain_words(words: Sequence[str], error: BaseException) -> str:
    """Describe an error of Hydra about overrides, with the nearest name for an unknown one."""
    from heron.config.describe import wrong_word  # start-up time: for errors only

    inner: BaseException | None = error
    while inner:  # OmegaConf hides what was raised while it resolved a value
        if isinstance(inner, HeronError):
            return str(inner)
        inner = inner.__cause__ or inner.__context__

    lines = []
    for cause in _causes(error):
        lines += [line.rstrip(".,") for line in _lines(cause)]
    text = "; ".join(dict.fromkeys(lines)) or type(error).__name__

    wrong, hint = wrong_word(words, EVERYWHERE)
    wrong = getattr(error, "override", None) or wrong  # the former cannot be read at all
    is_named = isinstance(error, ImportError) or any(key_of(word) in text for word in words)
    if not wrong and not is_named:
        wrong = " ".join(words)
    if wrong not in text:
        text = f"{wrong}: {text}"
    return f"{text}.{hint}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lines(error: BaseException) -> list[str]:
    """List the lines of a message that help somebody who typed a command."""
    text = str(error).partition("\nAvailable options")[0]  # `nearest` lists them
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not _INNER.match(line)]


def place(loc: Iterable[Any], prefix: str = "", names: Mapping[str, str] = {}) -> str:
    """Write where pydantic found a problem as a dotted key."""
    parts = [str(part) for part in loc if part != "[key]"]
    if parts:
        parts[0] = names.get(parts[0], parts[0])
    return (prefix + ".".join(parts)).rstrip(".")


def _problem(
    problem: Mapping[str, Any], known: list[str], prefix: str, names: Mapping[str, str]
) -> str:
    """Write one problem; a sentence of heron's about several keys names them itself."""
    from heron.config.describe import meant  # start-up time: for errors only

    key = place(problem["loc"], prefix, names)
    reason = problem.get("ctx", {}).get("error")
    text = str(reason) if isinstance(reason, Exception) else problem["msg"]
    kind = problem["type"]
    value = problem["input"]

    if kind == _UNKNOWN:
        if key in known:  # of another entry, see `heron.config.constraints.Chosen`
            parent = key.rpartition(".")[0]
            return f"{key}: {text}; another {parent}.name has it"
        return f"{key}: {text}.{meant(key, known)}"

    if kind == "value_error" and (isinstance(value, dict) or is_dataclass(value)):
        return text

    is_short = value is None or isinstance(value, str | int | float | list)
    if is_short and kind != "missing":
        return f"{key}={value}: {text}"
    return f"{key}: {text}"
