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
from heron_tools.reproduction.cell_comparison import (
    compare_runs,
    compare_values,
    comparison_table,
    note_of,
)
from heron_tools.reproduction.latex import to_latex
from heron_tools.reproduction.paper_tables import fraction_figure, paper_view
from heron_tools.reproduction.published import (
    DECIMALS,
    PublishedPart,
    all_published,
    find_published,
)
from heron_tools.reproduction.targets import NOTHING, Filled, Target, TargetRequest

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
    path = find_published(target.paper)
    if path is None:
        return {}
    return read_yaml(path) or {}


def published_parts(target: Target, published: PublishedPart) -> dict[str, PublishedPart]:
    """Find the tables of a target: `table4`, `table4_classes`."""
    parts = {}
    for name, table in published.get("tables", {}).items():
        if name == target.table or name.startswith(f"{target.table}_"):
            parts[name] = table
    return parts


def of_function(target: Target, filled: Filled) -> Reproduction:
    """Compare a function's values with the paper's; notes are below the first table.

    Args:
        target: one table or figure.
        filled: the function's result.
    """
    tables = _compare_tables(read_published(target), filled, target.title)
    return Reproduction(target, tables, filled.figures, filled.files, {})


def published_statistics(data: str, request: TargetRequest) -> list[Table]:
    """Compare a data set's statistics with its paper's.

    Args:
        data: name of the data set, or of a paper's substitute data.
        request: folders and seed.

    Returns:
        The tables; empty without a paper.
    """
    filled = STATISTICS[data](dataclasses.replace(request, data=data))
    for path in all_published():
        paper = read_yaml(path) or {}
        if data in (*paper.get("data", ()), *paper.get("substitutes", ())):
            return _compare_tables(paper, filled, data)
    return []


def _compare_tables(paper: PublishedPart, filled: Filled, title: str) -> list[Table]:
    """Compare each table; notes are below the first one.

    Args:
        paper: its `published.yaml`; tables that it lacks have no published numbers.
        filled: the values to compare, and further tables.
        title: of tables that have none.
    """
    published = paper.get("tables", {})
    tables = []
    for name, values in filled.values.items():
        table = published.get(name, {})
        compared, depth = compare_values(table, values)
        rows = []
        for row in compared:
            *names, column = row.names
            padding = [""] * (depth - len(names))  # rows may have fewer names than the longest
            rows.append(row._replace(names=(*names, *padding, column)))

        headings = ["row"]
        if depth != 1:
            headings = [f"row {number}" for number in range(1, depth + 1)]
        columns = [*headings, "number"]
        table_title = table.get("title", title)
        decimals = table.get("decimals")
        tables.append(comparison_table(table_title, columns, rows, decimals, note_of(table)))

    tables += filled.tables
    if not tables:
        tables.append(Table(title, ("files",), ()))
    if filled.notes:
        first = tables[0]
        note = " ".join(filter(None, (first.note, *filled.notes)))
        tables[0] = dataclasses.replace(first, note=note)
    return tables


def of_runs(target: Target, runs: Sequence[RunRecord], filled: Filled = NOTHING) -> Reproduction:
    """Compare the scores of runs with the paper's; a figure has a table and curves.

    Args:
        target: one table or figure.
        runs: of its experiment, finished or not.
        filled: the cells that were computed from files.

    Raises:
        ConfigError: the paper has no published numbers to compare with.
    """
    published = read_published(target)
    tables = []
    figures = dict[str, bytes]()
    for name, table in published_parts(target, published).items():
        values = filled.values.get(name, {})
        if "scores" not in table:
            if values:
                computed = Filled({name: values}, notes=filled.notes)
                tables += _compare_tables(published, computed, table["title"])
            continue

        compared, headings = compare_runs(published, table, runs)
        rows = []
        for row in compared:
            estimate = values.get(row.names, row.estimate)
            rows.append(row._replace(estimate=estimate))
        notes = [note_of(table)]
        if values:
            notes += filled.notes
        note = " ".join(filter(None, notes))
        decimals = table.get("decimals", DECIMALS)
        tables.append(comparison_table(table["title"], headings, rows, decimals, note))

    report = f"{target.paper}/{target.table}"
    path = find_published(report)
    if path is not None and target.table in published.get("figures", {}):
        view = paper_view(report, runs, path)
        tables += view.tables.values()
        if view.curves:
            figures[f"{target.table}.png"] = fraction_figure(view)
    if not tables:
        raise ConfigError(
            f"{target.name}: published.yaml of {target.paper} has no {target.table} with scores"
        )

    sources = {}
    for run in runs:
        hashes = dict(run.status.get("sources") or {})
        sources[run.job] = {"folder": str(run.path), "data": hashes}
    return Reproduction(target, tables, figures, {}, sources)


def write_reproduction(result: Reproduction, folder: Path, words: Sequence[str]) -> list[Path]:
    """Write a target's result as Markdown, LaTeX, HTML and JSON, with its figures and files.

    Args:
        result: what to write.
        folder: of all targets; the result goes to `<paper>/<key>` in it.
        words: the command's arguments, stored for provenance.
    """
    target = result.target
    target_folder = folder / target.paper / target.key
    heading = f"{target.name} · {target.title}"
    paths = [write_file(target_folder / name, png) for name, png in result.figures.items()]
    for name, content in result.files.items():
        path = target_folder / name
        if isinstance(content, Mapping):
            write_table(path, content)
        else:
            write_file(path, content)
        paths.append(path)

    markdown = "\n".join([f"# {heading}\n", *map(to_markdown, result.tables)])
    if target.note:
        markdown += f"\n{target.note}\n"
    paths.append(write_file(target_folder / "result.md", markdown))
    latex = "\n".join(map(to_latex, result.tables))
    paths.append(write_file(target_folder / "result.tex", latex))

    about = provenance()
    stored = {
        "target": target.name,
        "title": target.title,
        "note": target.note,
        "command": shlex.join(["heron", "reproduce", *words]),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "git": about["git"],
        "versions": about["versions"],
        "sources": result.sources,
        "figures": list(result.figures),
        "files": list(result.files),
        "tables": [_stored_table(table) for table in result.tables],
    }
    write_json(target_folder / RESULT, stored)
    page = paper_page(heading, [stored], target_folder.parent)
    return [*paths, target_folder / RESULT, write_file(target_folder / "result.html", page)]


def _stored_table(table: Table) -> dict[str, Any]:
    rows = [[show(cell) for cell in row] for row in table.rows]
    return {**dataclasses.asdict(table), "rows": rows}


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
        key = result["target"].partition(":")[2]
        figures = []
        for name in result["figures"]:
            png = (folder / key / name).read_bytes()
            figures.append((name, data_url(png)))
        tables = []
        for stored in result["tables"]:
            rows = tuple(map(tuple, stored["rows"]))
            tables.append(Table(stored["title"], tuple(stored["columns"]), rows, stored["note"]))
        sections.append({**result, "tables": tables, "figures": figures, "key": key})
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
    paper_folder = folder / paper
    results = []
    missing = []
    for target in targets:
        path = paper_folder / target.key / RESULT
        if path.is_file():
            results.append(read_record(path, StoredResult))
        else:
            missing.append((target.name, target.title))
    if not results and not more:
        raise ConfigError(f"{paper_folder} holds no results yet: heron reproduce {targets[0].name}")

    tables = [*more, Table("Not reproduced here", ("target", "title"), missing)]
    title = f"{paper}: tables, figures and claims"
    page = paper_page(title, results, paper_folder, tables)
    return write_file(paper_folder / "report.html", page)
