"""A run as a folder that plain transformers loads, for `heron export`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import transformers
from torch import nn

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.data.markers import event_markers
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.models.encoder import Encoder
from heron.models.heads import Head
from heron.tasks.base import TaskModule
from heron.tasks.config import Config
from heron.tasks.exported_heads import HeadWeights
from heron.tasks.task import task_of
from heron.training.exported import export
from heron.training.inference import open_trained
from heron_tools.export.heron_model import HeronModel

# The class that loads the folder, if transformers has none.
OWN_CLASS = HeronModel.__name__
_POOLINGS = ("cls", "last_token", "mean", "event_start", "mention_pool", "span_ends")
_LAYERS = ("Dropout", "LayerNorm", "Linear", "ReLU")
# Fields of `HeadConfig` and `EncoderConfig` that `heron_model.py` reads.
_HEAD_FIELDS = ("input", "pooling", "combine", "over_windows", "both_ways")
_ENCODER_FIELDS = (
    "max_length",
    "truncation",
    "overflow",
    "stride",
    "separator",
    "trailing_separator",
)
_LAST_CHANGED = 0x2100  # `normalise` changes no character from here on


@dataclass(frozen=True, slots=True)
class Plain:
    """The folder that `write_plain` has written."""

    config: Config  # of the run
    loads_as: str  # `AutoModelForSequenceClassification` or another class, or `OWN_CLASS`
    threshold: float | None = None  # for question answering, see `heron.tasks.qa.head.SpanHead`
    attends_globally: bool = False  # global attention on the first token: Longformer, LED


def write_plain(run: RunFolder, folder: Path) -> Plain:
    """Write encoder, tokenizer and head of a finished run, also with a frozen encoder.

    If transformers has no class for the head, the folder includes `heron_model.py` with one.

    Args:
        run: a finished run.
        folder: a new folder.

    Returns:
        The description of the folder.

    Raises:
        ConfigError: the run has no encoder, or a head that no class can load.
    """
    trained = open_trained(run)
    if not isinstance(trained.system, TaskModule):
        raise ConfigError(f"{run.path}: a baseline has no encoder to export")

    config = trained.config
    encoder = trained.system.encoder
    head = trained.system.head
    tokenizer = trained.tokenizer
    task = task_of(config)

    weights = task.model().in_transformers(head, encoder, tokenizer, config)
    if weights is None and not task.about.writes:
        own = {"heron": _settings(run, encoder, head, config)}
        weights = HeadWeights(HeronModel, config.data.label_order, head.state_dict(), own)

    export(folder, encoder, head, tokenizer, config, weights)

    loads_as = weights.auto.__name__ if weights else "AutoModelForSeq2SeqLM"
    threshold = getattr(head, "threshold", None)
    is_longformer = hasattr(encoder.inner.config, "attention_window")
    return Plain(
        config,
        loads_as,
        None if threshold is None else float(threshold),
        attends_globally=is_longformer and encoder.global_attention == "first",
    )


def _kind(layer: nn.Module) -> str:
    """Name torch's class of a layer; heron's output layer is a linear one to torch."""
    return "Linear" if isinstance(layer, nn.Linear) else type(layer).__name__


def _settings(run: RunFolder, encoder: Encoder, head: nn.Module, config: Config) -> dict[str, Any]:
    """Collect the settings of `heron_model.py`.

    Raises:
        ConfigError: the file has no such encoder, pooling or layer.
    """
    shape = config.head
    data = config.data
    model_class = type(encoder.model).__name__
    classifier = getattr(head, "classifier", None)
    layers = list(classifier) if isinstance(classifier, nn.Sequential) else []
    is_known = layers and all(_kind(layer) in _LAYERS for layer in layers)
    has_pooling = type(head) is Head and shape.pooling in _POOLINGS
    if not is_known or not has_pooling or not hasattr(transformers, model_class):
        raise ConfigError(
            f"{run.path}: neither transformers nor heron_model.py has a head of pooling "
            f"{shape.pooling} and classifier {shape.classifier}; in Python, "
            "heron.training.exported.load_exported opens the run"
        )

    layer_settings = []
    for layer in layers:
        arguments = [getattr(layer, name) for name in layer.__constants__]
        layer_settings.append([_kind(layer), *arguments])

    labels = data.label_order
    inverse = []  # the index of each class with the events swapped
    for label in labels:
        swapped = data.inverse.get(label, label)
        inverse.append(labels.index(swapped))

    language = get_language(data.language)
    options = replace(data.unicode, nfc=False)
    characters = {}
    for character in map(chr, range(_LAST_CHANGED)):
        unified = normalise(character, language, options)
        if unified != character:
            characters[character] = unified

    return {
        "encoder": model_class,
        **{name: getattr(shape, name) for name in _HEAD_FIELDS},
        "inverse": inverse,
        "layers": layer_settings,
        "distance": None if head.distance is None else list(head.distance.weight.shape),
        "markers": list(event_markers(data)),
        "global_attention": encoder.global_attention,
        "written_markers": list(task_of(config).added_tokens(config)),
        **{name: getattr(config.encoder, name) for name in _ENCODER_FIELDS},
        "case": data.normalize_case,
        "nfc": data.unicode.nfc,
        "characters": characters,
    }
