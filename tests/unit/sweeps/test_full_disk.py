"""A disk that is really full: a tmpfs of some hundred kilobytes, which only the runs see."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from small_runs import TINY, in_folder

pytestmark = [pytest.mark.real, pytest.mark.slow]

WORDS = (
    "encoder.scratch.hidden=64",
    "encoder.scratch.vocabulary=800",
    "trainer.checkpoint_steps=2",
    "run.sweep=disk",
    "run.job=job",
)


@dataclass(frozen=True)
class Disk:
    """A small file system that only the processes of one namespace see as such.

    Args:
        place: where they see it.
        pid: of the process that keeps the namespace.
    """

    place: Path
    pid: int

    @property
    def seen(self) -> Path:
        """Where other processes see it."""
        return Path(f"/proc/{self.pid}/root") / self.place.relative_to("/")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command that sees it; returns once it has ended."""
        enter = ["nsenter", "-t", str(self.pid), "-U", "-m", "--preserve-credentials"]
        return subprocess.run([*enter, *command], capture_output=True, text=True, timeout=120)

    def resize(self, size: int) -> None:
        """Change its size, in bytes."""
        assert not self.run("mount", "-o", f"remount,size={size}", str(self.place)).returncode


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[Disk]:
    """Mount a tmpfs of `size` bytes; skips where that is not permitted."""
    place.mkdir()
    mount = f"mount -t tmpfs -o size={size} tmpfs '{place}' && echo mounted && exec cat"
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount]
    try:
        holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError as error:
        pytest.skip(f"no small disk: {error}")
    with holder:  # ends when its input is closed, and the mount with it
        assert holder.stdout is not None
        assert holder.stderr is not None
        if not holder.stdout.readline():
            pytest.skip(f"no small disk: {holder.stderr.read().decode().strip()}")
        yield Disk(place, holder.pid)


def command(runs: Path, cache: Path) -> list[str]:
    words = [*TINY, *WORDS, *in_folder(cache), f"paths.runs={runs}"]
    return [sys.executable, "-m", "heron", "train", *words]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def undisturbed(home):
    """Train where there is space; the cache that the others use is made here."""
    subprocess.run(command(home / "runs", home), check=True, capture_output=True)
    return RunFolder(home / "runs" / "disk" / "job")


# How much fits, in checkpoints of the whole state and in those of the weights alone: a new one
# needs its space beside the one that it replaces.
ROOM = {
    "the second checkpoint": (1.5, 0.0),
    "the first checkpoint after the best weights": (2.0, 0.6),
}


@pytest.mark.parametrize("room", ROOM.values(), ids=ROOM)
def test_training_fails_clearly_loses_nothing_and_goes_on_once_there_is_space(
    room, undisturbed, home, tmp_path
):
    whole, weights = (path.stat().st_size for path in (undisturbed.last, undisturbed.best))
    with small_disk(tmp_path / "disk", round(room[0] * whole + room[1] * weights)) as disk:
        words = command(disk.place, home)
        failed = disk.run(*words)
        assert failed.returncode == 2
        folder = RunFolder(disk.seen / "disk" / "job")
        assert "No space left on device" in failed.stderr
        assert folder.last.name in failed.stderr
        assert "Traceback" not in failed.stderr
        status = read_json(folder.status)
        assert (status["state"], status["retry"]) == ("failed", True)
        assert "No space left on device" in status["error"]
        check_whole(folder, undisturbed, has_best=room[1] > 0)
        disk.resize(20 * whole)
        ended = disk.run(*words)
        assert ended.returncode == 0, ended.stderr
        for name in ("scores.json", "metrics.csv", "model/model.safetensors", "ledger.json"):
            assert (folder.path / name).read_bytes() == (undisturbed.path / name).read_bytes()


def check_whole(folder: RunFolder, undisturbed: RunFolder, has_best: bool) -> None:
    """Make sure that what was written before is there, and nothing is half there."""
    kept = [folder.last, *([folder.best] if has_best else [])]
    for path in kept:
        with zipfile.ZipFile(path) as file:
            assert file.testzip() is None
    assert torch.load(folder.last, weights_only=True)["global_step"] > 0
    assert sorted(os.listdir(folder.last.parent)) == sorted(path.name for path in kept)
    assert folder.dynamics(0).is_file() == has_best
    if has_best:
        assert folder.dynamics(0).read_bytes() == undisturbed.dynamics(0).read_bytes()
