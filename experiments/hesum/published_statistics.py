"""A paper's statistics of articles and summaries, from its `experiments/<paper>/published.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, nearest
from heron.base.yaml_files import read_yaml
from heron.metrics.summary_statistics import SHARES
from heron.results.published import all_published
from heron.tasks.summarization.measures import PublishedStatistics
from heron.tasks.summarization.profile import UNITS

_KEYS = ("texts", "summaries", "systems", "beside")


def published_statistics(data: str, path: Path | None = None) -> PublishedStatistics | None:
    """Find the paper whose statistics stand beside a data set's.

    Args:
        data: name of the data set.
        path: the paper's published numbers, for any data set; default the paper that names this
            one in `statistics.data`.

    Returns:
        What it printed; None where no paper names the data set.

    Raises:
        ConfigError: `path` is no such file, or the file has no statistics, or not as they should
            be.
    """
    if path is not None:
        if not path.is_file():
            raise ConfigError(f"published={path}: no such file")
        return _read(path, read_yaml(path))
    for found in all_published():
        content = read_yaml(found)
        statistics = content.get("statistics") or {}
        if data in (statistics.get("data") or ()):
            return _read(found, content)
    return None


def _read(path: Path, content: Any) -> PublishedStatistics:
    content = _mapping(content)
    found, tables = _mapping(content.get("statistics")), _mapping(content.get("tables"))
    if any(key not in found for key in _KEYS):
        known = ", ".join(f"statistics.{key}" for key in _KEYS)
        raise ConfigError(f"{path}: no statistics of summaries; expected {known}")
    if not isinstance(content.get("paper"), str):
        raise ConfigError(f"{path}: paper: expected the paper's authors and name")
    for key in _KEYS[:3]:
        if not isinstance(found[key], str) or found[key] not in tables:
            hint = nearest(str(found[key]), tables)
            raise ConfigError(f"{path}: statistics.{key}={found[key]}: no such table.{hint}")
    texts, summaries, systems = (_rows(path, found[key], tables[found[key]]) for key in _KEYS[:3])
    _check(path, [*summaries.values(), *systems.values()])
    beside = _mapping(found["beside"])
    for unit, row in beside.items():
        where = f"{path}: statistics.beside.{unit}"
        if unit not in UNITS:
            raise ConfigError(f"{where}: nothing that tokens can be.{nearest(str(unit), UNITS)}")
        if not isinstance(row, str) or row not in summaries:
            raise ConfigError(
                f"{where}={row}: no such row of {found['summaries']}.{nearest(str(row), summaries)}"
            )
    return PublishedStatistics(content["paper"], texts, summaries, systems, beside)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(path: Path, name: str, table: Any) -> dict[str, dict[str, float | None]]:
    """Name the numbers of a table's rows by its columns."""
    columns, rows = _mapping(table).get("columns"), _mapping(table).get("rows")
    if not isinstance(columns, list) or not isinstance(rows, Mapping):
        raise ConfigError(f"{path}: tables.{name}: expected columns: [NAME, ...] and rows: {{...}}")
    for row, values in rows.items():
        where = f"{path}: tables.{name}.rows.{row}"
        if not isinstance(values, list) or len(values) != len(columns):
            size = len(values) if isinstance(values, list) else repr(values)
            raise ConfigError(
                f"{where}: expected a value for each of {len(columns)} columns: {size}"
            )
        for value in values:
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                raise ConfigError(f"{where}: {value!r} is no number (null: not printed)")
    return {str(row): dict(zip(columns, values, strict=True)) for row, values in rows.items()}


def _check(path: Path, rows: Sequence[Mapping[str, float | None]]) -> None:
    for name in (name for row in rows for name in row if name not in SHARES):
        hint = nearest(str(name), SHARES)
        raise ConfigError(f"{path}: '{name}' is no statistic of summaries.{hint}")
