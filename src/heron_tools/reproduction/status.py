"""The files and models that a target needs, and which are missing on this computer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from heron.base.cells import Table
from heron.base.folders import data_sets
from heron.data.config import SPLITS, read_config
from heron.data.sources import State, inspect
from heron_tools.reproduction.targets import Target

RUNS, PART, PEOPLE, LACKS, PENDING = "runs", "in part", "needs people", "lacks", "not yet"
_NOTE = (
    "runs: nothing is missing; in part: without the files named; needs people: sheets to fill in, "
    "or a run to name by from=; lacks: data or encoders are missing; not yet: heron lacks it. A "
    "missing encoder can be replaced (encoder=DIR), and so can a data set (data=NAME); all cells "
    "of such a run are marked. from=: files that the command evaluates, such as filled sheets or "
    "a finished run. heron data NAME fetch=true downloads files that have an address."
)


def status_table(targets: Sequence[Target], data_dir: Path, cache_dir: Path) -> Table:
    """List targets with missing files and models, and the command that reproduces each."""
    rows = []
    for target in targets:
        missing, state = missing_for(target, data_dir, cache_dir)
        needs = "; ".join([*missing, *filter(None, (target.people, target.hardware))])
        words = ["heron reproduce", target.name, *(["from=..."] if target.people else [])]
        if target.experiment and not all(map(has_model, target.models)):
            words.append("model=..." if target.prompted else "encoder=...")
        rows.append((target.name, target.title, state, needs, " ".join(words)))
    states = [row[2] for row in rows]
    counts = ", ".join(
        f"{states.count(s)} {s}" for s in (RUNS, PART, PEOPLE, LACKS, PENDING) if s in states
    )
    columns = ("target", "title", "state here", "missing or needed", "command")
    return Table(f"{len(rows)} tables and figures: {counts}", columns, tuple(rows), _NOTE)


def missing_for(target: Target, data_dir: Path, cache_dir: Path) -> tuple[list[str], str]:
    """List the files and models of a target that are missing here; returns its state, too."""
    found = [f"file {name}" for name in target.files if not (data_dir / name).is_file()]
    present = not target.data and not found
    for name, splits in target.data.items():
        missing = _missing_files(name, data_dir, cache_dir)
        lacking = [split for split in splits if split in missing]
        present = present or len(lacking) < len(splits)
        if lacking:
            found.append(f"data {name} ({', '.join(lacking)})")
    if target.instead and not present:
        present = not _missing_files(target.instead, data_dir, cache_dir)
        found += [f"{target.instead} is substitute data"] if present else []
    if models := [model for model in target.models if not has_model(model)]:
        found.append(f"models {', '.join(models)}")
    if target.experiment is None and target.function is None:
        return found, PENDING
    if found and (target.experiment or not present):
        return found, LACKS
    return found, PEOPLE if target.people else PART if found else RUNS


@cache  # several targets of a paper read the same files
def _missing_files(name: str, data_dir: Path, cache_dir: Path) -> frozenset[str]:
    """List the missing split files of a data set; hashes are not checked."""
    paths = data_sets()
    if name not in paths:
        return frozenset(SPLITS)
    config = dataclasses.replace(read_config(paths[name]), verify=False)  # hashing takes seconds
    sources = inspect(config, data_dir, cache_dir)
    return frozenset(name for name, source in sources.items() if source.state is State.MISSING)


def has_model(name: str) -> bool:
    """Tell whether a model is here: `scratch`, a folder, or in Hugging Face's cache."""
    from huggingface_hub import try_to_load_from_cache  # start-up time

    if name == "scratch" or Path(name).expanduser().exists():
        return True
    # With an owner, it is an id on the hub; other names are of files elsewhere.
    return isinstance(try_to_load_from_cache(name, "config.json"), str) if "/" in name else False
