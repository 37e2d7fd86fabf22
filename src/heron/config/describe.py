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
    is_under,
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
    kind: str  # type and range of values; empty for a part with keys of its own
    default: str  # of the schema, as on the command line; empty without one


def groups() -> dict[str, dict[str, str]]:
    """List the config groups: the first sentence of each option, by name."""
    names = sorted(config_groups() - set(_NO_GROUPS))
    return {name: options(name) for name in names}


def options(group: str) -> dict[str, str]:
    """List a group's options with the first sentence of their files' comments."""
    return {name: first_comment(path) for name, path in group_options(group).items()}


def group_options(group: str, more: Sequence[Path] = ()) -> dict[str, Path]:
    """Find the options of a config group by name; those in its folders are `folder/option`."""
    files: dict[str, Path] = {}
    for conf in conf_dirs(more):
        for path in (conf / group).rglob("*.yaml"):
            name = path.relative_to(conf / group).with_suffix("").as_posix()
            files.setdefault(name, path)  # the first of a name counts
    return dict(sorted(files.items()))


def lower_options(key: str, value: str, folders: Sequence[Path] = ()) -> str:
    """Write each option in a value (`ESS,EMP`) in small letters, where only that is an option."""
    known = {*choices(key_types().get(key)), *group_options(key, folders)}
    names = value.split(",")
    for place, name in enumerate(names):
        if name not in known and name.lower() in known:
            names[place] = name.lower()
    return ",".join(names)


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
    """List the keys of a part of the configuration, those of its own parts included.

    Args:
        part: dotted, `optim`; a single key lists itself; empty: all keys.
    """
    types = key_types().items()
    return [_key(name, hint) for name, hint in types if not part or is_under(name, part)]


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

    groups = config_groups() - set(_NO_GROUPS)
    files = group_options(word) if word in groups else {}
    keys_of_part = keys(word)
    if not files and not keys_of_part:
        hint = nearest(word, [*groups, *key_types()])
        raise ConfigError(f"no group or key '{word}'.{hint}")
    return files, keys_of_part


def _key(name: str, hint: Any) -> ConfigKey:
    parent, _, field = name.rpartition(".")
    schema = plain(key_types()[parent]) if parent else root_schema()
    kind = plain(hint)
    if dataclasses.is_dataclass(kind):
        purpose = (inspect.getdoc(kind) or "").partition("\n\n")[0]
        return ConfigKey(name, " ".join(purpose.split()), "", "")
    return ConfigKey(name, meanings(schema).get(field, ""), _kind(hint), _default(schema, field))


@cache
def meanings(schema: Any) -> Mapping[str, str]:
    """Read the comments above or after the fields of a dataclass and of its bases.

    `# low, high: ends of the range` above `low` is about both.
    """
    texts: dict[str, str] = {}
    for base in schema.__bases__:
        texts |= meanings(base)
    if not vars(schema).get("__annotations__"):  # such as `object`, which has no source
        return texts
    for above, field, behind in _FIELD.findall(inspect.getsource(schema)):
        lines = [line.strip().lstrip("# ") for line in above.splitlines()]
        text = " ".join(lines) or behind
        fields = [field]
        names, _, shared = text.partition(": ")
        if shared and names.startswith(f"{field}, "):
            fields = names.split(", ")
            text = shared
        if text:
            text = text.rstrip(".") + "."
            texts |= dict.fromkeys(fields, text)
    return texts


def _kind(hint: Any) -> str:
    """Name a type and its range, `number above 0, or null`."""
    kind = plain(hint)
    values = allowed(hint)
    between = " "
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        name = "list" if inner is Any else f"list of: {_kind(inner)}"
        between = ", "
    elif get_origin(kind) is dict:
        name = "mapping"
    elif kind is str and values:  # a choice of names
        name = ""
    else:
        name = _KINDS.get(kind, "")
    text = between.join(part for part in (name, values) if part)
    return f"{text}, or null" if NoneType in get_args(hint) else text


def _default(schema: Any, name: str) -> str:
    """Write a field's default as on the command line; empty without one."""
    field = schema.__dataclass_fields__[name]
    value = field.default
    if field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    if value is dataclasses.MISSING:
        return ""
    if value is None:
        return "null"
    if value == "":
        return '""'
    return str(value).lower() if isinstance(value, bool) else str(value)


def wrong_word(words: Sequence[str], everywhere: Sequence[str]) -> tuple[str, str]:
    """Find the first override with an unknown key or option.

    Returns:
        Its key, or `group=option`, and a hint with the nearest names; empty where there is none.
    """
    groups = config_groups()
    keys = all_keys()
    for word in words:
        key = key_of(word)
        value = word.partition("=")[2]
        if key in groups:
            options = group_options(key)
            wrong = _unknown_option(value, options)
            if wrong:
                hint = nearest(wrong, options)
                if key == "encoder":
                    hint += f" A model of the hub: encoder=pretrained encoder.name={wrong}"
                return f"{key}={wrong}", hint
        elif key not in keys and not type_of(key) and not key.startswith("hydra"):
            return key, meant(key, [*groups, *keys, *everywhere])
    return "", ""


def _unknown_option(value: str, options: Iterable[str]) -> str:
    """Find the first name in a value, or a sweep's list, that is no option; empty for none."""
    if value.startswith(("{", "[")):
        return ""
    unknown = [name for name in value.split(",") if name not in (*options, "null")]
    return unknown[0] if unknown else ""


def meant(key: str, known: Iterable[str]) -> str:
    """Propose heron's name for a key of other trainers, or else the nearest known key."""
    own_name = SYNONYMS.get(key.rpartition(".")[2])
    return f" Did you mean '{own_name}'?" if own_name else nearest(key, known)
