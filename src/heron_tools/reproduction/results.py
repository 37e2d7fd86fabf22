"""Results of `heron reproduce`: a target's tables and files, and the report of a paper."""

from __future__ import annotations

import dataclasses
import datetime
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from heron.base.cells import Table, show, to_markdown
from heron.base.errors import ConfigError
from heron.base.files import read_yaml, write_file, write_json
from heron.base.libraries import provenance
from heron.base.run_files import read_record
from heron.base.tables import write_table
from heron.reports.pages import render
from heron.reports.run import data_url
from heron.results import STATISTICS
from heron.results.collect import RunRecord
from heron_tools.reproduction.comparing import (
    compare_runs,
    compare_values,
    comparison_table,
    note_of,
)
from heron_tools.reproduction.latex import to_latex
from heron_tools.reproduction.paper_tables import fraction_figure, paper_view
from heron_tools.reproduction.published import DECIMALS, all_published, find_published
from heron_tools.reproduction.targets import NOTHING, Filled, Request, Target

RESULT = "result.json"


class StoredTable(TypedDict):
    """A table, its cells as text."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str


class SourceOfRun(TypedDict):
    """A run that a target was reproduced with, and the SHA-256 of its data by split."""

    folder: str
    data: dict[str, str]


class StoredResult(TypedDict):
    """`result.json`."""

    target: str
    title: str
    note: str
    command: str
    date: str
    git: dict[str, Any] | None
    versions: dict[str, str]
    sources: dict[str, SourceOfRun]
    figures: list[str]
    files: list[str]
    tables: list[StoredTable]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The tables and files of one target."""

    target: Target
    tables: Sequence[Table]
    figures: Mapping[str, bytes]
    files: Mapping[str, Any]
    sources: Mapping[str, Any]  # provenance: hashes of data, folders of runs


def read_published(target: Target) -> dict[str, Any]:
    """Read the published numbers of a target's paper; empty without any."""
    path = find_published(f"{target.paper}/{target.table}")
    return (read_yaml(path) or {}) if path else {}


def published_parts(target: Target, published: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Find the tables of a target: `table4`, `table4_classes`."""
    return {
        name: table
        for name, table in published.get("tables", {}).items()
        if name == target.table or name.startswith(f"{target.table}_")
    }


def of_function(target: Target, filled: Filled) -> Reproduction:
    """Compare a function's values with the paper's; notes are below the first table."""
    tables = _beside(read_published(target), filled, target.title)
    return Reproduction(target, tables, filled.figures, filled.files, {})


def published_statistics(data: str, request: Request) -> list[Table]:
    """Compare a data set's statistics with its paper's; empty without a paper."""
    filled = STATISTICS[data](dataclasses.replace(request, data=data))
    papers = map(read_yaml, all_published())
    about = (p for p in papers if p and data in (*p.get("data", ()), *p.get("substitutes", ())))
    return next((_beside(paper, filled, data) for paper in about), [])


def _beside(paper: Mapping[str, Any], filled: Filled, title: str) -> list[Table]:
    """Compare each table; notes are below the first one."""
    published = paper.get("tables", {})
    tables = []
    for name, values in filled.values.items():
        table = published.get(name, {})
        rows, depth = compare_values(table, values)
        headings = ["row" if depth == 1 else f"row {n + 1}" for n in range(depth)]
        # Rows may have fewer names than the longest.
        rows = [
            row._replace(names=(*names, *[""] * (depth - len(names)), column))
            for row in rows
            for *names, column in [row.names]
        ]
        named, decimals = table.get("title", title), table.get("decimals")
        columns = [*headings, "number"]
        tables.append(comparison_table(named, columns, rows, decimals, note_of(table)))
    tables += filled.tables or ([] if tables else [Table(title, ("files",), ())])
    if filled.notes:
        note = " ".join(filter(None, (tables[0].note, *filled.notes)))
        tables[0] = dataclasses.replace(tables[0], note=note)
    return tables


def of_runs(target: Target, runs: Sequence[RunRecord], filled: Filled = NOTHING) -> Reproduction:
    """Compare the scores of runs with the paper's; a figure has a table and curves.

    Cells of `filled` were computed from files.

    Raises:
        ConfigError: the paper has no published numbers to compare with.
    """
    published = read_published(target)
    parts = published_parts(target, published)
    path = find_published(f"{target.paper}/{target.table}")
    tables, figures = [], dict[str, bytes]()
    for name, table in parts.items():
        values = filled.values.get(name, {})
        if "scores" not in table:
            if values:
                part = Filled({name: values}, notes=filled.notes)
                tables += _beside(published, part, table["title"])
            continue
        rows, headings = compare_runs(published, table, runs)
        rows = [row._replace(estimate=values.get(row.names, row.estimate)) for row in rows]
        decimals = table.get("decimals", DECIMALS)
        note = " ".join(filter(None, (note_of(table), *(filled.notes if values else ()))))
        tables.append(comparison_table(table["title"], headings, rows, decimals, note))
    if path is not None and target.table in published.get("figures", {}):
        view = paper_view(f"{target.paper}/{target.table}", runs, path)
        tables += view.tables.values()
        if view.curves:
            figures[f"{target.table}.png"] = fraction_figure(view)
    if not tables:
        raise ConfigError(
            f"{target.name}: published.yaml of {target.paper} has no {target.table} with scores"
        )
    sources = {
        run.job: {"folder": str(run.path), "data": dict(run.status.get("sources") or {})}
        for run in runs
    }
    return Reproduction(target, tables, figures, {}, sources)


def write_reproduction(found: Reproduction, folder: Path, words: Sequence[str]) -> list[Path]:
    """Write a target's result as Markdown, LaTeX, HTML and JSON, with its figures and files.

    Args:
        found: the result.
        folder: of all targets; the result goes to `<paper>/<key>` in it.
        words: the command's arguments, stored for provenance.
    """
    target = found.target
    here = folder / target.paper / target.key
    heading = f"{target.name} · {target.title}"
    paths = []
    for name, figure in found.figures.items():
        paths.append(write_file(here / name, figure))
    for name, content in found.files.items():
        if isinstance(content, Mapping):
            write_table(here / name, content)
            paths.append(here / name)
        else:
            paths.append(write_file(here / name, content))
    markdown = "\n".join([f"# {heading}\n", *map(to_markdown, found.tables)])
    if target.note:
        markdown += f"\n{target.note}\n"
    stored = {
        "target": target.name,
        "title": target.title,
        "note": target.note,
        "command": shlex.join(["heron", "reproduce", *words]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **{key: value for key, value in provenance().items() if key in ("git", "versions")},
        "sources": found.sources,
        "figures": list(found.figures),
        "files": list(found.files),
        "tables": [
            {
                "title": table.title,
                "columns": table.columns,
                "rows": [[show(cell) for cell in row] for row in table.rows],
                "note": table.note,
            }
            for table in found.tables
        ],
    }
    paths.append(write_file(here / "result.md", markdown))
    paths.append(write_file(here / "result.tex", "\n".join(map(to_latex, found.tables))))
    write_json(here / RESULT, stored)
    page = paper_page(heading, [stored], here.parent)
    return [*paths, here / RESULT, write_file(here / "result.html", page)]


def paper_page(
    title: str, results: Sequence[Mapping[str, Any]], folder: Path, more: Sequence[Table] = ()
) -> str:
    """Build a page of results: tables, figures, links to files, and provenance.

    Args:
        title: of the page.
        results: as `write_reproduction` stores them.
        folder: of the paper's targets; figures are read from it.
        more: further tables, such as the paper's claims.
    """
    sections = []
    for result in results:
        here = folder / result["target"].partition(":")[2]
        figures = [(name, data_url((here / name).read_bytes())) for name in result["figures"]]
        tables = [
            Table(t["title"], tuple(t["columns"]), tuple(map(tuple, t["rows"])), t["note"])
            for t in result["tables"]
        ]
        sections.append({**result, "tables": tables, "figures": figures, "key": here.name})
    return render(
        "reproduction.html.j2",
        Path(__file__).parent / "templates",
        title=title,
        synthetic="",
        sections=sections,
        more=more,
        one=not more,
    )


def write_paper_report(
    paper: str, targets: Sequence[Target], folder: Path, more: Sequence[Table]
) -> Path:
    """Write one page with all reproduced targets of a paper, and the tables `more`.

    Raises:
        ConfigError: nothing has been reproduced.
    """
    stored = {target: folder / paper / target.key / RESULT for target in targets}
    results = [read_record(path, StoredResult) for path in stored.values() if path.is_file()]
    if not results and not more:
        raise ConfigError(
            f"{folder / paper} holds no results yet: heron reproduce {targets[0].name}"
        )
    left = [(t.name, t.title) for t, path in stored.items() if not path.is_file()]
    tables = [*more, Table("Not reproduced here", ("target", "title"), tuple(left))]
    title = f"{paper}: tables, figures and claims"
    return write_file(
        folder / paper / "report.html", paper_page(title, results, folder / paper, tables)
    )
