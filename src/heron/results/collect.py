"""Find the runs in a folder and read what they say about themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.base.yaml_files import read_yaml

_MARKS_OF_A_RUN = ("config.yaml", "status.json", "scores.json")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run folder says about itself, read once; unreadable parts are empty.

    Args:
        path: the run folder.
        config: the resolved configuration, nested.
        status: `status.json`; its `state` is `running`, `done`, `failed`, `absent` (nothing
            written) or `broken` (a file cannot be read; `error` says which and why).
        scores: `{"<split>": {"<metric>": number}}`, fractions from 0 to 1.
        ledger: `ledger.json`, what training has spent; empty for baselines and older runs.
    """

    path: Path
    config: Mapping[str, Any]
    status: Mapping[str, Any]
    scores: Mapping[str, Mapping[str, float]]
    ledger: Mapping[str, Any] = field(default_factory=dict)

    @property
    def job(self) -> str:
        """The folder's name: readable overrides and a hash."""
        return self.path.name

    @property
    def state(self) -> str:
        """How far the run came."""
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
    def curriculum(self) -> str:
        """The curriculum's name; `none` where everything was drawn all the time."""
        return str(self.setting("curriculum.name", "none"))

    def setting(self, key: str, default: Any = None) -> Any:
        """Look up a dotted configuration key (`optim.lr`); `default` where it is absent."""
        value: Any = self.config
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    def overrides(self) -> dict[str, str]:
        """The overrides that made this run, `{"head": "ess", "seed": "0"}`."""
        pairs = (str(word).lstrip("+").partition("=") for word in self.status.get("overrides", ()))
        return {key: value for key, _, value in pairs}


def collect(folder: Path) -> list[RunRecord]:
    """Read a run folder, or every run of a sweep folder, ordered by name.

    Broken, failed and unfinished runs are included with their state: a sweep's table must show
    what is missing, not hide it.

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
        raise ConfigError(
            f"{folder} holds no runs: neither it nor any folder in it has a config.yaml or "
            "status.json; name the folder that `heron train` printed"
        )
    return [_read_run(run) for run in runs]


def is_run(folder: Path) -> bool:
    """Whether `folder` is one run (not a sweep of them)."""
    return any((folder / name).is_file() for name in _MARKS_OF_A_RUN)


def without_first_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Leave out the runs that curricula have learnt from: nobody asked for them.

    They lie beside the runs of an experiment and have the name of none.
    """
    if not any(run.curriculum != "none" and run.setting("experiment") for run in runs):
        return list(runs)
    return [run for run in runs if run.curriculum != "none" or run.setting("experiment")]


def _read_run(path: Path) -> RunRecord:
    folder = RunFolder(path)
    errors: list[str] = []
    config = _read_mapping(folder.config, errors)
    status = {"state": "absent", **_read_mapping(folder.status, errors)}
    try:
        scores = folder.read_scores()
    except (ConfigError, OSError) as error:
        errors.append(f"scores.json cannot be read: {error}")
        scores = {}
    ledger = _read_mapping(folder.ledger, errors)
    if errors:
        status |= {"state": "broken", "error": "; ".join(errors)}
    return RunRecord(path, config, status, scores, ledger)


def _read_mapping(path: Path, errors: list[str]) -> dict[str, Any]:
    """Read a JSON or YAML file; what cannot be read is noted in `errors`, not raised."""
    if not path.is_file():
        return {}
    try:
        value = read_json(path) if path.suffix == ".json" else read_yaml(path)
    except (OSError, ValueError, ConfigError) as error:
        errors.append(f"{path.name} cannot be read: {error}")
        return {}
    if not isinstance(value, dict):
        errors.append(f"{path.name} holds {type(value).__name__}, not keys and values")
        return {}
    return value
