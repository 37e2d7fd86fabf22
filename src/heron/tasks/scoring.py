"""How labels and texts are scored: one function each, for runs and for `heron score`; BERTScore.

This module imports quickly; torch and transformers are loaded when BERTScore is computed.

Shape suffixes: N rows, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heron.base.files import write_json
from heron.base.folders import default_cache_dir
from heron.config.parsing import parse
from heron.languages.language import Language
from heron.metrics.calibration import TOLERANCE, calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_task
from heron.metrics.config import BertScoreConfig
from heron.metrics.intervals import score_intervals
from heron.metrics.span import mean_scores
from heron.tasks.config import Config

if TYPE_CHECKING:  # start-up time
    from pathlib import Path

    from heron.base.run_files import Scores
    from heron.base.run_folder import RunFolder
    from heron.data.config import DataConfig
    from heron.data.examples import Example
    from heron.data.rows import Rows
    from heron.metrics.arrays import Floats
    from heron.metrics.bertscore import BertScores

    ItemScores = Callable[
        [Sequence[str], Sequence[Sequence[str]], Language | None, bool | None], dict[str, Floats]
    ]

# Usual names of a column of predictions, none of a gold one; `heron predict` writes no other
# column under them.
PREDICTION_COLUMNS = ("prediction", "pred", "predicted_label", "prediction_text")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """How a task with classes is scored."""

    metric: str = "macro_f1"  # the metric that `heron compare` compares by default
    right: str = "accuracy"  # the score whose value for a row is 1 where the row is right
    usual_labels: tuple[str, ...] = ()  # classes with these names in every data set, in order
    # The key with the run's mode of `relaxed_*` scores; None: there are none.
    relaxed_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScores:
    """How a task whose predictions are texts is scored: by means over the scores of the texts."""

    # Scores predictions against their gold texts: float64 [N] by name, NaN where a row does not
    # count. Takes predictions, golds, language (None: only scores that need none), and whether "no
    # answer" can be right (None: if a gold says so).
    items: ItemScores
    metric: str  # the metric that `heron compare` compares by default
    # The score that is 1 where a row is right; None where rows are not right or wrong.
    right: str | None = None
    # Whether "no answer" can be right, from the labels of a data set; None where there are no
    # labels.
    can_be_empty: Callable[[Sequence[str]], bool | None] = lambda labels: False
    predicts: str  # what a system predicts, such as `answer`
    data: str  # the data set whose file format gold files have by default
    columns: tuple[str, ...]  # names that the column of predictions may have
    group: str  # the column whose rows a bootstrap keeps together where a row has no group
    read: Callable[[Path, DataConfig], Rows]  # reads a gold file
    golds: Callable[[Example], list[str]]  # the gold texts of an example
    # What to tell the user about the gold examples.
    notes: Callable[[Sequence[Example]], list[str]] = lambda examples: []
    # Further scores, of a whole file.
    rest: Callable[[Sequence[Example], Sequence[str], DataConfig], Mapping[str, float]] = (
        lambda examples, texts, config: {}
    )
    # The key with the run's settings of BERTScore; None: it does not compare the texts.
    bertscore_key: str | None = None
    # Checks, before a run, that what its scores need is installed; raises ConfigError.
    require: Callable[[Config], None] = lambda config: None
    # Writes the signatures of scores that a model computes (BERTScore) to `status.json`.
    sign: Callable[[Config, RunFolder, Scores], None] = lambda config, folder, scores: None
    # Makes the signature of these scores for gold texts; None where they are not computed.
    signature: Callable[[Config, Sequence[str]], str | None] = lambda config, golds: None


def score_classes(
    task: str,
    golds: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
    probabilities_NC: np.ndarray | None = None,
    probability_classes: Sequence[str] = (),
    tolerance: float = TOLERANCE,
    groups: Sequence[str] | None,
    resamples: int,
    seed: int = 0,
) -> dict[str, float]:
    """Score N predicted labels: headline scores, calibration and 95 % intervals.

    Args:
        task, golds, predicted, labels, relaxed: as in `score_task`.
        probabilities_NC: of every class; a row of NaN does not count. None: no calibration.
        probability_classes: the class of each column of probabilities; `labels` are among them.
        tolerance: how far a row of probabilities may be from a sum of 1.
        groups: see `bootstrap_intervals`.
        resamples: of the bootstrap; 0 computes no intervals.
        seed: of the bootstrap.
    """
    scores = score_task(task, golds, predicted, labels, relaxed=relaxed)
    if probabilities_NC is not None:
        column_of = {name: column for column, name in enumerate(probability_classes)}
        gold_N = np.array([column_of[gold] for gold in golds], dtype=np.int64)
        known_N = ~np.isnan(probabilities_NC).all(axis=1)
        scores |= calibration_scores(
            probabilities_NC[known_N], gold_N[known_N], tolerance=tolerance
        )
    if resamples:
        scores |= bootstrap_intervals(
            task,
            golds,
            predicted,
            labels,
            relaxed=relaxed,
            groups=groups,
            resamples=resamples,
            seed=seed,
        )
    return scores


def score_texts(
    kind: TextScores,
    texts: Sequence[str],
    golds: Sequence[Sequence[str]],
    *,
    language: Language,
    no_answer: bool | None = None,
    bertscores: BertScores | None = None,
    of_file: Mapping[str, float],
    groups: Sequence[str] | None,
    resamples: int,
    seed: int = 0,
) -> dict[str, float]:
    """Score N predicted texts: means over the texts, and 95 % intervals of them.

    Args:
        kind: of the task.
        texts: what is predicted.
        golds: the gold texts of each row.
        language: of the texts.
        no_answer: whether "no answer" can be right; None: if a gold says so.
        bertscores: of the texts, where BERTScore is computed.
        of_file: scores of the whole file, which are no means.
        groups: see `score_intervals`.
        resamples: of the bootstrap; 0 computes no intervals.
        seed: of the bootstrap.
    """
    items = kind.items(texts, golds, language, no_answer)
    scores = mean_scores(items)
    if bertscores is not None:
        items |= bertscores.known()
        scores |= bertscores.means()
    scores |= of_file
    if resamples:
        scores |= score_intervals(items, groups, resamples=resamples, seed=seed)
    return scores


@dataclass(kw_only=True)
class BertScoreOptions:
    """Options of every command that scores summaries; see `BertScoreConfig`."""

    bertscore: str | None = None  # encoder, hub id or folder; none: no BERTScore
    bertscore_layer: int | None = None  # layer of the encoder, from 1
    bertscore_idf: bool = False  # weight tokens by inverse document frequency in the references
    # `skip` or `cut`: texts that are too long for the encoder
    bertscore_long: str = "skip"
    bertscore_precision: str = "32-true"  # `32-true` or `bf16-mixed`
    bertscore_baseline: str | None = None  # file with LAYER,P,R,F to rescale by

    def bertscore_config(self) -> BertScoreConfig | None:
        """Read the options; None where BERTScore is not asked for.

        Raises:
            ConfigError: an unknown value, or no layer for the encoder.
        """
        values = {"model": self.bertscore}
        names = {"model": "bertscore"}
        for option, value in vars(self).items():
            if option.startswith("bertscore_"):
                name = option.removeprefix("bertscore_")
                values[name], names[name] = value, option
        config = parse(BertScoreConfig, values, names=names)
        return config if config.model else None


def require_bertscore(config: BertScoreConfig | None) -> None:
    """Check that the encoder of BERTScore can be loaded, if `config` names one.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    if config is not None and config.model is not None:
        from heron.metrics.bertscore import require

        require(config)


def bertscore_signature(config: BertScoreConfig | None, references: Sequence[str]) -> str | None:
    """Make the signature of BERTScore against some references; None where it is not computed."""
    if config is None or config.model is None or not references:
        return None
    from heron.metrics.bertscore import sign

    return sign(config, references)


def compute_bertscore(
    predictions: Sequence[str],
    references: Sequence[str],
    config: BertScoreConfig,
    cache: Path | None = None,
) -> BertScores:
    """Compute BERTScore of N texts, with quiet libraries; results are stored in `cache`.

    Args:
        predictions: N texts.
        references: the gold text of each.
        config: of BERTScore.
        cache: folder for its results; None: the default one.
    """
    from heron.base.libraries import silence_libraries

    silence_libraries()
    from heron.metrics.bertscore import bertscore

    return bertscore(predictions, references, config, cache or default_cache_dir())


def write_scores(out: Path, name: str, scores: Mapping[str, float], signature: str | None) -> None:
    """Write `{"<name>": scores}`, and the signature of BERTScore in `<out>.signatures.json`.

    Without a signature, an old `<out>.signatures.json` is deleted.
    """
    path = out.with_name(f"{out.name.removesuffix('.json')}.signatures.json")
    path.unlink(missing_ok=True)
    write_json(out, {name: scores})
    if signature:
        write_json(path, {name: {"bertscore": signature}})
