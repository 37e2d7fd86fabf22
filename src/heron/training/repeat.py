"""Train a run's `config.yaml` again (`heron train run.from=DIR`), and compare scores."""

import dataclasses
from collections.abc import Mapping, Sequence

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.run_folder import RunFolder
from heron.config.constraints import all_keys
from heron.tasks.config import Config, SweeperConfig, resolve
from heron.training.stored import read_stored
from heron.training.targets import check_trusted

# What of `status.json` may explain a difference: its key, and the words for it.
_CAUSES = {
    "git": "commits",
    "versions": "versions",
    "sources": "files",
    "machine": "machines",
    "threads": "numbers of CPU threads (trainer.threads sets it)",
}


def configure(before: RunFolder, words: Sequence[str]) -> Config:
    """Read a run's configuration, with some keys changed, for a run beside it: `<job>-again`.

    No groups can be changed: the old run's `config.yaml` is what counts, not `conf/`.
    """
    old = read_stored(before.config)
    folder = before.path.resolve()
    old.paths.runs = str(folder.parent.parent)
    job = f"{folder.name}-again"
    old.run = dataclasses.replace(old.run, sweep=folder.parent.name, job=job, resume=True)
    old.run.trust = False  # only the command may say so
    old.sweeper = SweeperConfig()  # the new run is no trial of the old one's search
    known = all_keys()
    for word in words:
        key, equals, _ = word.partition("=")
        if not equals or key not in known or ("." not in key and key != "seed"):
            raise ConfigError(
                f"{word}: run.from=DIR takes the old run's configuration; change single keys, "
                f"such as optim.lr=1e-5.{nearest(key, known)}"
            )
    try:
        changed = OmegaConf.merge(
            OmegaConf.create(dataclasses.asdict(old)), OmegaConf.from_dotlist(list(words))
        )
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    assert OmegaConf.is_dict(changed)
    config = resolve(changed)  # type: ignore[arg-type]  # it is a mapping
    if not config.run.trust:
        check_trusted(config)
    return config


def compare(before: RunFolder, after: RunFolder) -> list[str]:
    """Say whether two runs scored the same, and if not, by how much and what else differs."""
    try:
        old, new = _flat(before.read_scores()), _flat(after.read_scores())
    except ConfigError as error:
        return [f"nothing to compare with: {error}"]
    if not old:
        return [f"{before.path} has no scores to compare with"]
    moved = {key: new[key] - old[key] for key in old if key in new and new[key] != old[key]}
    status, other = before.read_status(), after.read_status()
    causes = [
        f"the {words} differ" for key, words in _CAUSES.items() if status.get(key) != other.get(key)
    ]
    if not moved and old.keys() == new.keys():
        return [f"all {len(old)} scores are equal", *causes]
    shown = sorted(moved, key=lambda key: -abs(moved[key]))[:5]
    return [
        f"{len(moved)} of {len(old)} scores differ, most of all:",
        *(f"  {key}: {old[key]:.6f}, now {new[key]:.6f} ({moved[key]:+.1e})" for key in shown),
        *causes,
    ]


def _flat(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{split} {name}": value for split, of in scores.items() for name, value in of.items()}
