"""The result of an analysis, and its files: tables as JSON and Markdown, texts, figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Table, to_json, to_markdown
from heron.base.files import write_file, write_json
from heron.base.tables import write_table
from heron.base.terminal import print_tables

Rows = npt.NDArray[np.int64]
Content = str | bytes | Mapping[str, Sequence[Any]]  # text, picture, columns of a table


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a figure shows a score: its column, its name in the legend, marker and colour.

    `shift` is its vertical offset from the middle of a slice's row.
    """

    score: str
    label: str
    marker: str
    colour: str
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a split: its name, its rows' positions (from 0), and cells by column."""

    name: str
    rows_M: Rows
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Slicing:
    """The slices by one property, in order, none of them empty."""

    title: str
    slices: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """The result of an analysis."""

    tables: tuple[Table, ...] = ()  # printed and stored
    facts: Mapping[str, Any] = field(default_factory=dict)  # settings behind the numbers; for JSON
    slicings: tuple[Slicing, ...] = ()  # drawn in the figure
    # Further files, by name or path.
    files: Mapping[str | Path, Content] = field(default_factory=dict)
    title: str = ""  # heading of the tables in a Markdown file; empty: no such file


def write_outcome(
    outcome: AnalysisResult, target: Path, stem: str, facts: Mapping[str, Any], **more: Content
) -> list[Path]:
    """Print the tables of an analysis and write its files.

    Args:
        outcome: the analysis.
        target: folder of the files.
        stem: of the files with tables, `.md` and `.json`.
        facts: settings for JSON; the caller includes `outcome.facts`.
        more: further files of this stem, by suffix.
    """
    print_tables(outcome.tables)
    paths = []
    if outcome.title:
        tables = "\n".join(map(to_markdown, outcome.tables))
        paths.append(write_file(target / f"{stem}.md", f"# {outcome.title}\n\n{tables}"))
    if outcome.tables:
        path = target / f"{stem}.json"
        write_json(path, {**facts, "tables": list(map(to_json, outcome.tables))})
        paths.append(path)

    files = dict(outcome.files)
    for suffix, content in more.items():
        files[f"{stem}.{suffix}"] = content

    for name, content in files.items():
        path = name if isinstance(name, Path) else target / name
        if isinstance(content, Mapping):
            write_table(path, content)
        else:
            write_file(path, content)

        paths.append(path)

    return paths
