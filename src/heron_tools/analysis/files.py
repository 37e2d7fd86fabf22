"""The files of an analysis: tables as JSON and Markdown, texts, figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.cells import Table
from heron.base.files import write_file, write_json
from heron.base.table_files import to_json, to_markdown
from heron.base.tables import write_table
from heron.base.terminal import print_tables
from heron_tools.analysis.base import Content, Outcome


def write_outcome(
    found: Outcome,
    target: Path,
    stem: str,
    facts: Mapping[str, Any],
    more: Mapping[str, Content] | None = None,
) -> list[Path]:
    """Print the tables of an analysis and write its files.

    Args:
        found: the analysis.
        target: folder of the files.
        stem: of the files with tables, `.md` and `.json`.
        facts: definitions that the numbers depend on, for JSON.
        more: further files by name.
    """
    print_tables(found.tables)
    paths = []
    if found.title:
        text = f"# {found.title}\n\n" + "\n".join(map(to_markdown, found.tables))
        paths.append(write(target / f"{stem}.md", text))
    if found.tables:
        paths.append(write_tables(target / f"{stem}.json", facts, found.tables))
    for name, content in [*found.files.items(), *(more or {}).items()]:
        paths.append(write(name if isinstance(name, Path) else target / name, content))
    return paths


def write_tables(path: Path, facts: Mapping[str, Any], tables: Sequence[Table]) -> Path:
    """Write facts and tables as JSON, with full precision."""
    write_json(path, {**facts, "tables": [to_json(table) for table in tables]})
    return path


def write(path: Path, content: Content) -> Path:
    """Write a text, bytes, or the columns of a table; returns the path."""
    if isinstance(content, Mapping):
        write_table(path, content)
        return path
    return write_file(path, content)
