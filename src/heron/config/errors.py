"""Errors of pydantic, OmegaConf and Hydra in their own words, with the key's place and the nearest.

Native messages are not reworded: only the nearest name is added.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from heron.base.errors import HeronError, nearest
from heron.base.folders import config_groups
from heron.config.constraints import all_keys, key_of
from heron.config.describe import group_options
from heron.config.options import EVERYWHERE

_UNKNOWN = "unexpected_keyword_argument"
# Lines that say nothing to somebody who typed a command.
_INNER = re.compile(r"object_type|reference_type|full_key|Config search|Set the env|provider=|See ")
# What Lightning's trainer and the Hugging Face Trainer call heron's keys.
SYNONYMS = {
    "accumulate_grad_batches": "trainer.accumulate_grad_batches",
    "adam_epsilon": "optim.eps",
    "bf16": "trainer.precision",
    "dataloader_num_workers": "batching.workers",
    "early_stopping_patience": "trainer.patience",
    "fp16": "trainer.precision",
    "gradient_accumulation_steps": "trainer.accumulate_grad_batches",
    "gradient_checkpointing": "encoder.gradient_checkpointing",
    "gradient_clip_val": "trainer.gradient_clip_val",
    "label_smoothing_factor": "optim.label_smoothing",
    "learning_rate": "optim.lr",
    "lr": "optim.lr",
    "lr_scheduler_type": "optim.schedule",
    "max_epochs": "trainer.max_epochs",
    "max_grad_norm": "trainer.gradient_clip_val",
    "max_length": "encoder.max_length",
    "max_seq_length": "encoder.max_length",
    "metric_for_best_model": "trainer.monitor",
    "model_name_or_path": "encoder.name",
    "num_train_epochs": "trainer.max_epochs",
    "output_dir": "hydra.run.dir",
    "per_device_train_batch_size": "batching.size",
    "report_to": "logger",
    "train_batch_size": "batching.size",
    "warmup_ratio": "optim.warmup",
    "warmup_steps": "optim.warmup_steps",
    "weight_decay": "optim.weight_decay",
}


def explain(
    error: Exception, known: Iterable[str] = (), prefix: str = "", names: Mapping[str, str] = {}
) -> str:
    """Describe an error, each problem on a line that begins with its key.

    Args:
        error: of pydantic or OmegaConf.
        known: the keys that there are, of which the nearest to an unknown one is named.
        prefix: precedes the keys of the error, `data.`.
        names: the keys of fields that are not named as they are typed.
    """
    if errors := getattr(error, "errors", None):
        problems = (_problem(each, list(known), prefix, names) for each in errors())
        return "\n".join(dict.fromkeys(problems))
    key, said = getattr(error, "full_key", None), "; ".join(_lines(error)) or repr(error)
    return f"{prefix}{key}: {said}" if key else said


def explain_words(words: Sequence[str], error: BaseException) -> str:
    """Describe Hydra's error about a command's overrides, and what an unknown one may mean."""
    inner: BaseException | None = error  # OmegaConf hides what was raised while it resolved a value
    while inner and not isinstance(inner, HeronError):
        inner = inner.__cause__ or inner.__context__
    if inner:
        return str(inner)
    lines = dict.fromkeys(line.rstrip(".,") for cause in _causes(error) for line in _lines(cause))
    said = "; ".join(lines) or type(error).__name__
    wrong, hint = _meant(words)
    wrong = getattr(error, "override", None) or wrong  # the former cannot be read at all
    named = isinstance(error, ImportError) or any(key_of(word) in said for word in words)
    if not wrong and not named:
        wrong = " ".join(words)
    return f"{wrong}: {said}.{hint}" if wrong and wrong not in said else f"{said}.{hint}"


def _meant(words: Sequence[str]) -> tuple[str, str]:
    """Find the first word that names nothing; returns its wrong part, and what it may mean."""
    groups, keys = config_groups(), all_keys()
    for word in words:
        key, value = key_of(word), word.partition("=")[2]
        if key in groups:
            options = group_options(key)
            for wrong in () if value[:1] in ("{", "[") else value.split(","):
                if wrong not in (*options, "null"):
                    model = f" A model of the hub: encoder=pretrained encoder.name={wrong}"
                    hint = nearest(wrong, options) + (model if key == "encoder" else "")
                    return f"{key}={wrong}", hint
        elif key not in keys and not key.startswith("hydra"):
            return key, meant(key, [*groups, *keys, *EVERYWHERE])
    return "", ""


def meant(key: str, known: Iterable[str]) -> str:
    """Say what an unknown key is called here, or which known one is the nearest."""
    here = SYNONYMS.get(key.rpartition(".")[2])
    return f" Did you mean '{here}'?" if here else nearest(key, known)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lines(error: BaseException) -> list[str]:
    lines = map(str.strip, str(error).splitlines())
    return [line for line in lines if line and not _INNER.match(line)]


def place(loc: Iterable[Any], prefix: str = "", names: Mapping[str, str] = {}) -> str:
    """Write where pydantic found a problem as a dotted key."""
    parts = [str(part) for part in loc]
    parts[:1] = [names.get(part, part) for part in parts[:1]]
    return (prefix + ".".join(part for part in parts if part != "[key]")).rstrip(".")


def _problem(
    found: Mapping[str, Any], known: list[str], prefix: str, names: Mapping[str, str]
) -> str:
    """Write one problem; a sentence of heron's about several keys names them itself."""
    key, given, text = place(found["loc"], prefix, names), found["input"], found["msg"]
    if isinstance(reason := found.get("ctx", {}).get("error"), Exception):
        text = str(reason)
    if found["type"] == _UNKNOWN:
        if key in known:  # of another entry, see `heron.config.constraints.Chosen`
            return f"{key}: {text}; another {key.rpartition('.')[0]}.name has it"
        return f"{key}: {text}.{meant(key, known)}"
    if found["type"] == "value_error" and (isinstance(given, dict) or is_dataclass(given)):
        return text
    shown = f"={given}" if given is None or isinstance(given, str | int | float | list) else ""
    return f"{key}{'' if found['type'] == 'missing' else shown}: {text}"
