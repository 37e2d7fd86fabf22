"""A run's identity: the keys that can change its result, and the names of its folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import fingerprint
from heron.base.secrets import redact
from heron.config.constraints import PARTS, flatten, is_under
from heron.tasks.config import Config, TrainerConfig

# Keys of places and of display, which cannot change a result.
NEUTRAL = (*("paths", "run", "logger", "report", "trainer.enable_progress_bar", "sweeper"),)
# Trainer keys that spread one training over devices; they change no result.
SPREAD = ("devices", "strategy")
_LONGEST = 200  # characters of a folder's name before its hash; file systems allow 255 bytes
# Runs that differ in these keys, in their data or their task are not compared with each other.
_APART = ("protocol", "also_test", "trainer.max_epochs", "trainer.max_steps")


def is_identifying(key: str) -> bool:
    """Tell whether a key can change a result; an experiment's name cannot: its keys can."""
    return key != "experiment" and not is_neutral(key)


def is_neutral(key: str) -> bool:
    """Tell whether a key is of places and of display."""
    first, _, rest = key.partition(".")
    if rest and first not in Config.__dataclass_fields__:
        own = getattr(PARTS.find(first), "NEUTRAL", ())
        return any(is_under(rest, each) for each in own)
    return any(is_under(key, each) for each in NEUTRAL)


def identifying(config: Config) -> dict[str, Any]:
    """List what can change a result: `{dotted key: value}` without the keys of `is_identifying`.

    The number of devices does not change a batch, so every run is listed as one on one device.
    """
    found = {key: value for key, value in flatten(config.values()) if is_identifying(key)}
    alone = TrainerConfig()
    return found | {f"trainer.{key}": getattr(alone, key) for key in SPREAD}


def config_key(config: Config) -> str:
    """Hash all that can change a run's result; the end of a run folder's name."""
    return fingerprint(identifying(config))[:8]


def path_words(config: Config) -> list[str]:
    """List a run's folders as `paths.<name>=<folder>`."""
    return [f"paths.{name}={value}" for name, value in vars(config.paths).items()]


def run_path(config: Config, overrides: Sequence[str], swept: Sequence[str] = ()) -> Path:
    """Name the run folder: readable overrides and a hash of all that can change the result.

    The values of `swept` keys come first.

    Raises:
        ConfigError: `run.sweep` or `run.job` leads out of `paths.runs`.
    """
    _check_names(config)
    base = base_name(config.experiment, config.data.name, config.task.name)
    sweep = config.run.sweep or base
    folder = Path(config.paths.runs) / sweep
    if config.run.job:
        return folder / config.run.job
    key = config_key(config)
    # The same configuration in other words (a default spelt out) keeps its folder.
    said = config.experiment is not None and f"{sweep},".startswith(f"{base},")
    name = readable_name(overrides, ("experiment",) if said else (), swept)
    return next(iter(sorted(folder.glob(f"*-{key}"))), folder / f"{name}-{key}")


def base_name(experiment: str | None, data: str, task: str) -> str:
    """Name the sweep folder of runs that change no data, task or length of training."""
    return experiment.replace("/", "-") if experiment else f"{data}-{task}"


def sweep_name(base: str, fixed: Sequence[str]) -> str:
    """Name the sweep folder of a command, so that only runs that can be compared share one.

    Overrides of all jobs that change the rows, their scores or the length of training are added to
    `base`.
    """
    apart = sorted(word for word in fixed if _sets_apart(word, base))
    if not apart:
        return base
    name = readable_name(apart)
    if len(name) > 80 or name != ",".join(apart):  # cut short: a hash keeps it unique
        name = f"{name[:80]}-{fingerprint(apart)[:4]}"
    return f"{base},{name}"


def _sets_apart(word: str, base: str) -> bool:
    key, _, value = word.lstrip("+~").partition("=")
    if key == "data":
        return not base.startswith(f"{value}-")  # an experiment with another data set
    return key in _APART or key.startswith(("data.", "task.", "trainer.limit_", "trainer.fast_"))


def _check_names(config: Config) -> None:
    """Refuse a sweep's name that leads out of `paths.runs`, and a job's out of its sweep."""
    for key, most in (("sweep", 99), ("job", 1)):
        name = getattr(config.run, key)
        parts = Path(name or "_").parts
        if not 0 < len(parts) <= most or ".." in parts or parts[0] == "/":
            raise ConfigError(
                f"run.{key}={name}: a name inside paths.runs is needed (run.job: without '/'); "
                "paths.runs=DIR says where sweeps lie"
            )


def readable_name(
    overrides: Sequence[str], hidden: Sequence[str] = (), swept: Sequence[str] = ()
) -> str:
    """Join the overrides that can change a result; paths are reduced to their last part.

    A long name is cut at its end, after what is `swept`; then come groups and seed.
    """
    words: list[str] = []
    rows = [(override.lstrip("+").partition("="), override) for override in overrides]
    length = 0
    for (key, _, value), _ in sorted(
        rows, key=lambda row: (row[0][0] not in swept, "." in row[0][0], row[1])
    ):
        if is_neutral(key) or any(is_under(key, each) for each in hidden):
            continue
        # Masked whole: of an address without a path, the last part is the user's name.
        words.append(f"{key}={redact(value).rstrip('/').rsplit('/', 1)[-1]}")
        length = len(",".join(words)) if key in swept else length
    name = ",".join(words) or "default"
    short = name[: min(max(100, length), _LONGEST)]
    return "".join(c if c.isalnum() or c in "=,._-" else "_" for c in short)
