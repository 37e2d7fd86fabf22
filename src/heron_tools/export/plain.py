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

    Raises:
        ConfigError: the run has no encoder, or a head that no class can load.
    """
    trained = open_trained(run)
    if not isinstance(trained.system, TaskModule):
        raise ConfigError(f"{run.path}: a baseline has no encoder to export")
    config, module = trained.config, trained.system
    encoder, head, tokenizer = module.encoder, module.head, trained.tokenizer
    known = task_of(config).model().in_transformers(head, encoder, tokenizer, config)
    if known is None and not task_of(config).about.writes:
        own = {"heron": _settings(run, encoder, head, config)}
        known = HeadWeights(HeronModel, config.data.label_order, head.state_dict(), own)
    export(folder, encoder, head, tokenizer, config, known)
    threshold = getattr(head, "threshold", None)
    return Plain(
        config,
        known.auto.__name__ if known else "AutoModelForSeq2SeqLM",
        None if threshold is None else float(threshold),
        hasattr(encoder.inner.config, "attention_window") and encoder.global_attention == "first",
    )


def _settings(run: RunFolder, encoder: Encoder, head: nn.Module, config: Config) -> dict[str, Any]:
    """Collect the settings of `heron_model.py`."""
    shape, data = config.head, config.data
    layers: Any = getattr(head, "classifier", ())
    names = [type(layer).__name__ for layer in layers] if isinstance(layers, nn.Sequential) else []
    fits = type(head) is Head and shape.pooling in _POOLINGS and names and {*names} <= {*_LAYERS}
    if not fits or not hasattr(transformers, type(encoder.model).__name__):
        raise ConfigError(
            f"{run.path}: neither transformers nor heron_model.py has a head of pooling "
            f"{shape.pooling} and classifier {shape.classifier}; in Python, "
            "heron.training.exported.load_exported opens the run"
        )
    labels, language = data.label_order, get_language(data.language)
    options = replace(data.unicode, nfc=False)
    pairs = ((each, normalise(each, language, options)) for each in map(chr, range(_LAST_CHANGED)))
    lengths = ("max_length", "truncation", "overflow", "stride", "separator", "trailing_separator")
    return {
        "encoder": type(encoder.model).__name__,
        **{name: getattr(shape, name) for name in ("input", "pooling", "combine", "over_windows")},
        "both_ways": shape.both_ways,
        "inverse": [labels.index(data.inverse.get(label, label)) for label in labels],
        "layers": [[type(x).__name__, *(getattr(x, n) for n in x.__constants__)] for x in layers],
        "distance": None if head.distance is None else list(head.distance.weight.shape),
        "markers": list(event_markers(data)),
        "global_attention": encoder.global_attention,
        "written_markers": list(task_of(config).added_tokens(config)),
        **{name: getattr(config.encoder, name) for name in lengths},
        "case": data.normalize_case,
        "nfc": data.unicode.nfc,
        "characters": {each: changed for each, changed in pairs if changed != each},
    }
