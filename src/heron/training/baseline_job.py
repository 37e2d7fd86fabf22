"""One run of a baseline: a run folder like any other, without an encoder or epochs."""

from importlib import metadata
from pathlib import Path

from heron.base.files import seal, write_json
from heron.base.run_folder import BASELINE, RunFolder, Scores
from heron.base.tables import write_table
from heron.base.terminal import say
from heron.data.config import TRAIN
from heron.data.readers import load_run_data
from heron.tasks import BASELINES
from heron.tasks.base import Baseline
from heron.tasks.config import Config
from heron.training.describe import describe
from heron.training.exported import require_whole
from heron.training.outcome import score

_PACKAGES = ("scikit-learn", "gensim")  # `heron.training.status.provenance` names the others


def train_baseline(config: Config, folder: RunFolder) -> Scores:
    """Fit on train, predict and score the other splits, keep the model; returns `scores.json`.

    Settings such as `baseline.C` are tuned by a sweep, on validation. A run that was cut starts
    over; word vectors and features, which take time, are in the cache.
    """
    loaded = load_run_data(config)
    folder.update_status(data=describe(loaded.examples, loaded.dropped))
    entry = BASELINES[config.baseline.name]
    baseline: Baseline = entry.fit(config, loaded.examples.get(TRAIN, []))
    for warning in baseline.notes.get("warnings", ()):
        say(warning)
    scores = {}
    for split in entry.splits(config, list(loaded.examples)):
        rows = loaded.examples[split]
        scores[split] = score(config, folder, split, baseline.predict(rows, config), rows)
        scores[split]["refused"] = 0
    for name, columns in entry.tables(baseline).items():
        write_table(folder.path / name, columns)
    write_json(folder.scores, scores)
    if config.run.export:
        save_baseline(baseline, config, folder.model)
    versions = {package: metadata.version(package) for package in _PACKAGES}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
    return scores


def save_baseline(baseline: Baseline, config: Config, folder: Path) -> None:
    """Write a fitted baseline to `folder`; the mark comes last, and shows that all is written."""
    baseline.save(folder)
    write_json(folder / BASELINE, {"baseline": config.baseline.name})
    seal(folder)


def load_baseline(config: Config, folder: Path) -> Baseline:
    """Open what `save_baseline` wrote.

    Raises:
        ConfigError: word vectors or a model that the run names are gone or have changed, or the
            files are damaged or written by another version of heron.
    """
    require_whole(folder)
    return BASELINES[config.baseline.name].load(config, folder)
