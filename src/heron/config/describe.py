"""The configuration described: groups with their options, keys with meaning, range and default.

All of it is read from the schema's types and comments and from the first comment of YAML files.
"""

import dataclasses
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from heron.base.errors import ConfigError, nearest
from heron.base.folders import conf_dirs, config_groups
from heron.config.constraints import (
    all_keys,
    allowed,
    choices,
    chosen_type,
    key_of,
    key_types,
    plain,
    root_schema,
    type_of,
)

_KINDS = {int: "whole number", float: "number", str: "text", bool: "true | false"}
# A field with the comment lines above it and, of a field on one line, the comment after it.
_FIELD = re.compile(r"^((?: {4}#.*\n)*) {4}(\w+): .*?(?:  # (.*))?$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<!\bal\.)(?<=[.?])\s(?=[A-Z])")
_NO_GROUPS = ("deviations", "parts")  # chosen by `protocol` and `baseline`
# What Lightning's trainer and the Hugging Face Trainer call heron's keys.
SYNONYMS = {
    "accumulate_grad_batches": "trainer.accumulate_grad_batches",
    "adam_epsilon": "optim.eps",
    "bf16": "trainer.precision",
    "clip": "trainer.gradient_clip_val",
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


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key of the configuration."""

    name: str  # dotted
    meaning: str  # the comment on its field; of a part, its class's docstring
    kind: str  # type and range; empty for a part with keys of its own
    default: str  # of the schema, as on the command line; empty without one


def groups() -> dict[str, dict[str, str]]:
    """List the config groups: the first sentence of each option, by name."""
    found = sorted(config_groups() - set(_NO_GROUPS))
    return {group: options(group) for group in found}


def options(group: str) -> dict[str, str]:
    """List a group's options with the first sentence of their files' comments."""
    return {name: first_comment(path) for name, path in group_options(group).items()}


def group_options(group: str, more: Sequence[Path] = ()) -> dict[str, Path]:
    """Find the options of a config group by name; those in its folders are `folder/option`."""
    folders = [conf / group for conf in reversed(conf_dirs(more))]  # the first of a name counts
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for folder in folders
        for path in sorted(folder.rglob("*.yaml"))
    }
    return dict(sorted(files.items()))


def in_small(key: str, value: str, folders: Sequence[Path] = ()) -> str:
    """Write the options in a value, or in a sweep's list, in small letters unless known so."""
    known = {*choices(key_types().get(key)), *group_options(key, folders)}
    each = [(name, name.lower()) for name in value.split(",")]
    return ",".join(low if low in known and name not in known else name for name, low in each)


def first_comment(path: Path) -> str:
    """Read the first sentence of the comment that a YAML file begins with."""
    lines = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @"):
            lines.append(line.lstrip("# "))
    return _SENTENCE.split(" ".join(lines))[0]


def keys(part: str = "") -> list[ConfigKey]:
    """List a part's keys, those of its own parts included; all keys for none.

    Args:
        part: dotted, `optim`; a single key lists itself.
    """
    types = key_types()
    names = [name for name in types if not part or f"{name}.".startswith(f"{part}.")]
    return [_key(name, types[name]) for name in names]


def find(word: str) -> tuple[dict[str, Path], list[ConfigKey]]:
    """Find the files of a group's options, and the keys, that a word names.

    `task=qa` names the keys that one option has.

    Raises:
        ConfigError: it names neither a group nor a key; names the nearest.
    """
    part, _, name = word.partition("=")
    schema = chosen_type(part, name)
    if schema is not None:
        own = key_types(schema, f"{part}.")
        return {}, [key for key in keys(part) if key.name in own]

    known = config_groups() - set(_NO_GROUPS)
    files = group_options(word) if word in known else {}
    named_keys = keys(word)
    if not files and not named_keys:
        raise ConfigError(f"no group or key '{word}'.{nearest(word, [*known, *key_types()])}")
    return files, named_keys


def _key(name: str, hint: Any) -> ConfigKey:
    parent, _, field = name.rpartition(".")
    schema = plain(key_types()[parent]) if parent else root_schema()
    kind = plain(hint)
    if dataclasses.is_dataclass(kind):
        own = (inspect.getdoc(kind) or "").split("\n\n")[0]
        return ConfigKey(name, " ".join(own.split()), "", "")
    return ConfigKey(name, meanings(schema).get(field, ""), _kind(hint), _default(schema, field))


@cache
def meanings(schema: Any) -> Mapping[str, str]:
    """Read the comments above or after the fields of a dataclass and of its bases.

    `# low, high: ends of the range` above `low` is about both.
    """
    if schema is object:
        return {}
    found = {k: v for base in schema.__bases__ for k, v in meanings(base).items()}
    if not vars(schema).get("__annotations__"):
        return found
    for comment, field, behind in _FIELD.findall(inspect.getsource(schema)):
        text = " ".join(line.strip().lstrip("# ") for line in comment.splitlines()) or behind
        names, colon, shared = text.partition(": ")
        several = names.split(", ") if colon and names.startswith(f"{field}, ") else []
        text = (shared if several else text).rstrip(".")
        found |= dict.fromkeys(several or [field], f"{text}.") if text else {}
    return found


def _kind(hint: Any) -> str:
    """Name a type and its range, `number above 0, or null`."""
    kind, said = plain(hint), allowed(hint)
    if get_origin(kind) is list:
        name = f"list of: {_kind(get_args(kind)[0])}" if get_args(kind)[0] is not Any else "list"
    elif get_origin(kind) is dict:
        name = "mapping"
    else:
        name = _KINDS.get(kind, "")
    is_choice = kind is str and said
    between = ", " if get_origin(kind) is list else " "
    text = said if is_choice else between.join(each for each in (name, said) if each)
    return f"{text}, or null" if NoneType in get_args(hint) else text


def _default(schema: Any, field: str) -> str:
    (found,) = (each for each in dataclasses.fields(schema) if each.name == field)
    if found.default_factory is not dataclasses.MISSING:
        value = found.default_factory()
    elif found.default is dataclasses.MISSING:
        return ""
    else:
        value = found.default
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else '""' if value == "" else str(value)


def wrong_word(words: Sequence[str], everywhere: Sequence[str]) -> tuple[str, str]:
    """Find the first word with an unknown key or option; returns that part, and near names."""
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
        elif key not in keys and not type_of(key) and not key.startswith("hydra"):
            return key, meant(key, [*groups, *keys, *everywhere])
    return "", ""


def meant(key: str, known: Iterable[str]) -> str:
    """Say what an unknown key is called here, or which known one is the nearest."""
    here = SYNONYMS.get(key.rpartition(".")[2])
    return f" Did you mean '{here}'?" if here else nearest(key, known)
