"""The papers' printed numbers, `experiments/<paper>/published.yaml`, and what recomputes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.folders import experiment_roots
from heron.base.registry import Registry
from heron.base.yaml_files import read_yaml

# What papers and forks add to `heron reproduce` and `heron claims`, see `heron_tools.reproduction`.
# Tables and figures that are computed without a sweep, by `<paper>:<key>` (`trc:T3`).
TARGETS: Registry[Callable[[Any], Any]] = Registry("target")
# Statistics of data sets beside their paper's numbers, by data set.
STATISTICS: Registry[Callable[[Any], Any]] = Registry("data set with published statistics")
# The claims of a paper and their calculations, by paper.
CLAIMS: Registry[Callable[[], Iterable[Any]]] = Registry("paper with claims")


def find_published(report: str, roots: Sequence[Path] | None = None) -> Path | None:
    """Find the published numbers of a `report` value, `<paper>/<view>`; None if there are none.

    `roots` may hold `experiments/`; default: those of `HERON_FORKS`, then heron's own.
    """
    paper = report.partition("/")[0]
    paths = (
        root / "experiments" / paper / "published.yaml"
        for root in roots or experiment_roots()[::-1]
    )
    return next((path for path in paths if path.is_file()), None)


def all_published() -> list[Path]:
    """List the published numbers of every paper, those of `HERON_FORKS` first."""
    roots = experiment_roots()[::-1]
    return [path for root in roots for path in sorted(root.glob("experiments/*/published.yaml"))]


def published_groups(data: str) -> tuple[str, dict[str, dict[str, int]]] | None:
    """Find what a paper printed for the groups of a data map: the table's title, rows by class.

    None where no paper of the data set has any.
    """
    path = find_published(data)
    published = read_yaml(path) if path else {}
    tables = published["tables"].values() if data in published.get("data", ()) else ()
    for table in (table for table in tables if "groups" in table):
        classes, groups = table["classes"], table["groups"].items()
        counts = {name: dict(zip(classes, found, strict=True)) for name, found in groups}
        return table["title"], counts
    return None


def published_value(cell: Any) -> Any:
    """Read a printed number, or what it is corrected to; None where nothing is printed."""
    return cell.get("corrected", cell["printed"]) if isinstance(cell, Mapping) else cell
