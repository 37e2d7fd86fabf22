"""A paper's statistics of articles and summaries, from its `experiments/<paper>/published.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.errors import ConfigError, nearest
from heron.metrics.summary_counts import SHARES
from heron.reporting.papers import all_published
from heron.yaml_files import read_yaml

_KEYS = ("texts", "summaries", "systems", "beside")


@dataclass(frozen=True, slots=True)
class PublishedStatistics:
    """What a paper printed, as fractions, counts and lengths.

    Args:
        paper: its authors and name.
        texts: for each split, statistics of its texts by name (`article_length`, ...).
        summaries: for each data set that it names, the shares `novel_1` to `redundancy_2`.
        systems: the same of systems' summaries.
        beside: which of `summaries` a unit of heron's is compared with.
    """

    paper: str
    texts: Mapping[str, Mapping[str, float]]
    summaries: Mapping[str, Mapping[str, float]]
    systems: Mapping[str, Mapping[str, float]]
    beside: Mapping[str, str]


def published_statistics(data: str, path: Path | None = None) -> PublishedStatistics | None:
    """Find the paper whose statistics stand beside a data set's.

    Args:
        data: name of the data set.
        path: the paper's published numbers, for any data set; default the paper that names this
            one in `statistics.data`.

    Returns:
        What it printed; None where no paper names the data set.

    Raises:
        ConfigError: `path` is no such file, or the file has no statistics.
    """
    if path is not None:
        if not path.is_file():
            raise ConfigError(f"published={path}: no such file")
        return _read(path, read_yaml(path))
    for found in all_published():
        content = read_yaml(found)
        if data in content.get("statistics", {}).get("data", ()):
            return _read(found, content)
    return None


def _read(path: Path, content: Mapping[str, Any]) -> PublishedStatistics:
    found, tables = content.get("statistics"), content.get("tables", {})
    if not found or any(key not in found for key in _KEYS):
        known = ", ".join(f"statistics.{key}" for key in _KEYS)
        raise ConfigError(f"{path}: no statistics of summaries; expected {known}")
    for key in _KEYS[:3]:
        if found[key] not in tables:
            hint = nearest(found[key], tables)
            raise ConfigError(f"{path}: statistics.{key}={found[key]}: no such table.{hint}")
    texts, summaries, systems = (_rows(tables[found[key]]) for key in _KEYS[:3])
    _check(path, [*summaries.values(), *systems.values()])
    return PublishedStatistics(content["paper"], texts, summaries, systems, found["beside"])


def _rows(table: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        name: dict(zip(table["columns"], values, strict=True))
        for name, values in table["rows"].items()
    }


def _check(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    for name in (name for row in rows for name in row if name not in SHARES):
        raise ConfigError(f"{path}: '{name}' is no statistic of summaries.{nearest(name, SHARES)}")
