"""Configuration files that Hydra cannot read: which file, and which line of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from yaml import MarkedYAMLError

from heron.base.errors import ConfigError
from heron.base.files import read_yaml, yaml_problem
from heron.base.folders import conf_dirs

_KEYWORDS = ("override ", "optional ")  # of a defaults list
Lists = dict[str, list[str]]  # the options that an option's defaults list names: `group/name`


def wrong_file(error: BaseException) -> str:
    """Describe an error by the file that caused it; empty where it was no file's.

    Hydra's errors name no file for bytes that are not UTF-8 and for defaults lists in a circle.
    """
    if isinstance(error, MarkedYAMLError) and error.problem_mark:
        return f"{error.problem_mark.name}: {yaml_problem(error)}"
    if isinstance(error, UnicodeDecodeError):
        unreadable = [path for path in _files().values() if path.read_bytes() == error.object]
        name = unreadable[0] if unreadable else "a configuration file"
        return f"{name}: {yaml_problem(error)}"
    return _circle() if isinstance(error, RecursionError) else ""


def _files() -> dict[str, Path]:
    """Find every option's file by `group/name`; the first of a name counts."""
    files: dict[str, Path] = {}
    for conf in conf_dirs():
        for path in sorted(conf.rglob("*.yaml")):
            files.setdefault(path.relative_to(conf).with_suffix("").as_posix(), path)
    return files


def _circle() -> str:
    """Find an option whose defaults list leads back to it; empty where there is none."""
    files = _files()
    lists = Lists()
    for option, path in files.items():
        try:
            lists[option] = list(_named(option, read_yaml(path)))
        except ConfigError:  # another file's mistake
            lists[option] = []
    for option in lists:
        way = _way_back(option, lists)
        if way:
            circle = " -> ".join((*way, option))
            return f"{files[option]}: its defaults lead back to it: {circle}; remove one of them"
    return ""


def _named(option: str, content: Any) -> Iterator[str]:
    """List the options in a file's defaults list, with their groups."""
    defaults = content.get("defaults") if isinstance(content, dict) else None
    for entry in defaults or ():
        if isinstance(entry, Mapping):
            group, name = next(iter(entry.items()))
        else:
            group = ""
            name = str(entry)
        for keyword in _KEYWORDS:
            group = str(group).removeprefix(keyword)
        parent = PurePosixPath("/", option).parent
        yield str(parent / group.partition("@")[0] / str(name)).lstrip("/")


def _way_back(start: str, lists: Lists) -> list[str]:
    """Follow defaults lists from an option back to it; empty where they do not lead there."""
    ways = [[start]]
    seen = set[str]()
    while ways:
        way = ways.pop()
        for option in lists.get(way[-1], ()):
            if option == start:
                return way
            if option not in seen:
                seen.add(option)
                ways.append([*way, option])
    return []
