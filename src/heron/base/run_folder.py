"""The run folder: the files that a run writes, and where. All readers rely on this layout."""

from __future__ import annotations

import csv
import functools
import math
import pickle
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import (
    atomic_open,
    dump_yaml,
    is_locked,
    sha256_file,
    write_json,
)
from heron.base.run_files import Scores, Status, read_record
from heron.base.secrets import redacted
from heron.base.terminal import say

# Files of `model/` that are written last: where one exists, the model is complete.
HEAD = "head.safetensors"
BASELINE = "baseline.json"
SETTLED = ("done", "pruned", "tried")  # states of runs that have ended without an error
JOURNAL = "study.journal"  # in the folder of a sweep: the trials of its searches
STALE = 60.0  # seconds without a heartbeat after which another machine's process counts as gone
GONE = "its process is gone (killed, or out of memory); the same command resumes the run"
_updating = threading.RLock()  # the heartbeat's thread writes `status.json`, too


class _Inside:
    """A place in the run folder, as an attribute of `RunFolder`."""

    def __init__(self, place: str):
        self.place = place

    def __get__(self, folder: RunFolder, kind: type[RunFolder]) -> Path:
        return folder.path / self.place


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths inside one run folder, and its `status.json` and `scores.json`."""

    path: Path

    config = _Inside("config.yaml")  # the resolved configuration
    status = _Inside("status.json")  # state, seconds, seed, provenance and error
    scores = _Inside("scores.json")  # `Scores`, fractions from 0 to 1
    metrics = _Inside("metrics.csv")  # losses and validation scores per step and epoch
    ledger = _Inside("ledger.json")  # steps, samples, tokens, different examples of every stage
    model = _Inside("model")  # encoder, tokenizer and head in Hugging Face form
    best = _Inside("checkpoints/best.ckpt")  # weights of the best epoch on validation
    last = _Inside("checkpoints/last.ckpt")  # everything needed to resume exactly
    stages = _Inside("stages")  # run folders of the stages; `model` is then the last one's
    moved = _Inside("moved_answers.csv")  # gold answers that are not where their file says
    generated = _Inside("generated")  # generated texts of a split that is not done
    log = _Inside("log.txt")  # output of a sweep's job in its own process, of all attempts
    lock = _Inside(".lock")  # held by the process that works on the run

    def predictions(self, split: str) -> Path:
        """Guid, gold, prediction and probabilities of one split, Parquet."""
        return self.path / "predictions" / f"{split}.parquet"

    def dynamics(self, epoch: int, part: int | None = None) -> Path:
        """Guid, gold, p_gold, correct, margin, count and logits of an epoch or a part, from 0."""
        name = f"epoch={epoch}" if part is None else f"epoch={epoch},part={part}"
        return self.path / "dynamics" / f"{name}.parquet"

    def state(self) -> str:
        """The state in `status.json` (see `heron.training.run`); `absent` without one.

        `failed` where it says `running`, yet no process works on the run.
        """
        state = str(self.read_status().get("state", "absent"))
        if state != "running" or self.is_busy():
            return state
        state = str(self.read_status().get("state", "absent"))  # it may have ended since
        return "failed" if state == "running" else state

    def is_busy(self) -> bool:
        """Tell whether a process works on the run: here by its lock, elsewhere by its heartbeat.

        Not every network file system shares locks between machines.
        """
        if is_locked(self.lock):
            return True
        status = self.read_status()
        heartbeat = status.get("heartbeat", {})
        is_elsewhere = heartbeat.get("host") not in (None, socket.gethostname())
        is_recent = abs(time.time() - heartbeat.get("time", 0.0)) < STALE
        return status.get("state") == "running" and is_elsewhere and is_recent

    def read_status(self) -> dict[str, Any]:
        """Read `status.json`; empty if absent or damaged: the run then counts as unfinished."""
        try:
            return dict(read_record(self.status, Status))
        except (FileNotFoundError, ConfigError):
            return {}

    def read_scores(self) -> Scores:
        """Read `scores.json`; empty where there is none, a ConfigError where it is damaged."""
        try:
            return read_record(self.scores, Scores)
        except FileNotFoundError:
            return {}

    def read_score(self, metric: str) -> float | None:
        """Read one score on validation; None where there is none."""
        try:
            score = self.read_scores().get("validation", {}).get(metric)
        except ConfigError as error:
            say(str(error))
            return None
        return None if score is None or not math.isfinite(score) else float(score)

    def read_metrics(self) -> list[dict[str, float]]:
        """Read the finite numbers of each row of `metrics.csv`; a ConfigError if damaged."""
        try:
            with open(self.metrics, encoding="utf-8", newline="") as file:
                return [dict(_numbers(row)) for row in csv.DictReader(file)]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, csv.Error) as error:
            raise ConfigError(f"{self.metrics} cannot be read: {error}") from error

    def update_status(self, **fields: Any) -> None:
        """Merge `fields` into `status.json`, atomically; secrets in them are masked."""
        with _updating:
            write_json(self.status, redacted({**self.read_status(), **fields}))

    def try_update(self, **fields: Any) -> None:
        """Write to `status.json`; a full disk must not hide the error that is being reported."""
        try:
            self.update_status(**fields)
        except OSError as error:
            say(f"{self.status}: {error}", of_result=False)

    def keep_warning(self, text: str) -> None:
        """Add a warning to `warnings` in `status.json`, unless it is there from before a stop."""
        with _updating:
            kept = self.read_status().get("warnings", [])
            if text not in kept:
                self.try_update(warnings=[*kept, text])

    def write_config(self, config: Any) -> None:
        """Write `config.yaml`; see `config_text`."""
        with atomic_open(self.config) as file:
            file.write(config_text(config))

    def outputs(self) -> dict[str, str | int]:
        """Hash a run's scores and predictions, and measure the files of its model."""
        marks: dict[str, str | int] = {}
        predictions = self.predictions("test").parent
        for path in (self.scores, *sorted(predictions.rglob("*.parquet"))):
            if path.is_file():
                marks[str(path.relative_to(self.path))] = sha256_file(path)
        for path in sorted(self.model.iterdir()) if self.model.is_dir() else []:
            marks[f"model/{path.name}"] = path.stat().st_size
        return marks

    def changed(self, missing: bool = True) -> list[str]:
        """Name outputs that have changed since the run ended; with `missing`, also lost ones."""
        present = self.outputs()
        changed = []
        for name, mark in self.read_status().get("outputs", {}).items():
            if present.get(name) != mark and (missing or name in present):
                changed.append(name)
        return changed

    def require_outputs(self) -> None:
        """Raise a ConfigError where outputs have changed; a removed model is only warned of."""
        changed = self.changed()
        if not self.model.exists() and any(name.startswith("model/") for name in changed):
            say(f"{self.model} has been removed; run.resume=false trains it again")
            changed = [name for name in changed if not name.startswith("model/")]
        if changed:
            names = ", ".join(changed)
            raise ConfigError(
                f"{self.path} is done, but damaged or changed since: {names}; copy it again from "
                "where it was trained, or train again (run.resume=false)"
            )

    def spare_checkpoints(self) -> list[Path]:
        """List the checkpoints that an ended run does without; `best` stays if `model/` is absent.

        Checkpoints of other callbacks than heron's stay.
        """
        spare = [self.last, *self.last.parent.glob("*.corrupt")]
        if (self.model / HEAD).is_file():
            spare.append(self.best)
        return [path for path in spare if path.is_file()]

    def remove_spare_checkpoints(self) -> None:
        """Remove `spare_checkpoints`, and their folder if nothing else is in it."""
        for path in self.spare_checkpoints():
            path.unlink()
        with suppress(OSError):
            self.last.parent.rmdir()

    def require_model(self, file: str = HEAD) -> None:
        """Raise a ConfigError unless the run has exported a model; `file` is written last."""
        if (self.model / file).is_file():
            return
        state = self.state()
        if state == "done":
            why = f"run.export was false, or {file} was removed; train it again with "
            why += "run.export=true run.resume=false"
        else:
            why = f"the run is not finished (it is {state}); its heron train command resumes it"
        raise ConfigError(f"{self.model} holds no exported model: {why}")

    def is_new(self) -> bool:
        """Tell whether the folder holds at most a lock, a log and what Hydra has written."""
        known = {self.lock.name, self.log.name, ".hydra"}
        return {path.name for path in self.path.iterdir()} <= known

    def discard(self) -> None:
        """Remove a new run's folder unless data was prepared, then its sweep's if empty."""
        known = [RunFolder(file.parent).read_status() for file in self.path.rglob("status.json")]
        if not any("data" in status for status in known):
            shutil.rmtree(self.path, ignore_errors=True)
            with suppress(OSError):
                self.path.parent.rmdir()

    def clear(self) -> None:
        """Remove the files of a run, so that the next one starts over; other files stay."""
        for file in (self.status, self.scores, self.metrics, self.config, self.ledger, self.log):
            file.unlink(missing_ok=True)
        if self.model.is_symlink():  # to the last stage's
            self.model.unlink()
        _clear(self.last.parent)
        _clear(self.predictions("test").parent)
        _clear(self.dynamics(0).parent)
        for folder in (self.model, self.stages, self.generated):
            _clear(folder)


def _clear(folder: Path) -> None:
    """Remove a folder; of one on another disk, which is a link, only the files of runs."""
    if not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
        return
    files = list(folder.iterdir()) if folder.is_dir() else []
    for file in files:
        if file.suffix in (".ckpt", ".parquet"):
            file.unlink()


def _numbers(row: Mapping[Any, Any]) -> Iterator[tuple[str, float]]:
    """List the finite numbers in a row of CSV; cells without one are left out."""
    for name, text in row.items():
        with suppress(TypeError, ValueError):
            value = float(text)
            if math.isfinite(value):
                yield str(name), value


def config_text(config: Any) -> str:
    """Write a configuration, a dataclass, as `config.yaml` has it: without secrets."""
    parts = redacted(asdict(config)).items()
    texts = [_dumped(pickle.dumps({key: value})) for key, value in parts]
    return "".join(texts)


@functools.lru_cache(maxsize=1024)
def _dumped(part: bytes) -> str:
    """Write one part of a configuration; cached, because a sweep's jobs share most parts."""
    return dump_yaml(pickle.loads(part))


def folder_inside(folder: Path, name: str) -> Path:
    """Name a folder in a run folder, for a command's files; a ConfigError where it is a link.

    In somebody else's run, a link could lead to any folder. The run folder itself may be a link.
    """
    inside = folder / name
    for path in (inside, *inside.rglob("*")):
        if path.is_symlink() and not path.is_file():  # files are replaced, not followed
            raise ConfigError(f"{path} is a link: remove it, or write elsewhere (out=DIR)")
    return inside


def checkpoint_of(path: Path) -> Path:
    """Return `path` if it is a file, or the last checkpoint if it is a run folder."""
    return RunFolder(path).last if path.is_dir() else path


def open_run(path: Path) -> RunFolder:
    """Open a run folder; a ConfigError where `path` holds no `config.yaml`."""
    folder = RunFolder(Path(path))
    if not folder.config.is_file():
        why = "it has no config.yaml" if folder.path.is_dir() else "there is no such folder"
        message = f"{path} is not a run folder: {why}."
        runs = sorted(file.parent.name for file in folder.path.glob("*/config.yaml"))
        if runs:
            message += " It is a sweep folder; name one of its runs: " + ", ".join(runs)
        raise ConfigError(message)
    return folder
