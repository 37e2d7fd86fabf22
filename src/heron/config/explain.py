"""Hydra's and OmegaConf's own messages on one line, and the nearest name that there is."""

import re
from collections.abc import Iterable, Iterator, Sequence

from heron.base.errors import HeronError, nearest
from heron.base.folders import config_groups
from heron.config.describe import group_options
from heron.config.keys import all_keys
from heron.config.options import EVERYWHERE
from heron.config.words import key_of

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


def explain(overrides: Sequence[str], error: BaseException) -> str:
    """Give the message of an error, and for a word that names nothing what it may mean."""
    causes = list(_causes(error))
    for cause in causes:
        # Raised by heron inside OmegaConf, which may leave the error itself out.
        text = str(cause).partition("ConfigError raised while resolving interpolation: ")[2]
        if text or isinstance(cause, HeronError):
            return text.partition("\n    full_key")[0] or str(cause)
    word = getattr(error, "override", None)  # that the grammar of overrides cannot read
    lines = dict.fromkeys([f"{word}: its value cannot be read"] if word else [])
    lines |= dict.fromkeys(line for cause in causes for line in _lines(str(cause)))
    said = "; ".join(line.rstrip(".,") for line in lines) or type(error).__name__
    return f"{said}.{_hint(overrides)}"


def _hint(overrides: Sequence[str]) -> str:
    """Propose a name for the first word that has none."""
    groups, keys = config_groups(), all_keys()
    for word in overrides:
        key, _, value = word.partition("=")
        name = key_of(key)
        if word[0] in "+~" or name.startswith("hydra"):
            continue
        if name in groups:
            options = group_options(name)
            wrong = [each for each in value.split(",") if each not in (*options, "null")]
            if wrong and (said := nearest(wrong[0], options)):
                return said
        elif name not in keys and (said := meant(name, [*groups, *keys, *EVERYWHERE])):
            return said
    return ""


def meant(key: str, known: Iterable[str]) -> str:
    """Say what an unknown key is called here, or which known one is the nearest."""
    here = SYNONYMS.get(key.rpartition(".")[2])
    return f" It is {here} here." if here else nearest(key, known)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lines(text: str) -> Iterator[str]:
    """List the lines of a message that say something to somebody who typed a command."""
    for line in map(str.strip, text.splitlines()):
        if re.match(r"(object_type|reference_type|full_key|Config search path|Set the env)", line):
            continue
        if line.startswith(("provider=", "See https")):
            continue
        if line:
            yield line
