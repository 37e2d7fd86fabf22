"""Labels of rows and of their back-translations: LCHAIM's semantic check (section 2.2).

A perceptron learns labels from vectors of ConTRoL's train rows, and labels other rows and their
back-translations. The more often it gives both the same label, the more meaning was kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from heron.data.overrides import configure
from heron.metrics.intervals import score_intervals
from heron.models.config import EncoderConfig, HeadConfig
from heron.models.encoder import encoding_part, pretrained_model
from heron.models.feature_cache import pool_texts
from heron.models.levels import count_positions
from heron.results.shipped import Shipped, read_shipped
from heron.tasks.config import Config
from heron.training.compose import compose
from heron_tools.reproduction.targets import Estimate, Filled, Names, Request

ORIGINAL, BACK = "control", "lchaim_back"  # data sets
ENCODER = "longformer"  # the paper's
LENGTH = 4096  # tokens that it reads
HIDDEN = (100,)  # widths of the perceptron's layers
_PAIR = HeadConfig(name="check", input="pair", pooling="mean")


@dataclass(frozen=True, slots=True)
class BothLabels:
    """Gold and predicted labels of rows, in their order; object [N] each."""

    gold: npt.NDArray[Any]
    original: npt.NDArray[Any]  # predicted for the rows
    back: npt.NDArray[Any]  # predicted for their back-translations

    def scores(self) -> dict[str, npt.NDArray[np.float64]]:
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

    def predict(split: str) -> npt.NDArray[Any]:
        predicted = dict(zip(guids[split], classifier.predict(vectors[split]), strict=True))
        return np.array([predicted[example.guid] for example in originals], dtype=object)

    gold = np.array([example.label for example in originals], dtype=object)
    return BothLabels(gold, predict(VALIDATION), predict(TEST))


def agreement(request: Request) -> Filled:
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
    places = request.data_dir, request.cache_dir
    control, back = (read_shipped(configure(name, []), *places) for name in (ORIGINAL, BACK))
    learnt = TRAIN if TRAIN in control.splits else VALIDATION
    splits = [split for split in (TEST, VALIDATION) if split != learnt]
    splits = [split for split in splits if split in control.splits and split in back.splits]
    if not splits or learnt not in control.splits:
        raise _missing(control, back)
    encoder = request.encoder or ENCODER
    words = [f"data={ORIGINAL}", f"encoder={encoder}", f"paths.cache={request.cache_dir}"]
    config = compose([*words, "trainer.select=last", "trainer.patience=null"])  # nothing is trained
    if encoder != ENCODER:
        config.encoder.max_length = _readable(config.encoder)
    marks = [f"encoder {Path(encoder).name}"] if encoder != ENCODER else []
    marks += [f"trained on {learnt} in place of train"] if learnt != TRAIN else []
    values: dict[Names, Estimate] = {}
    notes = ["Pooling and layers are not in the paper: mean states, one layer of 100."]
    for split in splits:
        pairs = _pairs(control.splits[split], back.splits[split])
        left_out = len(control.splits[split]) - len(pairs)
        notes += [f"{split}: {left_out} rows have no back-translation."] if left_out else []
        originals, backs = ([pair[side] for pair in pairs] for side in (0, 1))
        labelled = label_both(control.splits[learnt], originals, backs, config, seed=request.seed)
        values |= _estimates(split, labelled.scores(), originals, request.seed, ", ".join(marks))
    return Filled({"semantics": values}, notes=notes)


def _readable(encoder: EncoderConfig) -> int:
    """Count the tokens that an encoder can read, at most as many as the paper's."""
    model = pretrained_model(replace(encoder, max_length=8))
    positions = count_positions(encoding_part(model))
    return min(positions or LENGTH, LENGTH)


def _pairs(rows: Sequence[Example], backs: Sequence[Example]) -> list[tuple[Example, Example]]:
    """Pair rows with their back-translations by uid; a uid that occurs twice has two equal rows."""
    by_uid = {back.side["uid"]: back for back in backs}
    pairs = []
    for row in rows:
        if row.side["uid"] in by_uid:
            back = by_uid[row.side["uid"]]
            pairs.append((row, Example(row.guid, back.text, back.text_pair, label=row.label)))
    return pairs


def _estimates(
    split: str,
    scores: Mapping[str, npt.NDArray[np.float64]],
    rows: Sequence[Example],
    seed: int,
    mark: str,
) -> dict[Names, Estimate]:
    """Average the scores of rows, with intervals over premises."""
    bounds = score_intervals(scores, [row.group or row.guid for row in rows], seed=seed)
    return {
        (split, name): Estimate(
            float(of_rows.mean()),
            bounds.get(f"{name}_low"),
            bounds.get(f"{name}_high"),
            len(of_rows),
            mark=mark,
        )
        for name, of_rows in scores.items()
    }


def _missing(control: Shipped, back: Shipped) -> DataError:
    files = [*control.missing.values(), *back.missing.values()]
    fix = f"heron data {ORIGINAL} fetch=true, heron data {BACK} fetch=true, or paths.data=DIR"
    what = "missing; needed are train and test of ConTRoL, and the back-translated test"
    return DataError(", ".join(map(str, files)), what, fix)
