"""The files and models that a target needs, and which are missing on this computer."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from heron.base.cells import Table
from heron.base.folders import data_sets
from heron.data.config import SPLITS, read_config
from heron.data.sources import State, inspect
from heron_tools.reproduction.targets import Target

RUNS = "runs"
PART = "in part"
PEOPLE = "needs people"
LACKS = "lacks"
PENDING = "not yet"
_NOTE = (
    "runs: nothing is missing; in part: without the files named; needs people: sheets to fill in, "
    "or a run to name by from=; lacks: data or encoders are missing; not yet: heron lacks it. A "
    "missing encoder can be replaced (encoder=DIR), and so can a data set (data=NAME); all cells "
    "of such a run are marked. from=: files that the command evaluates, such as filled sheets or "
    "a finished run. heron data NAME fetch=true downloads files that have an address."
)


def status_table(targets: Sequence[Target], data_dir: Path, cache_dir: Path) -> Table:
    """List targets with missing files and models, and the command that reproduces each.

    Args:
        targets: of one paper or of all.
        data_dir: `paths.data`.
        cache_dir: `paths.cache`.
    """
    rows = []
    states = Counter[str]()
    for target in targets:
        missing, state = missing_for(target, data_dir, cache_dir)
        states[state] += 1
        needs = [*missing, target.people, target.hardware]
        command = f"heron reproduce {target.name}"
        if target.people:
            command += " from=..."
        has_models = all(map(has_model, target.models))
        if target.experiment and not has_models:
            command += " model=..." if target.prompted else " encoder=..."
        listed = "; ".join(filter(None, needs))
        rows.append((target.name, target.title, state, listed, command))

    counts = []
    for state in (RUNS, PART, PEOPLE, LACKS, PENDING):
        if states[state]:
            counts.append(f"{states[state]} {state}")
    title = f"{len(rows)} tables and figures: {', '.join(counts)}"
    columns = ("target", "title", "state here", "missing or needed", "command")
    return Table(title, columns, rows, _NOTE)


def missing_for(target: Target, data_dir: Path, cache_dir: Path) -> tuple[list[str], str]:
    """List the files and models of a target that are missing on this computer.

    Args:
        target: one table or figure.
        data_dir: `paths.data`.
        cache_dir: `paths.cache`.

    Returns:
        What is missing, and the state: `RUNS`, `PART`, `PEOPLE`, `LACKS` or `PENDING`.
    """
    missing = [f"file {name}" for name in target.files if not (data_dir / name).is_file()]
    has_data = not target.data and not missing
    for name, splits in target.data.items():
        missing_files = _missing_files(name, data_dir, cache_dir)
        missing_splits = [split for split in splits if split in missing_files]
        if missing_splits:
            listed = ", ".join(missing_splits)
            missing.append(f"data {name} ({listed})")
        if len(missing_splits) < len(splits):
            has_data = True

    if target.instead and not has_data:
        has_data = not _missing_files(target.instead, data_dir, cache_dir)
        if has_data:
            missing.append(f"{target.instead} is substitute data")
    missing_models = [model for model in target.models if not has_model(model)]
    if missing_models:
        listed = ", ".join(missing_models)
        missing.append(f"models {listed}")

    if target.experiment is None and target.function is None:
        state = PENDING
    elif missing and (target.experiment or not has_data):
        state = LACKS
    elif target.people:
        state = PEOPLE
    else:
        state = PART if missing else RUNS
    return missing, state


@cache  # several targets of a paper read the same files
def _missing_files(name: str, data_dir: Path, cache_dir: Path) -> frozenset[str]:
    """List the missing split files of a data set; hashes are not checked."""
    paths = data_sets()
    if name not in paths:
        return frozenset(SPLITS)
    config = read_config(paths[name])
    config = dataclasses.replace(config, verify=False)  # hashing takes seconds
    missing = set()
    for split, source in inspect(config, data_dir, cache_dir).items():
        if source.state is State.MISSING:
            missing.add(split)
    return frozenset(missing)


def has_model(name: str) -> bool:
    """Tell whether a model is here: `scratch`, a folder, or in Hugging Face's cache."""
    from huggingface_hub import try_to_load_from_cache  # start-up time

    if name == "scratch" or Path(name).expanduser().exists():
        return True
    if "/" not in name:  # no id on the hub: a file elsewhere
        return False
    return isinstance(try_to_load_from_cache(name, "config.json"), str)
