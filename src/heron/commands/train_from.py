"""Train a run's `config.yaml` again (`heron train run.from=DIR`), and compare scores."""

from collections.abc import Mapping, Sequence

from heron.base.errors import ConfigError, nearest
from heron.base.run_folder import RunFolder
from heron.config.constraints import all_keys
from heron.data.overrides import read_value
from heron.tasks.config import Config
from heron.training.components import check_trusted
from heron.training.stored import derive, read_stored

# What of `status.json` may explain a difference: its key, and the words for it.
_CAUSES = {
    "git": "commits",
    "versions": "versions",
    "sources": "files",
    "machine": "machines",
    "threads": "numbers of CPU threads (trainer.threads sets it)",
}


def configure(before: RunFolder, words: Sequence[str]) -> Config:
    """Derive a run's configuration, with some keys changed, for a run beside it: `<job>-again`.

    No groups can be changed: the old run's `config.yaml` is what counts, not `conf/`.
    """
    known = all_keys()
    for word in words:
        key, equals, _ = word.partition("=")
        if not equals or key not in known or ("." not in key and key != "seed"):
            raise ConfigError(
                f"{word}: run.from=DIR takes the old run's configuration; change single keys, "
                f"such as optim.lr=1e-5.{nearest(key, known)}"
            )
    folder = before.path.resolve()
    changes = {
        "paths.runs": str(folder.parent.parent),
        "run.sweep": folder.parent.name,
        "run.job": f"{folder.name}-again",
        "run.resume": True,
        "run.trust": False,  # only the command may say so
        "sweeper": {},  # the new run is no trial of the old one's search
    }
    changes |= {word.partition("=")[0]: read_value(word) for word in words}
    config = derive(read_stored(before.config), changes, composed=True)
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
