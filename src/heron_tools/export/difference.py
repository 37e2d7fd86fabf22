"""How far an exported folder's probabilities are from heron's, for the model card."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from transformers import pipeline

from heron.base.errors import HeronError
from heron.base.run_folder import RunFolder
from heron.base.terminal import say
from heron.data.config import TEST, TRAIN, VALIDATION
from heron.data.examples import Example
from heron.data.markers import with_markers
from heron.tasks.config import Config
from heron.training.inference import open_trained, read_splits
from heron.training.trainer import prediction_trainer
from heron_tools.export.heron_model import HeronModel, Text
from heron_tools.export.plain import OWN_CLASS, Plain

_ROWS = 32  # of a split; seconds for a large encoder


@dataclass(frozen=True, slots=True)
class Difference:
    """Class probabilities of the same rows: heron's, and those of an exported folder in float32."""

    precision: str  # in which heron computed, such as `bf16-mixed`
    largest: float | None = None  # largest difference; None: not measured
    rows: int = 0
    split: str = ""  # of the run's data set


def measure(run: RunFolder, plain: Plain, folder: Path, precision: str | None) -> Difference:
    """Compare rows of the test split, if there is one, or else of the validation or train split.

    Args:
        run: the exported run.
        plain: describes the folder.
        folder: the exported one.
        precision: `trainer.precision` of heron's predictions; None for the run's own.

    Returns:
        The difference; not measured without class probabilities or without the data.
    """
    settings = {"trainer.precision": precision} if precision else {}
    trained = open_trained(run, settings=settings)
    config = trained.config
    name = str(prediction_trainer(config, folder).precision)  # fp16 on a processor is bf16
    if plain.loads_as not in (OWN_CLASS, "AutoModelForSequenceClassification"):
        return Difference(name)

    try:
        splits = read_splits(trained)
    except (HeronError, OSError) as error:
        say(f"the model card states no difference to heron's predictions: {error}")
        return Difference(name)

    split = next(split for split in (TEST, VALIDATION, TRAIN) if split in splits)
    predictions: Any = trained.predict(splits[split][:_ROWS])[0]
    if not predictions.examples:
        return Difference(name)

    predict = _predict_by_class if plain.loads_as == OWN_CLASS else _predict_by_pipeline
    rows = []
    for probabilities in predict(folder, predictions.examples, config):
        rows.append([probabilities.get(label) for label in config.data.label_order])

    difference_RC = np.abs(np.array(rows) - predictions.probabilities_RC)
    return Difference(name, float(difference_RC.max()), len(rows), split)


def _predict_by_class(folder: Path, examples: Sequence[Example], config: Config) -> list[Any]:
    """Compute each row's probabilities by class with `heron_model.py`."""
    texts: list[Text] = []
    for example in examples:
        text = with_markers(example, config.data)
        if example.text_pair is None:
            texts.append(text)
        else:
            texts.append((text, example.text_pair))

    return HeronModel.from_pretrained(folder).predict(texts)


def _predict_by_pipeline(folder: Path, examples: Sequence[Example], config: Config) -> list[Any]:
    """Compute each row's probabilities by class with the code of the model card."""
    form = config.head.input
    truncation = config.encoder.truncation if form == "pair" else "longest_first"
    classify: Any = pipeline("text-classification", model=str(folder))

    rows = []
    for example in examples:
        text: Any = with_markers(example, config.data)
        if form == "pair":
            text = {"text": text, "text_pair": example.text_pair}
        elif form == "hypothesis":
            text = example.text_pair

        (scores,) = classify(
            [text],
            top_k=None,
            truncation=truncation,
            max_length=config.encoder.max_length,
        )
        rows.append({score["label"]: score["score"] for score in scores})

    return rows
