"""The run folder: the files that a run writes, and where. All readers rely on this layout."""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_json, write_json
from heron.base.secrets import redacted

Scores = dict[str, dict[str, float]]  # `{"<split>": {"<metric>": fraction}}`

# In `model/`; written last, so that they show that all is written.
HEAD, BASELINE = "head.safetensors", "baseline.json"
_updating = threading.RLock()  # a heartbeat writes beside the run


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
        """The state in `status.json` (see `heron.training.status`); `absent` without one."""
        return str(self.read_status().get("state", "absent"))

    def read_status(self) -> dict[str, Any]:
        """Read `status.json`; empty if absent or damaged, and the run then counts as cut."""
        try:
            status = read_json(self.status)
        except (FileNotFoundError, ValueError):
            return {}
        return status if isinstance(status, dict) else {}

    def read_scores(self) -> Scores:
        """Read `scores.json`; empty where there is none, a ConfigError where it is damaged."""
        try:
            scores = read_json(self.scores)
        except FileNotFoundError:
            return {}
        except ValueError:
            scores = None
        if isinstance(scores, dict) and all(isinstance(each, dict) for each in scores.values()):
            return scores
        raise ConfigError(
            f"{self.scores} is damaged: copy it again from where the run was trained, score the "
            f"model again by heron evaluate run={self.path}, or train again (run.resume=false)"
        )

    def update_status(self, **fields: Any) -> None:
        """Merge `fields` into `status.json`, atomically; secrets in them are masked."""
        with _updating:
            write_json(self.status, redacted({**self.read_status(), **fields}))

    def require_model(self, file: str = HEAD) -> None:
        """Raise a ConfigError unless the run has exported a model; `file` is written last."""
        if (self.model / file).is_file():
            return
        why = f"run.export was false, or {file} was removed; train it again with "
        why += "run.export=true run.resume=false"
        if (state := self.state()) != "done":
            why = f"the run is not finished (it is {state}); the same heron train command goes on"
        raise ConfigError(f"{self.model} holds no exported model: {why}")

    def is_new(self) -> bool:
        """Tell whether the folder holds at most a lock, a log and what Hydra has written."""
        known = {self.lock.name, self.log.name, ".hydra"}
        return {path.name for path in self.path.iterdir()} <= known

    def discard(self) -> None:
        """Remove a new run's folder unless data was prepared, and its sweep's if empty then."""
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
        inside = [file.parent for file in (self.last, self.predictions("test"), self.dynamics(0))]
        for folder in (*inside, self.model, self.stages, self.generated):
            if folder.is_symlink():  # perhaps to another disk: only a run's files are removed
                for path in folder.iterdir() if folder.is_dir() else ():
                    if path.suffix in (".ckpt", ".parquet"):
                        path.unlink()
            else:
                shutil.rmtree(folder, ignore_errors=True)


def open_run(path: Path) -> RunFolder:
    """Open a run folder; a ConfigError where `path` holds no `config.yaml`."""
    folder = RunFolder(Path(path))
    if not folder.config.is_file():
        inside = sorted(entry.parent.name for entry in Path(path).glob("*/config.yaml"))
        hint = f" It is a sweep folder; name one of its runs: {', '.join(inside)}" if inside else ""
        why = "it has no config.yaml" if folder.path.is_dir() else "there is no such folder"
        raise ConfigError(f"{path} is not a run folder: {why}.{hint}")
    return folder
