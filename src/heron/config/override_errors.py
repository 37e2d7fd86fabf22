"""Hydra's complaints in heron's words: which override does not fit, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hydra.errors import OverrideParseException
from omegaconf.errors import OmegaConfBaseException, ValidationError

from heron.base.errors import nearest
from heron.base.folders import config_groups, group_options
from heron.config.data import SPLITS
from heron.config.keys import all_keys, needed
from heron.config.overrides import UNREADABLE

# Mappings whose keys are the user's own.
_BY_SPLIT = ("data.files.", "data.counts.")
_OPEN = (
    *_BY_SPLIT,
    "data.join.",
    "batching.multipliers.",
    "baseline.hypotheses.",
    "launcher.options.",
)


def explain(overrides: Sequence[str], error: Exception, folders: Sequence[Path] = ()) -> str:
    """Find the override that does not fit; where none is at fault, pass on what Hydra says.

    Args:
        overrides: what was typed.
        error: what Hydra or OmegaConf raised.
        folders: where the command line adds YAML.
    """
    groups = config_groups(folders)
    for override in overrides:
        key, _, value = override.lstrip("+~").partition("=")
        key = key.split("@")[0]
        if key in groups:
            options = [*group_options(key, folders)]
            allowed = [*options, "null"] if key == "experiment" else options
            wrong = [option for option in value.split(",") if option not in allowed]
            if wrong:
                hint = nearest(wrong[0], options)
                if key == "encoder" and not wrong[0].startswith("{"):
                    hint += f" A model of the hub: encoder=pretrained encoder.name={wrong[0]}"
                return f"{key}={wrong[0]}: no such option.{hint}"
        elif not key.startswith("hydra") and key not in all_keys() and not _open(key):
            hint = nearest(key, _keys(overrides, groups)) or nearest(key, all_keys())
            return f"unknown key '{key}'.{hint or ' heron train --cfg job lists them all.'}"
        elif wrong := [split for split in _splits(key, value) if split not in SPLITS]:
            return f"{override}: no such split.{nearest(wrong[0], SPLITS)}"
        elif _open(key) and key in str(error) and "FileConfig'" not in str(error.__cause__):
            return f"{override}: no such entry here; add it, '{_added(key, value)}'"
        elif (
            f"{key}." in _OPEN
            and value.startswith("{")
            and "in struct" in f"{error}{error.__cause__}"
        ):
            return f"{override}: its keys are your own; add them with a plus, '+{override}'"
        elif isinstance(error, AssertionError) and key.count(".") > 1:
            # OmegaConf asserts when an override reaches into a node that is null.
            parent = key.rpartition(".")[0]
            return f"{override}: {parent} is null here; give it whole, {parent}={{...}}"
    if isinstance(error, OverrideParseException):
        word = error.override
        return f"{word}: {UNREADABLE}" if "=" in word else f"'{word}' is not of the form key=value"
    if isinstance(error.__cause__, OmegaConfBaseException):
        error = error.__cause__  # Hydra says only which override failed, OmegaConf also why
    where = getattr(error, "full_key", None)
    if isinstance(error, ValidationError) and (said := _kind(where, overrides)):
        return said
    message = str(error).splitlines()[0]
    return f"{where}: {message}" if where else re.sub(r"\s*\n\s*", " ", str(error))


def _keys(overrides: Sequence[str], groups: set[str]) -> list[str]:
    """List keys and groups; without those that mean nothing while their group is not chosen."""
    named = {override.lstrip("+~").partition("=")[0].split(".")[0] for override in overrides}
    idle = tuple(f"{group}." for group in {"baseline", "curriculum"} - named)
    return [*groups, *(key for key in all_keys() if not key.startswith(idle))]


def _splits(key: str, value: str) -> list[str]:
    """List the splits that `data.files.<split>...` or `data.files={<split>: {...}}` names."""
    if key.startswith(_BY_SPLIT):
        return [key.split(".")[2]]
    return re.findall(r"[{,]\s*(\w+)\s*:\s*{", value) if f"{key}." in _BY_SPLIT else []


def _added(key: str, value: str) -> str:
    """Write the override that adds an entry to a mapping whose keys are the user's."""
    parent, _, field = key.rpartition(".")
    value = f"{{{field}: {value}}}"
    if parent.startswith("data.files."):  # Hydra takes files in whole only
        parent, _, split = parent.rpartition(".")
        value = f"{{{split}: {value}}}"
    return f"+{parent}={value}"


def _kind(where: str | None, overrides: Sequence[str]) -> str:
    """Say what kind of value a key needs; empty where a sweep's or an included value is wrong."""
    for override in reversed(overrides):  # the last one counts
        key, _, value = override.lstrip("+~").partition("=")
        if key == where and "${" not in value and ("," not in value or value[0] in "[{"):
            return f"{override}: {hint}" if (hint := needed(key, value)) else ""
    return ""


def _open(key: str) -> bool:
    """Tell whether a key lies in a mapping whose keys are the user's, such as data.files."""
    return key.startswith(_OPEN)
