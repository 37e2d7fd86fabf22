"""The papers' printed numbers: `experiments/<paper>/published.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.folders import experiment_roots
from heron.base.yaml_files import read_yaml


def find_published(report: str, roots: Sequence[Path] | None = None) -> Path | None:
    """Find the published numbers of a `report` value, `<paper>/<view>`; None if there are none.

    `roots` may hold `experiments/`; default: the working directory, then heron's own.
    """
    paper = report.partition("/")[0]
    paths = (root / "experiments" / paper / "published.yaml" for root in roots or _roots())
    return next((path for path in paths if path.is_file()), None)


def all_published() -> list[Path]:
    """List the published numbers of every paper, those of the working directory first."""
    return [path for root in _roots() for path in sorted(root.glob("experiments/*/published.yaml"))]


def _roots() -> list[Path]:
    return experiment_roots()[::-1]


def published_groups(data: str) -> tuple[str, dict[str, dict[str, int]]] | None:
    """Find the number of rows by class that a paper printed for the groups of a data map.

    Returns:
        The table's title, and for each group the rows by class; None where no paper of the data set
        has any.
    """
    path = find_published(data)
    published = read_yaml(path) if path else {}
    if data not in published.get("data", ()):
        return None
    tables = [table for table in published["tables"].values() if "groups" in table]
    return next(((table["title"], _counts(table)) for table in tables), None)


def _counts(table: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    classes = table["classes"]
    return {
        name: dict(zip(classes, counts, strict=True)) for name, counts in table["groups"].items()
    }
