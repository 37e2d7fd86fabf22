"""A run's identity: the keys that can change its result, and the names of its folders."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heron.base.files import fingerprint
from heron.base.secrets import redacted
from heron.config.constraints import PARTS, flatten, is_under, key_of
from heron.tasks.config import Config, TrainerConfig

# Keys of folders, logging and display, which cannot change a result.
NEUTRAL = (*("paths", "run", "logger", "report", "trainer.enable_progress_bar", "sweeper"),)
# Trainer keys that spread one training over devices; they change no result.
SPREAD = ("devices", "strategy")
_LONGEST = 60  # characters of a folder's name; only swept values make it longer
_MOST = 200  # with swept values; file systems allow 255 bytes
_QUOTES = "'\""
# Runs that differ in these keys, in their data or their task are not compared with each other.
_APART = ("protocol", "also_test", "trainer.max_epochs", "trainer.max_steps")


def is_identifying(key: str) -> bool:
    """Tell whether a key can change a result; an experiment's name cannot: its keys can."""
    return key != "experiment" and not is_neutral(key)


def is_neutral(key: str) -> bool:
    """Tell whether a key concerns only folders, logging or display (`NEUTRAL`)."""
    first, _, rest = key.partition(".")
    if rest and first not in Config.__dataclass_fields__:
        own = getattr(PARTS.find(first), "NEUTRAL", ())
        return any(is_under(rest, each) for each in own)
    return any(is_under(key, each) for each in NEUTRAL)


def identifying(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` of the keys that `is_identifying`.

    The number of devices does not change a batch, so every run is listed as if on one device.
    """
    found = {key: value for key, value in flatten(config.values()) if is_identifying(key)}
    alone = TrainerConfig()
    return found | {f"trainer.{key}": getattr(alone, key) for key in SPREAD}


def config_key(config: Config) -> str:
    """Hash all that can change a run's result; the end of a run folder's name."""
    return fingerprint(identifying(config))[:8]


def run_path(config: Config, overrides: Sequence[str], swept: Sequence[str] = ()) -> Path:
    """Name the run folder: what was chosen, and a hash of all that can change the result."""
    base = base_name(config.experiment, config.data.name, config.task.name)
    folder = Path(config.paths.runs, config.run.sweep or base)
    if config.run.job:
        return folder / config.run.job
    key = config_key(config)
    if folder.name.startswith(base):  # what the sweep's name says is not said again
        said = re.split(",|-[0-9a-f]{4}$", folder.name)
        said += ["experiment"] if config.experiment else [f"data={config.data.name}"]
        overrides = [
            word
            for word in overrides
            if key_of(word) in swept or not {key_of(word), readable_name([word])} & {*said}
        ]
    name = readable_name(overrides, swept, _LONGEST - len(f"-{key}")) or "default"
    usual = folder / f"{name}-{key}"
    # The same configuration in other words (a default spelt out) keeps its folder.
    return usual if usual.exists() else min(folder.glob(f"*-{key}"), default=usual)


def base_name(experiment: str | None, data: str, task: str) -> str:
    """Name the sweep folder of runs that change no data, task or length of training."""
    return experiment.replace("/", "-") if experiment else f"{data}-{task}"


def sweep_name(base: str, fixed: Sequence[str]) -> str:
    """Name the sweep folder of a command, so that only runs that can be compared share one.

    Overrides of all jobs that change the rows, their scores or the length of training are added to
    `base`; a hash of them where the name does not hold them all.
    """
    apart = sorted(word for word in fixed if _sets_apart(word, base))
    name = readable_name(apart, most=_LONGEST - len(f"{base},-1234"))
    missing = fingerprint(apart)[:4] if name != ",".join(apart) else ""
    return ",".join(filter(None, (base, "-".join(filter(None, (name, missing))))))


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
    chosen: list[str] = []
    # Masked before they are shortened: "user:password@host" would not look like an address.
    values = redacted([word.partition("=")[2] for word in overrides])
    rows = zip(map(key_of, overrides), values, strict=True)
    for key, value in sorted(rows, key=lambda row: (row[0] not in swept, "." in row[0], row)):
        is_file = is_under(key, "data.files") and key not in swept
        is_named = key == "encoder" and "encoder.name" in map(key_of, overrides)
        if is_neutral(key) or is_file or (is_named and key not in swept):
            continue
        word = f"{key}={value.strip(_QUOTES).rstrip('/').rsplit('/', 1)[-1]}"
        if key in swept or len(",".join([*chosen, word])) <= most:
            chosen.append(word)
    return "".join(c if _is_plain(c) else "_" for c in ",".join(chosen)[:_MOST])


def _is_plain(c: str) -> bool:
    """Tell whether a character may be in a name, such as letters and marks of every script."""
    return c.isalnum() or c in "=,._-" or unicodedata.category(c).startswith("M")
