"""Overrides: words `key=value` on keys of the configuration, in Hydra's grammar, for every command.

`heron train` hands them to Hydra; the other commands lay `data.<key>=` over a data set and take a
few other keys besides their own options (`TAKES`). An error names the word at fault, what is
allowed there, and the nearest key.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import KeyValidationError, MissingMandatoryValue, OmegaConfBaseException

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.folders import data_set_file
from heron.base.yaml_files import parse_yaml
from heron.config.checks import from_yaml, to_yaml
from heron.config.data import DataConfig
from heron.config.keys import all_keys, flatten, needed, refuse_unknown, select, type_of
from heron.config.schema import Config
from heron.config.tasks import tasks_with

UNREADABLE = "its value cannot be read: close brackets and quotes, put signs into quotes"

# How answers are looked for (the threshold of "no answer" stays the one that training tuned), and
# how many tokens a batch has, which decides how much memory is taken.
SETTINGS = ("task.max_answer_tokens", "encoder.stride", "batching.tokens")
# Where a data set lies, and whether it may be another revision of it.
PLACES = ("paths.data", "data.verify")
# Whether code that comes with a run's weights may run: only where this command says so.
RUN_CODE = "encoder.trust_remote_code"
# What a file's columns are called; the key stands for all that begin with it.
COLUMNS = ("data.columns",)
# What a file's labels are called, and what becomes of rows that have none or wrong ones.
LABELS = (
    "data.label_aliases",
    "data.no_label",
    "data.unlabelled",
    "data.qa.misaligned",
    "data.qa.no_answer",
    "data.summaries.empty",
)
# Those columns that rows without a gold label, answer or summary have.
TEXT_COLUMNS = tuple(
    f"data.columns.{name}" for name in ("text", "text_pair", "guid", "group", "side")
)
# What each command takes of the configuration.
TAKES = {
    "evaluate": (*SETTINGS, RUN_CODE, *PLACES, *COLUMNS, *LABELS),
    "predict": (*SETTINGS, RUN_CODE, *PLACES, *TEXT_COLUMNS),
    "score": (*COLUMNS, *LABELS),
}

_PARSER = OverridesParser.create()
# What Hydra reads in quotes only: letters beyond ASCII, and signs that are not in its grammar.
_UNQUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^\[\]{}:,'"]*[^\x00-\x7f][^\[\]{}:,'"]*""")
_KEY = re.compile(r"[a-z_]+(?:\.[A-Za-z_]+)+")


class Words(NamedTuple):
    """A command's words by what they are for.

    Args:
        options: the command's own; `paths.data=DIR` is among them as `data=DIR`.
        settings: those on keys in `SETTINGS`.
        data: those on keys of the data set.
        run_code: whether `encoder.trust_remote_code=true` is among them.
    """

    options: list[str]
    settings: list[str]
    data: list[str]
    run_code: bool = False


def stands_for(name: str, key: str) -> bool:
    """Tell whether a key is the one named, or one below it: `data.qa` stands for `data.qa.trim`."""
    return f"{key}.".startswith(f"{name}.")


def readable(word: str) -> str:
    """Put into quotes what Hydra's grammar reads in quotes only, such as Hebrew letters.

    Args:
        word: `key=value`. One that cannot be read at all comes back as it is.
    """
    key, equals, value = word.partition("=")
    tries = [value, _UNQUOTED.sub(_quoted, value)]
    if type_of(key.lstrip("+~")) is str and value[:1] not in tuple("[{'\""):
        tries.append(_quote(value))
    for each in tries if equals else ():
        try:
            _PARSER.parse_overrides([f"{key}={each}"])
        except HydraException:
            continue
        return f"{key}={each}"
    return word


def read_value(word: str) -> Any:
    """Read the one value of a word `key=value`.

    Raises:
        ConfigError: it has no value, one that cannot be read, or several.
    """
    key, equals, value = word.partition("=")
    if not equals:
        raise ConfigError(f"'{word}' is not of the form key=value")
    hint = f"; {needed(key, value)}" if needed(key) else ""
    try:
        # Keys of mappings are the user's own, and need not be in Hydra's grammar.
        (override,) = _PARSER.parse_overrides([readable(f"{_plain_key(key)}={value}")])
    except HydraException as error:
        if value.startswith("{") and (mapping := _mapping(value)) is not None:
            return mapping
        raise ConfigError(f"{word}: {UNREADABLE}{hint}") from error
    if override.is_sweep_override():
        raise ConfigError(f"{word}: one value is needed{hint}")
    return override.value()


def _mapping(value: str) -> dict[str, Any] | None:
    """Read a mapping whose names Hydra cannot hold: numbers in quotes, letters beyond ASCII."""
    try:
        found = parse_yaml(value)
    except ConfigError:
        return None
    return found if isinstance(found, dict) else None


def sort_words(arguments: Sequence[str], takes: Sequence[str]) -> Words:
    """Tell a command's own options from the keys of the configuration that it takes.

    Args:
        arguments: the words after the command's name.
        takes: the keys.

    Raises:
        ConfigError: a key that the command does not take, with the nearest that it does.
    """
    found = Words([], [], [])
    for word in arguments:
        key, equals, value = word.partition("=")
        if "." not in key or not equals:
            found.options.append(word)
        elif not _takes(key, takes):
            raise ConfigError(f"{key}: cannot be set here{_elsewhere(key, takes)}")
        elif key == RUN_CODE:
            if value not in ("true", "false"):
                raise ConfigError(f"{word}: true or false is needed")
            found = found._replace(run_code=value == "true")
        elif key == "paths.data":
            found.options.append(f"data={value}")
        else:
            (found.settings if key in SETTINGS else found.data).append(word)
    return found


def read_points(words: Sequence[str]) -> list[dict[str, int]]:
    """Read which values of which settings to score under; one point without any for none.

    Args:
        words: on keys in `SETTINGS`, `key=10` or `key=10,20,30`.

    Raises:
        ConfigError: a value that is no whole number, or a key that is given twice.
    """
    values: dict[str, list[int]] = {}
    for word in words:
        key, _, given = word.partition("=")
        if key in values:
            raise ConfigError(f"option '{key}' is given twice")
        parts = [part.strip() for part in given.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise ConfigError(f"{word}: whole numbers are needed, {key}=20 or {key}=10,20,30")
        values[key] = [int(part) for part in dict.fromkeys(parts)]
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def changed(config: Config, settings: Mapping[str, Any]) -> Config:
    """Set keys of a run's configuration, checked as in training.

    Args:
        config: the run's.
        settings: values of keys in `SETTINGS`.

    Raises:
        ConfigError: a value out of range, or a key that means nothing for this run.
    """
    if not settings:
        return config
    new = copy.deepcopy(config)
    for key, value in settings.items():
        fitting = tasks_with(key)
        if fitting and config.task.name not in fitting:
            raise ConfigError(
                f"{key}: for runs of task={' or '.join(fitting)}; this is a run of "
                f"task={config.task.name}"
            )
        if key.startswith("encoder.") and config.encoder.overflow != "windows":
            raise ConfigError(
                f"{key}: windows share these tokens, and this run has "
                f"encoder.overflow={config.encoder.overflow}"
            )
        parent, _, name = key.rpartition(".")
        setattr(select(new, parent), name, value)
    return from_yaml(to_yaml(new))


def configure(name: str, words: Sequence[str]) -> DataConfig:
    """Read a data set's YAML and override its keys, as `heron train data=...` does.

    Args:
        name: a file of `conf/data`, of heron or of a fork.
        words: `data.<key>=value`; entries of `data.files` may be new ones.

    Raises:
        ConfigError: no such data set, an unknown key, or a value that its key cannot have.
    """
    path = data_set_file(name)
    try:
        return _override(OmegaConf.load(path), words)
    except (OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from error


def override(data: DataConfig, words: Sequence[str]) -> DataConfig:
    """Lay words `data.<key>=value` over a data set; mappings are added to, lists replaced.

    Raises:
        ConfigError: names the word: an unknown key, one that is given twice or means nothing for
            the data set's task, or a value that its key cannot have; or what does not go together.
    """
    return _override(dataclasses.asdict(data), words) if words else data


def _override(values: Any, words: Sequence[str]) -> DataConfig:
    whole = OmegaConf.merge(OmegaConf.structured(DataConfig), values)
    tasks = [word.partition("=")[2] for word in words if word.startswith("data.task=")]
    task, seen = tasks[0] if tasks else whole.task, set[str]()
    for word in words:
        given = _nested_value(word)
        refuse_unknown(given, DataConfig, "data.")
        leaves = dict(flatten(OmegaConf.to_container(given), "data."))  # type: ignore[arg-type]
        for name in dict.fromkeys((word.partition("=")[0], *leaves)):
            if name in seen:
                raise ConfigError(f"option '{name}' is given twice")
            seen.add(name)
        for leaf, value in leaves.items():
            _refuse_of_others(leaf, task)
            if value == MISSING:
                raise ConfigError(f"{word}: {MISSING} is no value")
            if isinstance(value, list) and any(isinstance(each, list | dict) for each in value):
                raise ConfigError(f"{word}: {needed(leaf, '[')}")
        whole = _merge(whole, given, word)
    try:
        data = OmegaConf.to_object(whole)
    except MissingMandatoryValue as error:
        raise ConfigError(f"missing key data.{error.full_key}=...") from error
    assert isinstance(data, DataConfig)
    return data


def _nested_value(word: str) -> DictConfig:
    """Read `data.columns.text=body` as `{columns: {text: body}}`."""
    value = read_value(word)
    for part in reversed(word.partition("=")[0].split(".")[1:]):
        value = {part: value}
    try:
        return OmegaConf.create(value)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{word}: {UNREADABLE}") from error


def _merge(value: Any, given: DictConfig, word: str) -> Any:
    try:
        merged = OmegaConf.merge(value, given)
        OmegaConf.to_container(merged, resolve=True)  # ${...} that leads nowhere
    except OmegaConfBaseException as error:
        key, _, written = word.partition("=")
        where = f"data.{getattr(error, 'full_key', None) or ''}"
        raise ConfigError(f"{word}: {_reason(error, key, where, written)}") from error
    return merged


def _reason(error: Exception, key: str, where: str, written: str) -> str:
    """Say what the key needs; what OmegaConf says where it is not the kind of value.

    Args:
        error: OmegaConf's.
        key: the word's.
        where: OmegaConf's idea of the key that is wrong; perhaps one inside of the word's.
        written: the word's value.
    """
    if "${" not in written:
        is_inside = where.startswith(f"{key}.") and needed(where)
        inner = where if is_inside and not isinstance(error, KeyValidationError) else key
        while inner and not needed(inner):  # data.no_label.0, where data.no_label is a list
            inner = inner.rpartition("[" if inner.endswith("]") else ".")[0]
        if "." in inner:
            return needed(key, written) if inner == key else f"{inner}: {needed(inner)}"
    return str(error).splitlines()[0]


def _refuse_of_others(key: str, task: str) -> None:
    """Refuse a key that says something about data of other tasks only."""
    of = tasks_with(key)
    if of and task not in of:
        raise ConfigError(
            f"{key}: says something about data of task={' or task='.join(of)}; "
            f"these are of task={task}"
        )


def _takes(key: str, takes: Sequence[str]) -> bool:
    return any(stands_for(each, key) for each in takes)


def _elsewhere(key: str, takes: Sequence[str]) -> str:
    """Say which command takes a key; of a key that there is not, which is like it."""
    known = all_keys()
    if key in known:
        others = [name for name, keys in TAKES.items() if keys != takes and _takes(key, keys)]
        commands = [f"heron {name}" for name in others] or ["heron train"]
        return f"; {' and '.join(commands)} {'take' if others[1:] else 'takes'} it"
    choices = [each for each in known if _takes(each, takes) and each not in COLUMNS]
    return f".{nearest(key, choices)}"


@contextmanager
def advising(takes: Sequence[str]) -> Iterator[None]:
    """Let the errors of a block propose nothing but keys that the command takes."""
    try:
        yield
    except DataError as error:
        raise DataError(advise(error.problems, takes)) from error


def advise(problems: Iterable[Problem], takes: Sequence[str]) -> list[Problem]:
    """Leave out of each problem the fixes that name a key which the command does not take."""
    known = frozenset(all_keys())

    def is_open(fix: str) -> bool:
        return all(_takes(key, takes) for key in _KEY.findall(fix) if key in known)

    return [
        dataclasses.replace(each, fix=tuple(fix for fix in each.fixes if is_open(fix)))
        for each in problems
    ]


def _plain_key(key: str) -> str:
    return key if re.fullmatch(r"[\w.]+", key, re.ASCII) else "key"


def _quoted(found: re.Match[str]) -> str:
    text = found.group()
    if text[0] in "'\"":
        return text
    inner = text.strip()
    return text.replace(inner, _quote(inner))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
