"""A run's identity: the keys that can change its result, and the names of its folders."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from heron.base.files import fingerprint
from heron.base.secrets import redacted
from heron.config.constraints import PARTS, flatten, is_under, key_of
from heron.tasks.config import Config, TrainerConfig

# Keys of folders, logging and display, which cannot change a result.
NEUTRAL = ("paths", "run", "logger", "report", "trainer.enable_progress_bar", "sweeper")
# Trainer keys that spread one training over devices; they change no result.
SPREAD = ("devices", "strategy")
_LONGEST = 60  # characters of a folder's name; only swept values make it longer
_MOST = 200  # with swept values; file systems allow 255 bytes
_QUOTES = "'\""
# Runs that differ in these keys, in their data or their task are not compared with each other.
_APART = ("protocol", "also_test", "trainer.max_epochs", "trainer.max_steps")


def is_identifying(key: str) -> bool:
    """Tell whether a key can change a result; an experiment's name cannot, the keys it sets can."""
    return key != "experiment" and not is_neutral(key)


def is_neutral(key: str) -> bool:
    """Tell whether a key concerns only folders, logging or display (`NEUTRAL`)."""
    first, _, rest = key.partition(".")
    neutral: Iterable[str] = NEUTRAL
    if rest and first not in Config.__dataclass_fields__:
        key = rest
        neutral = getattr(PARTS.find(first), "NEUTRAL", ())
    return any(is_under(key, parent) for parent in neutral)


def identifying(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` of the keys that `is_identifying`.

    The number of devices does not change a batch, so every run is listed as if on one device.
    """
    values = {key: value for key, value in flatten(config.values()) if is_identifying(key)}
    one_device = TrainerConfig()
    for key in SPREAD:
        values[f"trainer.{key}"] = getattr(one_device, key)

    return values


def config_key(config: Config) -> str:
    """Hash all that can change a run's result; the end of a run folder's name."""
    return fingerprint(identifying(config))[:8]


def run_path(config: Config, overrides: Sequence[str], swept: Sequence[str] = ()) -> Path:
    """Name the run folder: its overrides, and a hash of all that can change the result."""
    base = base_name(config.experiment, config.data.name, config.task.name)
    folder = Path(config.paths.runs, config.run.sweep or base)
    if config.run.job:
        return folder / config.run.job

    if folder.name.startswith(base):  # leave out what the sweep's name says
        sweep_words = re.split(",|-[0-9a-f]{4}$", folder.name)
        sweep_words.append("experiment" if config.experiment else f"data={config.data.name}")
        kept = []
        for word in overrides:
            key = key_of(word)
            in_sweep = key in sweep_words or readable_name([word]) in sweep_words
            if key in swept or not in_sweep:
                kept.append(word)

        overrides = kept

    ending = f"-{config_key(config)}"
    name = readable_name(overrides, swept, _LONGEST - len(ending)) or "default"
    usual = folder / f"{name}{ending}"
    if usual.exists():
        return usual

    # The same configuration with other overrides (a default spelt out) keeps its folder.
    return min(folder.glob(f"*{ending}"), default=usual)


def base_name(experiment: str | None, data: str, task: str) -> str:
    """Name the sweep folder of runs that change no data, task or length of training."""
    return experiment.replace("/", "-") if experiment else f"{data}-{task}"


def sweep_name(base: str, fixed: Sequence[str]) -> str:
    """Name the sweep folder of a command, so that only runs that can be compared share one.

    Overrides of all jobs that change the rows, their scores or the length of training are added to
    `base`; where the name is too short for all of them, so is their hash.
    """
    apart = sorted(word for word in fixed if _sets_apart(word, base))
    if not apart:
        return base

    ending = readable_name(apart, most=_LONGEST - len(f"{base},-1234"))
    if ending != ",".join(apart):
        whole = fingerprint(apart)[:4]
        ending = f"{ending}-{whole}" if ending else whole

    return f"{base},{ending}"


def _sets_apart(word: str, base: str) -> bool:
    key, _, value = word.lstrip("+~").partition("=")
    if key == "data":
        return not base.startswith(f"{value}-")  # an experiment with another data set
    return key in _APART or key.startswith(("data.", "task.", "trainer.limit_", "trainer.fast_"))


def readable_name(overrides: Sequence[str], swept: Sequence[str] = (), most: int = _LONGEST) -> str:
    """Join the overrides that can change a result, as many as `most` characters hold.

    What is `swept` comes first, and is never cut; then come groups and seed. A value that is a path
    is reduced to its last part, and files of a data set are not named.
    """
    keys = [key_of(word) for word in overrides]
    # Masked before they are shortened: "user:password@host" would not look like an address.
    values = redacted([word.partition("=")[2] for word in overrides])
    value_of = dict(zip(keys, values, strict=True))  # of a key that is given twice, the last
    rows = []
    for key, value in value_of.items():
        is_fixed = key not in swept
        is_left_out = is_under(key, "data.files")
        if key == "encoder" and "encoder.name" in keys:  # which names the encoder in its place
            is_left_out = True
        if is_neutral(key) or (is_fixed and is_left_out):
            continue
        is_group = "." not in key
        rows.append((is_fixed, not is_group, key, value))

    words: list[str] = []
    for is_fixed, _, key, value in sorted(rows):
        last_part = value.strip(_QUOTES).rstrip("/").rpartition("/")[2]
        word = f"{key}={last_part}"
        if not is_fixed or len(",".join([*words, word])) <= most:
            words.append(word)

    name = ",".join(words)[:_MOST]
    return "".join(sign if _is_plain(sign) else "_" for sign in name)


def _is_plain(sign: str) -> bool:
    """Tell whether a character may be in a name, such as letters and marks of every script."""
    return sign.isalnum() or sign in "=,._-" or unicodedata.category(sign).startswith("M")
