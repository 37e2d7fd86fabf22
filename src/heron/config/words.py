"""The overrides of `heron train`, before Hydra reads them, such as values in other scripts."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_origin

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from heron.base.folders import conf_dirs
from heron.config.constraints import (
    PARTS,
    all_keys,
    field_types,
    key_of,
    root_schema,
    type_of,
)

# Hub ids without an owner, of the hub's oldest models.
_OLD_HUB_ID = re.compile(
    r"(xlm-roberta|(distil)?(bert|roberta)|camembert|albert|xlnet|t5)"
    r"-(base|small|large|xlarge|xxlarge|3b|11b)(-[a-z0-9-]+)?|(distil)?gpt2(-medium|-large|-xl)?"
)
UNREADABLE = "its value cannot be read: close brackets and quotes, put signs into quotes"
PARSER = OverridesParser.create()
# What Hydra reads in quotes only: letters beyond ASCII, and signs that are not in its grammar.
_UNQUOTED = re.compile(r"""'[^']*'|"[^"]*"|[^\[\]{}:,'"]*[^\x00-\x7f][^\[\]{}:,'"]*""")

# 2.0 and 1.5e3 are whole numbers, 1.5e0 is not.
_DECIMAL = re.compile(r"(?<![^,])\d+(\.\d*(e\d)?|e\d)(?![^,])")
_NUMBERED = re.compile(r"\{\s*\d+\s*:")  # keys are texts, but Hydra reads numbers


def rewrite(words: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Write words as Hydra reads them: values of other scripts in quotes, and four short forms.

    `head=ESS` is `head=ess`. `folds=5` sweeps over the folds. `encoder=<folder or hub id>` is
    `encoder=pretrained encoder.name=<...>`: an option of `conf/encoder`, also in one of `folders`,
    comes first. Folders and hub ids have a slash; without one, a folder with a model, an id in the
    local hub cache and the hub's old ids are recognised. `{0: positive}` names the label `0`.
    """
    found: list[str] = []
    for word in map(readable, words):
        key, _, value = word.partition("=")
        models = [value.strip("'")] if value[:1] == "'" else value.split(",")
        if key == "folds":
            found += [f"data.folds.count={value}", f"data.folds.fold=range({value})"]
        elif key == "encoder" and all(_is_model(each, folders) for each in models):
            found += ["encoder=pretrained", f"encoder.name={value}"]
        elif get_origin(type_of(key_of(word))) is dict and _NUMBERED.match(value):
            named: Any = PARSER.parse_overrides([word])[0].value()
            found += [f"++{key.lstrip('+')}.{name}={_quote(str(v))}" for name, v in named.items()]
        else:
            if value != value.lower():
                from heron.config.describe import in_small  # start-up time: few have capitals

                word = f"{key}={in_small(key, value, folders)}"
            found.append(f"++{word}" if _is_new(key) else word)
    return found


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


def _is_new(key: str) -> bool:
    """Tell whether Hydra takes a key with ++ only: a user's own key, in a tool's mapping."""
    part, _, mapping = key.rpartition(".")[0].partition(".")
    if not mapping or part in field_types(root_schema()):  # heron's own need no forks
        return False
    return PARTS.find(part) is not None and get_origin(type_of(f"{part}.{mapping}")) is dict


def read_agent(words: Sequence[str]) -> list[str]:
    """Read what W&B's agent writes, `--optim.lr=1e-4` and `None`, and log to W&B for it."""
    found = []
    for word in words:
        key, equals, _ = word.partition("=")
        dashed = equals and key.startswith("--") and ("." in key or key[2:] in all_keys())
        found.append(word[2:] if dashed else word)
    if not os.environ.get("WANDB_SWEEP_ID"):
        return found
    found = [re.sub("=None$", "=null", word) for word in found]
    return found if "logger" in map(key_of, found) else [*found, "logger=wandb"]


def readable(word: str) -> str:
    """Put into quotes what Hydra's grammar reads in quotes only, such as Hebrew letters."""
    key, equals, value = word.partition("=")
    if "," in value and os.path.exists(value):  # a job's folder, no list
        return f"{key}={_quote(value)}"
    tries = [value, _UNQUOTED.sub(_quote_match, value)]
    kind = type_of(key.lstrip("+~"))
    if kind is str and value[:1] not in tuple("[{'\""):
        tries.append(_quote(value))
    tries[:0] = [_DECIMAL.sub(_whole, value)] if kind is int else []
    for each in tries if equals else ():
        try:
            PARSER.parse_overrides([f"key={each}"])
        except HydraException:
            continue
        return f"{key}={each}"
    return word


def _whole(found: re.Match[str]) -> str:
    return str(int(float(found[0]))) if float(found[0]).is_integer() else found[0]


def _quote_match(found: re.Match[str]) -> str:
    text = found.group()
    inner = text.strip()
    return text if text[0] in "'\"" else text.replace(inner, _quote(inner))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def job_words(overrides: Iterable[str]) -> list[str]:
    """Leave out what a search writes into its trials' words."""
    return [word for word in overrides if key_of(word).split(".")[0] != "sweeper"]


def not_swept(words: Sequence[str]) -> list[str]:
    """Leave out the overrides that a command sweeps over."""
    parsed = PARSER.parse_overrides(list(words))
    return [str(each.input_line) for each in parsed if not each.is_sweep_override()]
