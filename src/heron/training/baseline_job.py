"""One run of a baseline: the run folder of any other system, without an encoder or epochs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from heron.base.files import write_json
from heron.base.notices import say
from heron.base.run_folder import RunFolder
from heron.base.tables import write_table
from heron.config.baseline import CBOW
from heron.config.data import TRAIN
from heron.config.schema import Config
from heron.data.examples import Example
from heron.data.other_sets import load_run_data, of_split
from heron.models.baselines.shallow import label_ids
from heron.models.baselines.systems import Baseline, fit_baseline, save_baseline
from heron.tasks.base import Predictions
from heron.tasks.labels import LabelPredictions
from heron.tasks.summarization.baselines import ExtractiveBaseline
from heron.tasks.summarization.predictions import SummaryPredictions
from heron.training.describe import describe

_PACKAGES = ("scikit-learn", "gensim")  # whatever `runtime.provenance` does not name already


def train_baseline(config: Config, folder: RunFolder) -> dict[str, dict[str, float]]:
    """Fit on train, predict and score the other splits, keep the model.

    Nothing is chosen here: a grid over `baseline.C` and the like is a sweep, compared on validation
    as any other.

    Args:
        config: the resolved configuration; `baseline.name` is not `none`.
        folder: where everything goes. A run that was cut begins anew; what takes time (word
            vectors and features) is in the cache.

    Returns:
        `{"<split>": {"<metric>": fraction}}`, as in `scores.json`.
    """
    loaded = load_run_data(config)
    folder.update_status(data=describe(loaded.examples, loaded.dropped))
    baseline = fit_baseline(config, loaded.examples[TRAIN])
    for warning in baseline.notes.get("warnings", ()):
        say(warning)
    scores = {}
    for split, rows in loaded.examples.items():
        if split != TRAIN:
            predictions = predict_examples(baseline, rows, config)
            write_table(folder.predictions(split), predictions.columns(rows, config))
            scores[split] = predictions.scores(of_split(config, split))
            scores[split]["refused"] = 0
    write_json(folder.scores, scores)
    if config.run.export:
        save_baseline(baseline, config, folder.model)
    versions = {package: metadata.version(package) for package in _PACKAGES}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
    return scores


def predict_examples(
    baseline: Baseline | ExtractiveBaseline, examples: Sequence[Example], config: Config
) -> Predictions:
    """Predict every example, in the given order."""
    if isinstance(baseline, ExtractiveBaseline):
        return SummaryPredictions.of(examples, baseline.summaries(examples))
    return LabelPredictions(
        guids=[example.guid for example in examples],
        probabilities_RC=baseline.probabilities(examples),
        gold_R=label_ids(examples, config.data.label_order),
        groups=[example.group or example.text for example in examples],
    )


def baseline_sources(config: Config) -> dict[str, Path]:
    """Name the files besides the data that a baseline's result depends on, for `status.json`."""
    baseline = config.baseline
    if baseline.name in CBOW and baseline.vectors != "train":
        return {"vectors": Path(baseline.vectors).expanduser()}
    weights = Path(baseline.model) / "model.safetensors"
    return {"model": weights} if baseline.name == "zero_shot" and weights.is_file() else {}
