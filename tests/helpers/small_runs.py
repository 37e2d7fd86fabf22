"""Small trainings through heron's own command line, in this process; for the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

from heron.base.run_folder import RunFolder
from heron.cli import main
from heron.tasks.config import Config
from heron.training import compose as composition

TINY = (
    "data.generator.size=160",
    "encoder.scratch.vocabulary=400",
    "encoder.scratch.hidden=32",
    "encoder.scratch.layers=1",
    "encoder.scratch.heads=2",
    "encoder.scratch.intermediate=32",
    "batching.tokens=900",
    "optim.lr=1e-3",
    "task.bootstrap=20",
    "trainer.max_epochs=2",
    "trainer.precision=32-true",
    "trainer.accelerator=cpu",
    "trainer.threads=1",
    "run.keep_checkpoints=true",  # tests compare them
    "run.isolate=false",  # what tests replace would not reach a process of its own
)


def heron(*words: object) -> int:
    """Run one command as `heron WORDS...` would; returns its exit code."""
    try:
        return main([str(word) for word in words])
    except SystemExit as error:  # of argparse
        return int(error.code or 0)


def in_folder(folder: Path) -> tuple[str, str]:
    """Say where runs and cache go, as overrides."""
    return f"paths.runs={folder / 'runs'}", f"paths.cache={folder / 'cache'}"


def compose(folder: Path, *overrides: str) -> Config:
    """Compose the configuration that `train` would run."""
    return composition.compose([*TINY, *in_folder(folder), *overrides])


def train(folder: Path, *overrides: str, job: str = "tiny") -> RunFolder:
    """Train one tiny job on chronicle; returns its run folder."""
    assert heron("train", *TINY, *in_folder(folder), f"run.job={job}", *overrides) == 0
    return RunFolder(folder / "runs" / "chronicle-relation" / job)
