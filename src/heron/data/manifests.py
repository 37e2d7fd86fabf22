"""The manifest of a built file: `<file>.manifest.json`, beside the file.

A data set that heron describes may have files that `heron build` makes. Their content depends on
the files they are made of and on the command's options, so that no hash or number of rows can stand
in the data set's YAML. The manifest holds them. A command that builds a data set of its own writes
them into that data set's YAML instead (`heron.data.overrides.write_config`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError
from heron.base.files import read_json, sha256_file, write_json
from heron.base.tables import write_table
from heron.config.parsing import parse
from heron.data.config import FileConfig


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a built file is, and what it was made of."""

    command: str  # that made it, such as `heron build lchaim`
    sha256: str  # of its bytes
    size: int  # bytes
    rows: int
    sources: dict[str, str]  # sha256 of each file it was made of, by file name
    left_out: dict[str, int]  # rows of the sources that it lacks, by reason


def write_built(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    command: str,
    sources: Sequence[Path],
    left_out: Mapping[str, int],
) -> list[Path]:
    """Write a table and its manifest; returns both paths.

    Args:
        path: of the table.
        columns: of the table, of equal length.
        command: that makes it, such as `heron build lchaim`.
        sources: the files that it was made of.
        left_out: rows of the sources that are not in the table, by reason.
    """
    write_table(path, columns)
    manifest = Manifest(
        command,
        sha256_file(path),
        path.stat().st_size,
        len(next(iter(columns.values()))),
        {source.name: sha256_file(source) for source in sources},
        {reason: rows for reason, rows in left_out.items() if rows},
    )
    write_json(_manifest_of(path), asdict(manifest))
    return [path, _manifest_of(path)]


def read_manifest(path: Path) -> Manifest | None:
    """Read the manifest of a file; None without one.

    Raises:
        DataError: it is damaged.
    """
    manifest = _manifest_of(path)
    if not manifest.is_file():
        return None
    try:
        return parse(Manifest, read_json(manifest))
    except (ValueError, ConfigError) as error:
        fix = "build the file again, or remove the manifest to read the file unverified"
        raise DataError(str(manifest), f"is no manifest: {error}", fix) from error


def described(file: FileConfig, path: Path) -> FileConfig:
    """Complete the entry of a file by its manifest, unless the YAML pins the file."""
    manifest = None if file.pinned else read_manifest(path)
    if manifest is None:
        return file
    known = {name: getattr(manifest, name) for name in ("sha256", "size", "rows")}
    return replace(file, **known, build=manifest.command)


def _manifest_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.manifest.json")
