"""Earlier runs that change targets: predictions of teachers, dynamics of suspicious labels."""

from pathlib import Path

from heron.base.errors import DataError, Problem
from heron.base.files import fingerprint, read_yaml, sha256_file
from heron.base.run_folder import RunFolder
from heron.config.parsing import parse
from heron.data.config import VALIDATION, DataConfig
from heron.dynamics.files import record_paths
from heron.tasks.config import Config


def target_sources(config: Config) -> dict[str, str]:
    """Hash the predictions and dynamics that targets are made from, for `status.json`.

    Raises:
        DataError: there are none.
    """
    optim = config.optim
    read = {
        "optim.soft.predictions": [file for word in optim.soft.predictions for file in files(word)],
        "optim.suspects.dynamics": [
            record
            for word in optim.suspects.dynamics
            for run in runs(word, config)
            for record in record_paths(run)
        ],
    }
    return {key: fingerprint(map(sha256_file, paths)) for key, paths in read.items() if paths}


def files(word: str) -> list[Path]:
    """Find the predictions that a value of `optim.soft.predictions` names, of a run on validation.

    Raises:
        DataError: there are none.
    """
    path, pattern = Path(word), f"predictions/{VALIDATION}.parquet"
    found = [path] if path.is_file() else sorted([*path.glob(pattern), *path.glob(f"*/{pattern}")])
    if not found:
        what = "no file, run or sweep with predictions on validation"
        raise DataError([Problem(word, what, "correct optim.soft.predictions")])
    return found


def runs(word: str, config: Config) -> list[Path]:
    """Find the run that a value names, or the runs of a sweep with this run's data and fold.

    Runs of the sweep that have not ended, and those that learned from others, do not count.

    Raises:
        DataError: the sweep has none.
    """
    folders = sorted(dynamics.parent for dynamics in Path(word).glob("*/dynamics"))
    if not folders:
        return [Path(word)]  # a run, or a folder of another tool
    done = [each for each in folders if RunFolder(each).state() == "done"]
    stored = {folder: read_yaml(RunFolder(folder).config) for folder in done}
    found = [
        folder
        for folder, other in stored.items()
        if parse(DataConfig, other["data"], "data.") == config.data
        and not other["optim"].get("suspects", {}).get("dynamics")
    ]
    if not found:
        what = f"none of the {len(done)} finished runs there has the data and the fold of this run"
        raise DataError([Problem(word, what, "give both the same data.*, or name one run")])
    return found
