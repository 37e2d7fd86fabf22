"""What a target needs, and what of it is missing on this computer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from heron.base.cells import Table
from heron.base.folders import data_sets
from heron.config.data import read_config
from heron.data.sources import State, inspect
from heron.reproduction.targets import Target

_NOTE = (
    "runs: nothing is missing. A missing encoder can be replaced (encoder=DIR), a missing data set "
    "as well (data=NAME); every cell that this touches is marked. from=: what the command adds up, "
    "such as filled sheets or a finished run. heron data NAME fetch=true downloads files that have "
    "an address."
)


def status_table(targets: Sequence[Target], data_dir: Path, cache_dir: Path) -> Table:
    """List targets: what is missing here, and the command that fills each."""
    rows = []
    for target in targets:
        missing = missing_for(target, data_dir, cache_dir)
        state = "needs people" if target.people else "runs"
        rows.append(
            (
                target.name,
                target.title,
                "lacks" if missing else state,
                "; ".join([*missing, *filter(None, (target.people, target.hardware))]),
                f"heron reproduce {target.name}" + (" from=..." if target.people else ""),
            )
        )
    counts = [sum(row[2] == state for row in rows) for state in ("runs", "needs people", "lacks")]
    title = f"{len(rows)} targets: {counts[0]} run here, {counts[1]} need people, {counts[2]} lack"
    columns = ("target", "title", "state", "missing or needed", "command")
    return Table(f"{title} files or models", columns, tuple(rows), _NOTE)


def missing_for(target: Target, data_dir: Path, cache_dir: Path) -> list[str]:
    """Name the files and models that a target needs and that are not here."""
    found = []
    for name, splits in target.data.items():
        lacking = [split for split in splits if split in _missing_files(name, data_dir, cache_dir)]
        if lacking:
            found.append(f"data {name} ({', '.join(lacking)})")
    models = [model for model in target.models if not has_model(model)]
    return found + ([f"models {', '.join(models)}"] if models else [])


@cache  # several targets of a paper read the same files
def _missing_files(name: str, data_dir: Path, cache_dir: Path) -> frozenset[str]:
    """Name the files of a data set that are missing; a file with any content counts as there."""
    paths = data_sets()
    if name not in paths:
        return frozenset(("its YAML",))
    config = dataclasses.replace(read_config(paths[name]), verify=False)  # hashing takes seconds
    sources = inspect(config, data_dir, cache_dir)
    return frozenset(name for name, source in sources.items() if source.state is State.MISSING)


def has_model(name: str) -> bool:
    """Tell whether a model is on this computer: a folder, or in Hugging Face's cache."""
    from huggingface_hub import try_to_load_from_cache  # start-up time

    if Path(name).expanduser().exists():
        return True
    # One with an owner is an id of the hub; other names are of files elsewhere.
    return isinstance(try_to_load_from_cache(name, "config.json"), str) if "/" in name else False
