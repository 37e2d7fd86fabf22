"""Users' own files in the format of a data set, and the YAML that describes them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from heron.base.errors import DataError, Problem
from heron.base.files import dump_yaml, sha256_file, write_file
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.tables import read_chunks
from heron.config.parsing import parse
from heron.data import TASKS
from heron.data.config import PHRASES, TRAIN, DataConfig
from heron.data.rows import Labels, Reader, Rows, classes_in, find_format
from heron.data.sources import locate_phrases


def own_files(values: Mapping[Any, Any], data_dir: Path) -> dict[str, Any]:
    """Complete the entries of a user's own files in the values of `data`.

    A path relative to the working directory becomes absolute; where no classes are listed, they
    are read from the train file.
    """
    files = {split: dict(file) for split, file in (values.get("files") or {}).items() if file}
    for file in files.values():
        path = Path(str(file.get("path", ""))).expanduser()
        if not (file.get("sha256") or file.get("git_blob")) and path.is_file():
            file["path"] = str(path.absolute())
    values = {**values, "files": files}
    train = data_dir / str(files.get(TRAIN, {}).get("path", ""))
    if not values.get("label_order") and values.get("task") in TASKS and train.is_file():
        config = parse(DataConfig, values, "data.")
        if TASKS[config.task].has_classes:
            values["label_order"] = classes_in(train, config)
    return values


def read_rows(
    path: Path,
    config: DataConfig,
    labels: Labels = "optional",
    bad_rows: Literal["raise", "report"] = "raise",
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Rows:
    """Read a file in the format of the data set `config`; a DataError where no row can be used.

    Only the text columns are required; guid, label and group are read where they exist.

    Args:
        path: a table, or a file in a format of the task.
        config: column names, markers, classes and Unicode options.
        labels: `required` (see `data.unlabelled`), `optional` (an empty cell is an unlabelled row)
            or `ignored`.
        bad_rows: `report` returns the good rows and the problems, `raise` stops at any problem.
        data_dir, cache_dir: folders of the list of linking phrases, if some are removed.
    """
    read = _own_reader(config, data_dir, cache_dir)
    rows = read(path, labels, config.columns.label, _own_columns(config, labels))
    if rows.problems and (bad_rows == "raise" or not rows.examples):
        raise DataError(rows.problems)
    return rows


def read_parts(
    path: Path,
    config: DataConfig,
    size: int,
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Iterator[Rows]:
    """Read texts without labels, `size` rows at a time, like `read_rows(..., "ignored", "report")`.

    Of earlier rows only the file's own ids stay in memory; JSON is in memory as a whole. Some parts
    may have no examples. A DataError comes before the first part where the file cannot be read or
    lacks a column, after the last one where no row can be used.
    """
    read = _own_reader(config, data_dir, cache_dir)
    problems: list[Problem] = []
    usable = False
    for rows in _read_parts(path, config, size, read):
        problems += rows.problems
        usable = usable or bool(rows.examples)
        yield rows
    if problems and not usable:
        raise DataError(problems)


def _read_parts(path: Path, config: DataConfig, size: int, read: Reader) -> Iterator[Rows]:
    label, keys = config.columns.label, _own_columns(config, "ignored")
    if find_format(config).is_whole(path):
        rows = read(path, "ignored", label, keys)
        yield replace(rows, examples=rows.examples[:size])
        for start in range(size, len(rows.examples), size):
            yield Rows(rows.examples[start : start + size], [])
        return
    for table in read_chunks(path, size, config.quoting):
        if config.columns.guid not in table.columns and table.ids is not None:
            table.ids.clear()  # ids are made of line numbers: unique
        if len(table):
            yield read(table, "ignored", label, keys)
        else:
            yield Rows([], table.problems)


def _own_columns(config: DataConfig, labels: Labels) -> dict[str, str]:
    """Name the required columns, and the key that names each."""
    fields = ["text", "text_pair", *(["label"] if labels == "required" else [])]
    named = {getattr(config.columns, field): f"data.columns.{field}" for field in fields}
    return {column: key for column, key in named.items() if column}


def _own_reader(config: DataConfig, data_dir: Path | None, cache_dir: Path | None) -> Reader:
    places = data_dir or default_data_dir(), cache_dir or default_cache_dir()
    phrases = locate_phrases(config, *places)
    return find_format(config).open(config, {PHRASES: phrases} if phrases else {})


def write_config(
    out: Path, name: str, files: Mapping[str, tuple[Path, int]], settings: Mapping[str, Any]
) -> Path:
    """Write `conf/data/<name>.yaml` into `out`; returns its path.

    Args:
        out: the folder with the files, which is `paths.data` of a run on them.
        name: of the data set.
        files: of each split its file in `out`, and how many rows it has; none: it is left out.
        settings: all other keys of the data set, see `DataConfig`.
    """
    described = {
        split: {
            "path": path.relative_to(out).as_posix(),
            "sha256": sha256_file(path),
            "size": path.stat().st_size,
            "rows": rows,
        }
        for split, (path, rows) in files.items()
        if rows
    }
    task = settings.get("task", DataConfig.task)
    chosen = {"task": task, "head": TASKS[task].head}
    defaults = [{f"override /{group}@_global_.{group}": chosen[group]} for group in chosen]
    content = dump_yaml({"defaults": defaults, "name": name, **settings, "files": described})
    text = f"# heron train data={name} --config-dir DIR/conf paths.data=DIR\n{content}"
    return write_file(out / "conf" / "data" / f"{name}.yaml", text)
