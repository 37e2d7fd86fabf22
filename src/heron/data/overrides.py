"""The YAML of a data set without a run: overridden by words `data.<key>=value`, and written."""

import dataclasses
import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.files import dump_yaml, sha256_file, write_file
from heron.base.folders import data_set_file, default_cache_dir, default_data_dir
from heron.config.constraints import MISSING
from heron.config.parsing import explain, parse
from heron.config.words import PARSER, UNREADABLE, readable
from heron.data import TASKS
from heron.data.config import TRAIN, DataConfig, data_values
from heron.data.rows import classes_in
from heron.data.sources import merge_shards


def configure(name: str, words: Sequence[str]) -> DataConfig:
    """Read a data set's YAML and override its keys, as `heron train data=...` does.

    Raises:
        ConfigError: no such data set, an unknown key, or a value that its key cannot have.
    """
    return _overridden(data_values(data_set_file(name)), words)


def override(data: DataConfig, words: Sequence[str]) -> DataConfig:
    """Override keys of a data set by `data.<key>=value`; mappings are merged, lists replaced.

    Raises:
        ConfigError: an unknown key, or one that the data set's task does not have, a wrong value,
            or values that do not work together.
    """
    if not words:
        return data
    return _overridden(OmegaConf.create(dataclasses.asdict(data)), words)


def _overridden(values: Any, words: Sequence[str]) -> DataConfig:
    """Override values of OmegaConf's and read them as a data set."""
    try:
        for word in words:
            key, value = read_override(word)
            OmegaConf.update(values, key.removeprefix("data."), value, merge=True, force_add=True)
        resolved: Any = OmegaConf.to_container(values, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error, prefix="data.")) from error
    completed = own_files(resolved, default_data_dir(), default_cache_dir())
    return parse(DataConfig, completed, "data.")


def read_override(word: str) -> tuple[str, Any]:
    """Read the key and the value of an override `key=value`; a list for `key=a,b`.

    The key of an entry of a mapping is the mapping's, as `heron train` reads it.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        (override,) = PARSER.parse_overrides([readable(word)])
    except HydraException as error:
        raise ConfigError(f"{word}: {UNREADABLE}") from error

    value = override.value()
    if override.is_sweep_override() and override.is_discrete_sweep():
        value = list(override.sweep_string_iterator())
    return override.key_or_group, value


def own_files(values: Mapping[Any, Any], data_dir: Path, cache_dir: Path) -> dict[str, Any]:
    """Complete the entries of a user's own files in the values of `data`.

    A path relative to the working directory becomes absolute; several files become one. Where no
    classes are listed, they are read from the train file.

    Args:
        values: of `data`, not checked yet.
        data_dir: `paths.data`.
        cache_dir: `paths.cache`, for several files that become one.

    Returns:
        The values of `data`; those given stay as they are.
    """
    files = {}
    for split, entry in (values.get("files") or {}).items():
        if not entry:
            continue
        files[split] = file = dict(entry)
        is_pinned = file.get("sha256") or file.get("git_blob")
        path = Path(str(file.get("path", ""))).expanduser()
        shards = _shards(path, data_dir)
        if shards:
            path = merge_shards(shards, cache_dir)
        if not is_pinned and path.is_file():
            file["path"] = str(path.absolute())

    values = {**values, "files": files}
    train = data_dir / str(files.get(TRAIN, {}).get("path", ""))
    if not values.get("label_order") and values.get("task") in TASKS and train.is_file():
        config = parse(DataConfig, {**values, "label_aliases": {}}, "data.")
        if TASKS[config.task].has_classes:
            aliases = values.get("label_aliases") or {}
            values["label_order"], merged = classes_in(train, config, aliases)
            values["label_aliases"] = {**aliases, **merged}
    return values


def _shards(path: Path, data_dir: Path) -> list[Path]:
    """Find the files that a pattern, `train-*.parquet`, or a list, `[a.csv, b.csv]`, names."""
    text = str(path)
    if path.exists() or text == MISSING or not re.search(r"[*?\[]", text):
        return []
    names = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    shards = []
    for name in names:
        pattern = str(Path(name.strip(" '\"")).expanduser())
        matches = sorted(glob.glob(pattern)) or sorted(glob.glob(str(data_dir / pattern)))
        shards += [Path(match) for match in matches if Path(match).is_file()]
    return shards


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
    described = {}
    for split, (path, rows) in files.items():
        if rows:
            described[split] = {
                "path": path.relative_to(out).as_posix(),
                "sha256": sha256_file(path),
                "size": path.stat().st_size,
                "rows": rows,
            }
    task = settings.get("task", DataConfig.task)
    defaults = [
        {"override /task@_global_.task": task},
        {"override /head@_global_.head": TASKS[task].head},
    ]
    content = dump_yaml({"defaults": defaults, "name": name, **settings, "files": described})
    comment = f"# heron train data={name} --config-dir DIR/conf paths.data=DIR\n"
    return write_file(out / "conf" / "data" / f"{name}.yaml", comment + content)
