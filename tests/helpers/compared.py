"""Finished runs as `heron compare` reads them, and the command on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from heron.base.files import read_json, write_json
from heron.base.tables import write_table
from heron.commands import compare


def write_compared(
    place: Path, choice: str, seed: int, config: dict[str, Any], columns: Any, **files: Any
) -> Path:
    """Write a run of a sweep: `choice` is the option that it varies beside the seed.

    Args:
        place: where `runs/sweep` is; `sweep=` in `files` is another sweep.
        choice: such as `head=ess`.
        seed: of the run.
        config: what differs from a run of a relation.
        columns: of its test predictions; None for a run that is not done.
        files: `scores`, `state`.
    """
    folder = place / "runs" / files.get("sweep", "sweep") / f"{choice},seed={seed}-0000000{seed}"
    group, name = choice.split("=")
    usual = {"seed": seed, group: {"name": name}, "data": {"language": "he"}}
    folder.mkdir(parents=True)
    merged = OmegaConf.merge(OmegaConf.create(usual), OmegaConf.create(config))
    OmegaConf.save(merged, folder / "config.yaml")
    status = {"state": files.get("state", "done"), "overrides": [choice, f"seed={seed}"]}
    write_json(folder / "status.json", status)
    if columns is not None:
        write_json(folder / "scores.json", files["scores"])
        write_table(folder / "predictions" / "test.parquet", columns)
    return folder


def run(*words: object) -> Any:
    """Run the command with few draws; returns what it wrote as JSON."""
    assert compare.run([*map(str, words), "draws=300", "out=out"]) == 0
    return read_json("out/compare.json")


def by_label(written: Any) -> dict[str, Any]:
    """Look systems up by their names."""
    return {system["label"]: system for system in written["systems"]}
