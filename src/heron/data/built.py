"""The YAML by which `heron train data=NAME` reads files that a command has built."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heron.base.files import dump_yaml, sha256_file, write_file
from heron.data import TASKS
from heron.data.config import DataConfig


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
