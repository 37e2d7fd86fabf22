"""Find the runs in a folder, read their configuration and scores, and choose scores to show."""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.cells import Cell, Interval
from heron.base.errors import ConfigError
from heron.base.run_files import ReportedSettings, Scores, SpentBudget, Status, read_record
from heron.base.run_folder import GONE, RunFolder
from heron.base.tables import table_stem
from heron.base.terminal import say
from heron.tasks.task import headline_names

SPLITS = ("test", "validation")

_FILES_OF_A_RUN = ("config.yaml", "status.json", "scores.json")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The small files of one run folder, read once; unreadable files are empty."""

    path: Path  # the run folder
    config: Mapping[str, Any]  # the resolved configuration, nested
    # `status.json`; its `state` is `running`, `done`, `failed`, `absent` (nothing written) or
    # `broken` (a file cannot be read; `error` says which and why).
    status: Mapping[str, Any]
    # `{"<split>": {"<metric>": number}}`, fractions from 0 to 1.
    scores: Mapping[str, Mapping[str, float]]
    # `ledger.json`, the training budget spent; empty for baselines.
    ledger: Mapping[str, Any] = field(default_factory=dict)

    @property
    def job(self) -> str:
        """The folder's name: readable overrides and a hash."""
        return self.path.name

    @property
    def state(self) -> str:
        """The state, as `status` explains it."""
        return str(self.status["state"])

    @property
    def done(self) -> bool:
        """Whether the run finished, so that its scores count."""
        return self.state == "done"

    @property
    def synthetic(self) -> bool:
        """Whether the run's data is generated, so that no score is a research result."""
        return bool(self.setting("data.synthetic", False))

    @property
    def baseline(self) -> str:
        """The baseline's name, or `none`."""
        return str(self.setting("baseline.name", "none"))

    @property
    def curriculum(self) -> str:
        """The curriculum's name, or `none`."""
        return str(self.setting("curriculum.name", "none"))

    @property
    def warnings(self) -> list[str]:
        """Warnings of the run, such as of few training rows."""
        return list(self.status.get("warnings", ()))

    def setting(self, key: str, default: Any = None) -> Any:
        """Look up a dotted configuration key (`optim.lr`), also of a tool (`prompting.shots`)."""
        value: Any = {**(self.config.get("parts") or {}), **self.config}
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    def score(self, split: str, metric: str) -> float | None:
        """The score; None where the split has none, or one that is undefined (NaN)."""
        value = self.scores.get(split, {}).get(metric)
        return value if value is not None and math.isfinite(value) else None

    def overrides(self) -> dict[str, str]:
        """The overrides that made this run, `{"head": "ess", "seed": "0"}`."""
        values = {}
        for word in self.status.get("overrides", ()):
            key, _, value = str(word).lstrip("+").partition("=")
            values[key] = value
        return values


class PredictionFile(RunRecord):
    """A file of any system's predictions, as a finished run of which nothing else is known."""

    @property
    def job(self) -> str:
        """The file's name, without its suffix."""
        return table_stem(self.path)


def collect(folder: Path) -> list[RunRecord]:
    """Read a run folder, or every run of a sweep folder by name, unfinished ones included.

    Raises:
        ConfigError: the folder does not exist or holds no run.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; name a run or a sweep, such as runs/<sweep>")
    if is_run(folder):
        return [_read_run(folder)]

    runs = sorted(entry for entry in folder.iterdir() if entry.is_dir() and is_run(entry))
    if not runs:
        sweeps = [str(sweep) for sweep in find_sweeps(folder)]
        if sweeps:
            raise ConfigError(f"{folder} holds sweeps; name one: {', '.join(sweeps)}")
        raise ConfigError(
            f"{folder} holds no runs: neither it nor any folder in it has a config.yaml or "
            "status.json; name the folder that `heron train` printed"
        )

    return [_read_run(run) for run in runs]


def find_sweeps(folder: Path) -> list[Path]:
    """List the folders under `folder`, at any depth, that hold runs; by name."""
    sweeps = set()
    for parent, inner_folders, _ in os.walk(folder):
        for name in list(inner_folders):
            if is_run(Path(parent, name)):
                sweeps.add(Path(parent))
                inner_folders.remove(name)  # its stages are part of it

    return sorted(sweeps)


def is_run(folder: Path) -> bool:
    """Whether `folder` is one run (not a sweep of them)."""
    return any((folder / name).is_file() for name in _FILES_OF_A_RUN)


def _read_run(path: Path) -> RunRecord:
    """Read the small files of a run folder; the status says which of them cannot be read."""
    folder = RunFolder(path)
    kinds: dict[Path, Any] = {
        folder.config: ReportedSettings,
        folder.status: Status,
        folder.scores: Scores,
        folder.ledger: SpentBudget,
    }

    files = []
    errors = []
    for file, kind in kinds.items():
        content = {}
        try:
            if file.is_file():
                content = read_record(file, kind)
        except (OSError, ConfigError) as error:
            errors.append(f"{file.name} cannot be read: {error}")

        files.append(content)

    config, status, scores, ledger = files
    status = {"state": "absent", **status}
    if status["state"] == "running":
        status["state"] = folder.state()
        if status["state"] == "failed":
            status["error"] = GONE

    if status["state"] == "done":
        changed = [name for name in folder.changed(missing=False) if not name.startswith("model/")]
        if changed:
            say(
                f"{path}: {', '.join(changed)} changed after the run had ended: its scores and its "
                "predictions may contradict each other"
            )

    if errors:
        status |= {"state": "broken", "error": "; ".join(errors)}

    return RunRecord(path, config, status, scores, ledger)


def headline_metrics(runs: Iterable[RunRecord]) -> list[str]:
    """Name the scores that head a report, those of `trainer.monitor` and `task.metrics` included.

    Without any headline score of the runs' tasks: all scores except the parts of others, such as
    per-class F1.
    """
    runs = list(runs)
    present = dict.fromkeys(
        name for run in runs for scores in run.scores.values() for name in scores
    )
    tasks = [str(run.setting("task.name")) for run in runs]
    metrics = dict.fromkeys(headline_of(present, tasks))
    configured = [str(run.setting("trainer.monitor")) for run in runs]
    for run in runs:
        configured += run.setting("task.metrics") or ()

    metrics |= dict.fromkeys(name for name in configured if name in present)
    return list(metrics)


def headline_of(names: Iterable[str], tasks: Iterable[str]) -> list[str]:
    """Choose the scores that head reports on runs of some tasks, as the tasks order them."""
    present = list(names)
    chosen: dict[str, None] = {}
    for task in dict.fromkeys(tasks):
        chosen |= dict.fromkeys(headline_names(task, present))
    return list(chosen) or [name for name in present if is_whole(name)]


def is_whole(metric: str) -> bool:
    """Whether a metric is a score of the whole split, not of one class nor an interval's bound."""
    return "/" not in metric and not metric.endswith(("_low", "_high"))


def cell_of(scores: Mapping[str, float], metric: str) -> Cell:
    """Find a score, with its interval where it has one."""
    value, low, high = (scores.get(f"{metric}{bound}") for bound in ("", "_low", "_high"))
    if value is None or low is None or high is None:
        return value
    return Interval(value, low, high)
