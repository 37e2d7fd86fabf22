"""The words of `heron train` that set Hydra itself: folders of YAML, and what heron refuses."""

from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.folders import add_forks
from heron.config.keys import is_under
from heron.config.words import key_of

_RUN_FOLDERS = "heron names run folders by paths.runs=DIR, run.sweep=NAME and run.job=NAME"
_INSTEAD = {
    "hydra.run": _RUN_FOLDERS,
    "hydra.sweep": _RUN_FOLDERS,
    "hydra.launcher": "jobs are sent elsewhere by launcher=NAME",
    "hydra.sweeper": "jobs are chosen by sweeper=NAME",
}
_HYDRA_KEYS = ("hydra.mode", "hydra.sweeper.params")  # that heron uses


def search_path(words: Sequence[str], added: str | None = None) -> tuple[list[Path], list[str]]:
    """Separate folders of YAML (`--config-dir`, `hydra.searchpath=[DIR]`) from other overrides.

    Raises:
        ConfigError: no such folder, or a key of Hydra's that heron does not use.
    """
    folders, others = [("--config-dir", added)] if added else [], []
    for word in words:
        key, value = key_of(word).replace("/", "."), word.partition("=")[2]
        if key == "hydra.searchpath":
            folders += [(key, each.strip(" '\"")) for each in value.strip("[]").split(",")]
        elif key.startswith("hydra.") and not any(is_under(key, own) for own in _HYDRA_KEYS):
            part = ".".join(key.split(".")[:2])
            raise ConfigError(f"{word}: {_INSTEAD.get(part, 'heron does not use it')}")
        else:
            others.append(word)
    found = []
    for key, name in folders:
        path = Path(name.removeprefix("file://")).expanduser().absolute()
        if not path.is_dir():
            raise ConfigError(
                f"{key}: no folder {name or path}; name one that is laid out as conf/, with "
                "data/NAME.yaml or experiment/NAME.yaml"
            )
        found.append(path)
    add_forks(found)
    return found, others
