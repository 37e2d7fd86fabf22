"""The overrides of `heron train`, before Hydra reads them, such as values in Hebrew letters."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.errors import HydraException

from heron.base.folders import conf_dirs
from heron.config.constraints import (
    NO_ENTRY,
    all_keys,
    is_under,
    key_of,
    type_of,
)
from heron.config.hydra_door import OverridesParser

# Hub ids without an owner, of the hub's oldest models.
_OLD_HUB_ID = re.compile(
    r"(xlm-roberta|(distil)?(bert|roberta)|camembert|albert|xlnet|t5)"
    r"-(base|small|large|xlarge|xxlarge|3b|11b)(-[a-z0-9-]+)?|(distil)?gpt2(-medium|-large|-xl)?"
)
UNREADABLE = "its value cannot be read: close brackets and quotes, put signs into quotes"
PARSER = OverridesParser.create()
# Quoted parts, which stay as they are, and unquoted ones with a character beyond ASCII, which Hydra
# reads in quotes only.
_UNQUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^\[\]{}:,'"]*[^\x00-\x7f][^\[\]{}:,'"]*""")

# 2.0 and 1.5e3 are whole numbers, 1.5e0 is not.
_DECIMAL = re.compile(r"(?<![^,])\d+(\.\d*(e\d)?|e\d)(?![^,])")


def rewrite(words: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Rewrite overrides for Hydra: letters beyond ASCII in quotes, short forms written out.

    `head=ESS` is `head=ess`. `folds=5` sweeps over the folds. `encoder=<folder or hub id>` is
    `encoder=pretrained encoder.name=<...>`: an option of `conf/encoder`, also in one of `folders`,
    comes first. Folders and hub ids have a slash; without one, a folder with a model, an id in the
    local hub cache and the hub's old ids are recognised. `curriculum=null` and `~curriculum` are
    `curriculum=none`; so for each group with the option `none`.

    Args:
        words: the overrides.
        folders: further conf/ folders, after heron's and the forks'.
    """
    rewritten: list[str] = []
    for word in map(readable, words):
        key, _, value = word.partition("=")
        if key == "folds":
            rewritten += [f"data.folds.count={value}", f"data.folds.fold=range({value})"]
        elif key == "encoder" and _are_models(value, folders):
            rewritten += ["encoder=pretrained", f"encoder.name={value}"]
        elif word in (f"{key}=null", f"~{key_of(key)}") and _can_be_none(key_of(key), folders):
            rewritten.append(f"{key_of(key)}={NO_ENTRY}")
        else:
            if value != value.lower():
                from heron.config.describe import lower_options  # start-up time: few have capitals

                word = f"{key}={lower_options(key, value, folders)}"
            rewritten.append(word)
    return rewritten


def _can_be_none(group: str, folders: Sequence[Path]) -> bool:
    """Tell whether a group has the option `none`."""
    return any((conf / group / f"{NO_ENTRY}.yaml").is_file() for conf in conf_dirs(folders))


def _are_models(value: str, folders: Sequence[Path]) -> bool:
    """Tell whether a value of `encoder`, or each in a sweep's list, is a folder or hub id."""
    names = [value.strip("'")] if value.startswith("'") else value.split(",")
    return all(_is_model(name, folders) for name in names)


def _is_model(name: str, folders: Sequence[Path]) -> bool:
    """Tell whether a value of `encoder` is a folder or hub id, and no option of `conf/encoder`."""
    if not name or name[0] in "{[":
        return False
    if "/" in name:
        return True
    if any((conf / "encoder" / f"{name}.yaml").is_file() for conf in conf_dirs(folders)):
        return False
    if _OLD_HUB_ID.fullmatch(name) or (Path(name) / "config.json").is_file():
        return True
    from huggingface_hub import constants  # start-up time: few names come here

    cached = Path(constants.HF_HUB_CACHE) / f"models--{name}"
    return bool(re.fullmatch(r"[\w.-]+", name)) and cached.is_dir()


def read_agent(words: Sequence[str]) -> list[str]:
    """Drop the dashes of `--optim.lr=1e-4`.

    In a run of W&B's agent, also write `=None` as `=null`, and log to W&B if no logger is chosen.
    """
    overrides = []
    for word in words:
        key, equals, _ = word.partition("=")
        is_dashed = key.startswith("--") and ("." in key or key[2:] in all_keys())
        overrides.append(word[2:] if equals and is_dashed else word)
    if not os.environ.get("WANDB_SWEEP_ID"):
        return overrides
    overrides = [re.sub("=None$", "=null", word) for word in overrides]
    if "logger" not in map(key_of, overrides):
        overrides.append("logger=wandb")
    return overrides


def readable(word: str) -> str:
    """Spell a value so that Hydra's grammar reads it.

    It is put into quotes where needed; 2.0 is written as 2 for keys of whole numbers.
    """
    key, equals, value = word.partition("=")
    if not equals:
        return word
    # A path that exists, such as a job's folder seed=0,lr=1, is not a list.
    if "," in value and os.path.exists(value):
        return f"{key}={_quote(value)}"

    spellings = [value, _UNQUOTED.sub(_quote_match, value)]
    kind = type_of(key.lstrip("+~"))
    if kind is int:
        spellings.insert(0, _DECIMAL.sub(_whole, value))
    if kind is str and not value.startswith(("[", "{", "'", '"')):
        spellings.append(_quote(value))
    for spelling in spellings:
        with suppress(HydraException):
            PARSER.parse_overrides([f"key={spelling}"])
            return f"{key}={spelling}"
    return word


def _whole(match: re.Match[str]) -> str:
    """Write 2.0 as 2; numbers with a fraction are kept."""
    number = float(match[0])
    return str(int(number)) if number.is_integer() else match[0]


def _quote_match(match: re.Match[str]) -> str:
    text = match[0]
    inner = text.strip()
    return text if text[0] in "'\"" else text.replace(inner, _quote(inner))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def job_words(overrides: Iterable[str]) -> list[str]:
    """Leave out the keys `sweeper.*`, which a search adds to the overrides of its trials."""
    return [word for word in overrides if not is_under(key_of(word), "sweeper")]


def not_swept(words: Sequence[str]) -> list[str]:
    """Leave out the overrides that a command sweeps over."""
    overrides = PARSER.parse_overrides(list(words))
    return [str(word.input_line) for word in overrides if not word.is_sweep_override()]
