"""Labels of rows and of their back-translations: LCHAIM's semantic check (section 2.2).

A perceptron learns labels from vectors of ConTRoL's train rows, and labels other rows and their
back-translations. The more often it gives both the same label, the more meaning was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heron.base.errors import DataError
from heron.base.libraries import silence_libraries
from heron.data.config import TEST, TRAIN, VALIDATION
from heron.data.examples import Example
from heron.metrics.intervals import score_intervals
from heron.models.config import EncoderConfig, HeadConfig
from heron.models.encoder import encoding_part, pretrained_model
from heron.models.feature_cache import pool_texts
from heron.models.levels import count_positions
from heron.results.shipped import Shipped
from heron.tasks.config import Config
from heron.training.compose import compose
from heron_tools.reproduction.targets import Estimate, Filled, Names, TargetRequest

# Names of data sets.
ORIGINAL = "control"
BACK = "lchaim_back"
ENCODER = "longformer"  # the paper's
LENGTH = 4096  # tokens that it reads
HIDDEN = (100,)  # widths of the perceptron's layers
_PAIR = HeadConfig(name="check", input="pair", pooling="mean")


Labels = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BothLabels:
    """Gold and predicted labels of rows, in their order; object [N] each."""

    gold: Labels
    original: Labels  # predicted for the rows
    back: Labels  # predicted for their back-translations

    def scores(self) -> dict[str, Floats]:
        """Score each row: equal labels, and right ones; float64 [N] each."""
        return {
            "same label": (self.original == self.back).astype(np.float64),
            "accuracy, original": (self.original == self.gold).astype(np.float64),
            "accuracy, back": (self.back == self.gold).astype(np.float64),
        }


def label_both(
    train: Sequence[Example],
    originals: Sequence[Example],
    backs: Sequence[Example],
    config: Config,
    hidden: Sequence[int] = HIDDEN,
    seed: int = 0,
) -> BothLabels:
    """Label rows and their back-translations by a perceptron trained on original rows.

    Args:
        train: the rows that it is trained on.
        originals: the rows to label.
        backs: their back-translations, in the same order and with the same guids.
        config: names the encoder; a pair's vector is the mean of its states.
        hidden: widths of the perceptron's layers.
        seed: of its weights.
    """
    parts = {TRAIN: [*train], VALIDATION: [*originals], TEST: [*backs]}
    guids, vectors = pool_texts(config, _PAIR, parts)
    labels = {example.guid: example.label for example in train}
    perceptron = MLPClassifier(list(hidden), random_state=seed)
    classifier = make_pipeline(StandardScaler(), perceptron)
    classifier.fit(vectors[TRAIN], [labels[guid] for guid in guids[TRAIN]])

    def predict(split: str) -> Labels:
        labels_N = classifier.predict(vectors[split])
        by_guid = dict(zip(guids[split], labels_N, strict=True))
        return np.array([by_guid[example.guid] for example in originals], dtype=object)

    gold = np.array([example.label for example in originals], dtype=object)
    return BothLabels(gold, predict(VALIDATION), predict(TEST))


def agreement(request: TargetRequest) -> Filled:
    """Compare labels of ConTRoL's rows and of the released back-translations of LCHAIM.

    Without ConTRoL's train file, the perceptron is trained on its validation file, and all cells
    are marked.

    Source: LCHAIM, section 2.2.
    Deviates: the paper states neither pooling nor layers; here the mean of all states, and one
        layer of 100. It does not say whether rows below .75 were left out; here none are.

    Raises:
        DataError: files are missing; names them.
    """
    silence_libraries()
    control = request.read(ORIGINAL)
    back = request.read(BACK)

    training = TRAIN if TRAIN in control.splits else VALIDATION
    compared = []
    for split in (TEST, VALIDATION):
        if split != training and split in control.splits and split in back.splits:
            compared.append(split)
    if not compared or training not in control.splits:
        raise _missing(control, back)

    encoder = request.encoder or ENCODER
    config = compose(
        [
            f"data={ORIGINAL}",
            f"encoder={encoder}",
            f"paths.cache={request.cache_dir}",
            "trainer.select=last",  # nothing is trained
            "trainer.patience=null",
        ]
    )
    marks = []
    if encoder != ENCODER:
        config.encoder.max_length = _readable_tokens(config.encoder)
        marks.append(f"encoder {Path(encoder).name}")
    if training != TRAIN:
        marks.append(f"trained on {training} in place of train")
    mark = ", ".join(marks)

    estimates: dict[Names, Estimate] = {}
    notes = ["Pooling and layers are not in the paper: mean states, one layer of 100."]
    for split in compared:
        rows = control.splits[split]
        pairs = _pairs(rows, back.splits[split])
        if len(pairs) < len(rows):
            notes.append(f"{split}: {len(rows) - len(pairs)} rows have no back-translation.")

        originals = [original for original, _ in pairs]
        backs = [translation for _, translation in pairs]
        train = control.splits[training]
        labels = label_both(train, originals, backs, config, seed=request.seed)

        premises = [original.group or original.guid for original in originals]
        scores = labels.scores()
        bounds = score_intervals(scores, premises, seed=request.seed)
        for name, score_N in scores.items():
            mean = float(score_N.mean())
            estimates[split, name] = Estimate.with_bounds(
                mean, bounds, name, len(score_N), "rows", mark
            )
    return Filled({"semantics": estimates}, notes=notes)


def _readable_tokens(encoder: EncoderConfig) -> int:
    """Count the tokens that an encoder can read, at most as many as the paper's."""
    model = pretrained_model(replace(encoder, max_length=8))
    positions = count_positions(encoding_part(model))
    return min(positions or LENGTH, LENGTH)


def _pairs(rows: Sequence[Example], backs: Sequence[Example]) -> list[tuple[Example, Example]]:
    """Pair rows with their back-translations by uid; a uid that occurs twice has two equal rows."""
    by_uid = {back.side["uid"]: back for back in backs}
    pairs = []
    for row in rows:
        back = by_uid.get(row.side["uid"])
        if back is not None:
            translation = Example(row.guid, back.text, back.text_pair, label=row.label)
            pairs.append((row, translation))
    return pairs


def _missing(control: Shipped, back: Shipped) -> DataError:
    """Name the missing files of both data sets."""
    files = [*control.missing.values(), *back.missing.values()]
    fix = f"heron data {ORIGINAL} fetch=true, heron data {BACK} fetch=true, or paths.data=DIR"
    problem = "missing; needed are train and test of ConTRoL, and the back-translated test"
    return DataError(", ".join(map(str, files)), problem, fix)
