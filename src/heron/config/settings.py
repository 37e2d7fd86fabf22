"""What a finished run may be told anew: `key=value` words of `heron evaluate`, `predict`, `score`.

A command takes some keys of the configuration besides its own options, and what its errors propose
is cut down to those: a message never names a key that the command would then refuse.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.config.checks import from_yaml, to_yaml
from heron.config.data import DataConfig
from heron.config.data_words import merge_words, stands_for, to_data
from heron.config.keys import all_keys, select
from heron.config.schema import Config
from heron.config.tasks import tasks_with

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

# Those of them that rows without a gold label, answer or summary have.
TEXT_COLUMNS = tuple(
    f"data.columns.{name}" for name in ("text", "text_pair", "guid", "group", "side")
)
# What each command takes of the configuration.
TAKES = {
    "evaluate": (*SETTINGS, RUN_CODE, *PLACES, *COLUMNS, *LABELS),
    "predict": (*SETTINGS, RUN_CODE, *PLACES, *TEXT_COLUMNS),
    "score": (*COLUMNS, *LABELS),
}

_KEY = re.compile(r"[a-z_]+(?:\.[A-Za-z_]+)+")
_BETWEEN = re.compile(r"(; |, or |, )")


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


def _elsewhere(key: str, takes: Sequence[str]) -> str:
    """Say which command takes a key; of a key that there is not, which is like it."""
    known = all_keys()
    if key in known:
        others = [name for name, keys in TAKES.items() if keys != takes and _takes(key, keys)]
        commands = [f"heron {name}" for name in others] or ["heron train"]
        return f"; {' and '.join(commands)} {'take' if others[1:] else 'takes'} it"
    choices = [each for each in known if _takes(each, takes) and each not in COLUMNS]
    return f".{nearest(key, choices)}"


def _takes(key: str, takes: Sequence[str]) -> bool:
    return any(stands_for(each, key) for each in takes)


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


def override(data: DataConfig, words: Sequence[str]) -> DataConfig:
    """Set keys of a data set, as the words `data.<key>=` of the command line say.

    Raises:
        ConfigError: see `heron.config.data_words.merge_words`; or values that do not go together.
    """
    if not words:
        return data
    known = OmegaConf.merge(OmegaConf.structured(DataConfig), dataclasses.asdict(data))
    assert isinstance(known, DictConfig)
    return to_data(merge_words(known, words))


@contextmanager
def advising(takes: Sequence[str]) -> Iterator[None]:
    """Let the errors of a block propose nothing but keys that the command takes."""
    try:
        yield
    except DataError as error:
        raise DataError(advise(error.problems, takes)) from error


def advise(problems: Iterable[Problem], takes: Sequence[str]) -> list[Problem]:
    """Leave out of every fix the clauses that name a key which the command does not take.

    Args:
        problems: whose fixes are clauses with `, ` or `; ` between them.
        takes: the keys.
    """
    known = frozenset(all_keys())

    def is_open(clause: str) -> bool:
        return all(_takes(key, takes) for key in _KEY.findall(clause) if key in known)

    return [dataclasses.replace(each, fix=_only(each.fix, is_open)) for each in problems]


def _only(fix: str, is_open: Callable[[str], bool]) -> str:
    """Keep some clauses; of the marks that then stand between two the strongest counts."""
    kept, between = "", ""
    parts = ["", *_BETWEEN.split(fix)]
    for mark, clause in zip(parts[::2], parts[1::2], strict=True):
        between = "; " if "; " in (between, mark) else mark
        if is_open(clause):
            kept += f"{between}{clause}" if kept else clause
            between = ""
    return kept
