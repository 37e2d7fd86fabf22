"""The run folder: the files that a run writes, and where. All readers rely on this layout.

runs/<sweep>/<job>/
  config.yaml  status.json  scores.json  metrics.csv  log.txt
  predictions/<split>.parquet   guid, gold, prediction, + probabilities
  dynamics/epoch=<n>.parquet    guid, gold, p_gold, correct, margin, count, logits
  ledger.json                   what the training has spent
  checkpoints/{best,last}.ckpt
  model/                        Hugging Face export
  stages/<n>-<data set>/        run folders of sequential fine-tuning
"""

from __future__ import annotations

import shutil
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import SEAL, damaged_files, read_json, write_json
from heron.base.secrets import redacted
from heron.base.terminal import say

Scores = dict[str, dict[str, float]]  # `{"<split>": {"<metric>": fraction}}`

HEAD = "head.safetensors"
DAMAGED = (
    "damaged, missing or changed since the run wrote it; copy the folder again from where the run "
    "was trained, or train the run again (run.resume=false)"
)
_updating = threading.RLock()  # a heartbeat writes beside the run


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths inside one run folder, and its `status.json` and `scores.json`."""

    path: Path

    @property
    def config(self) -> Path:
        """The resolved configuration, YAML."""
        return self.path / "config.yaml"

    @property
    def status(self) -> Path:
        """State, seconds, seed, provenance and error, JSON."""
        return self.path / "status.json"

    @property
    def scores(self) -> Path:
        """`{"<split>": {"<metric>": number}}`, fractions from 0 to 1, JSON."""
        return self.path / "scores.json"

    @property
    def metrics(self) -> Path:
        """Losses and validation scores per step and epoch, CSV."""
        return self.path / "metrics.csv"

    @property
    def model(self) -> Path:
        """Encoder, tokenizer and head in Hugging Face form."""
        return self.path / "model"

    @property
    def best(self) -> Path:
        """Weights of the epoch with the best validation score."""
        return self.path / "checkpoints" / "best.ckpt"

    @property
    def last(self) -> Path:
        """Everything needed to resume exactly."""
        return self.path / "checkpoints" / "last.ckpt"

    @property
    def stages(self) -> Path:
        """The run folders of the stages, where the run has some; `model` is then the last one's."""
        return self.path / "stages"

    @property
    def generated(self) -> Path:
        """Predictions of a split that is not done, kept by tasks that generate texts."""
        return self.path / "generated"

    @property
    def log(self) -> Path:
        """Output of a sweep's job in its own process, of all attempts."""
        return self.path / "log.txt"

    @property
    def lock(self) -> Path:
        """Held by the process that works on the run."""
        return self.path / ".lock"

    def predictions(self, split: str) -> Path:
        """Predictions on one split, Parquet."""
        return self.path / "predictions" / f"{split}.parquet"

    def dynamics(self, epoch: int, part: int | None = None) -> Path:
        """Per-example training dynamics of one epoch, or a part of one (both from 0), Parquet."""
        name = f"epoch={epoch}" if part is None else f"epoch={epoch},part={part}"
        return self.path / "dynamics" / f"{name}.parquet"

    @property
    def ledger(self) -> Path:
        """Optimizer steps, samples, tokens and different examples of every stage, JSON."""
        return self.path / "ledger.json"

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
        """Read `scores.json`; empty where there is none.

        Raises:
            ConfigError: it is damaged; says what to do.
        """
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
        """Make sure that the run has exported a model.

        Args:
            file: the file in `model/` that is written last.

        Raises:
            ConfigError: it has not; says why, and what to do.
        """
        if (self.model / file).is_file():
            return
        state = self.state()
        if state == "done":
            why = f"run.export was false, or {file} was removed; train it again with "
            why += "run.export=true run.resume=false"
        else:
            why = f"the run is not finished (it is {state}); the same heron train command goes on"
        raise ConfigError(f"{self.model} holds no exported model: {why}")

    def is_new(self) -> bool:
        """Tell whether the folder holds only a lock and a log."""
        return {path.name for path in self.path.iterdir()} <= {self.lock.name, self.log.name}

    def discard(self) -> None:
        """Remove the folder, and its sweep's if that is empty then, unless data was prepared.

        A mistake in the command line must not leave a failed run behind. Only for a folder that was
        new when the run began: everything in it is removed.
        """
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


def require_whole(model: Path) -> None:
    """Make sure that an exported model is unchanged, by its `checksums.json`.

    Args:
        model: `RunFolder.model`; a warning is printed if an older heron wrote no checksums.

    Raises:
        ConfigError: names the files that are missing or have changed, and what to do.
    """
    damaged = damaged_files(model)
    if damaged is None:
        say(f"{model} has no {SEAL}: its files cannot be checked for damage", who="heron")
    elif damaged:
        raise ConfigError(
            f"{model}: {', '.join(damaged)}: {DAMAGED}. If you have changed it "
            f"yourself, remove {SEAL}"
        )


def open_run(path: Path) -> RunFolder:
    """Open an existing run folder.

    Raises:
        ConfigError: `path` holds no `config.yaml`.
    """
    folder = RunFolder(Path(path))
    if not folder.config.is_file():
        inside = sorted(entry.parent.name for entry in Path(path).glob("*/config.yaml"))
        hint = f" It is a sweep folder; name one of its runs: {', '.join(inside)}" if inside else ""
        raise ConfigError(f"{path} is not a run folder: it has no config.yaml.{hint}")
    return folder
