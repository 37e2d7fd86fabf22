"""`config.yaml`: write a configuration, and read it back."""

import os
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.files import dump_yaml, parse_yaml
from heron.base.folders import default_cache_dir
from heron.config.constraints import is_under
from heron.tasks.config import Config, read

# Groups that every version of heron has written; a truncated file lacks the last of them.
_ALWAYS = ("data", "task", "encoder", "head", "optim", "batching", "trainer", "paths", "run")
# Keys that `changes` in a stored configuration may not hold: they would undo `read_stored`.
_UNCHANGED = (
    *("encoder.trust_remote_code", "paths", "data.files", "data.join", "data.phrases"),
    *("data.texts", "others", "stages", "curriculum"),
)
# Folders in a cache; a folder without any of them is not one of heron's caches.
_CACHED = ("features", "tokenizers", "chronicle", "vectors", "word-vectors")


def to_yaml(config: Config) -> str:
    """Write a configuration as YAML, every key with its value."""
    return dump_yaml(config.values())


def from_yaml(text: str) -> Config:
    """Read what `to_yaml` wrote; `${...}` in it stays text.

    Raises:
        ConfigError: it is not a mapping, lacks keys that every version has written, or has keys or
            values that this version does not know.
    """
    values = parse_yaml(text)
    if missing := [key for key in _ALWAYS if not isinstance(values, dict) or key not in values]:
        raise ConfigError(f"it has no {', '.join(missing)}")
    return read(values)


def read_stored(path: Path, run_code: bool = False) -> Config:
    """Read a run's `config.yaml`, which may come from somebody else.

    The file can name what to read, but it cannot make heron run code, download files without a
    hash, or write outside a cache of heron's: `trust_remote_code` is set to `run_code`, addresses
    of files without a hash are removed, and any other cache folder is replaced by the default one.

    Args:
        path: the file.
        run_code: whether the user allows code that comes with the weights.

    Raises:
        ConfigError: names the file, and what in it this version of heron cannot use.
    """
    config = read_own(path)
    stages = (stage.changes for stage in config.read_stages())
    for key in (key for changes in (config.curriculum.changes, *stages) for key in changes):
        if any(is_under(key, own) or is_under(own, key) for own in _UNCHANGED):
            raise ConfigError(
                f"{path}: changes: neither a stage nor curriculum.changes may set {key}"
            )
    config.encoder.trust_remote_code = run_code
    for data in (config.data, *config.others.values()):
        for file in (*data.files.values(), *data.texts.files):
            file.url = file.url if file.pinned else None
    cache = Path(config.paths.cache)
    if not any(os.access(cache / name, os.W_OK) for name in _CACHED):
        config.paths.cache = str(default_cache_dir())
    return config


def read_own(path: Path) -> Config:
    """Read the `config.yaml` of this command's own run, unchanged."""
    try:
        return from_yaml(path.read_text(encoding="utf-8"))
    except (ConfigError, UnicodeDecodeError) as error:
        what = f"{path} is damaged, or of another version of heron: {error}"
        raise ConfigError(f"{what}; copy it again, or train again (run.resume=false)") from error
