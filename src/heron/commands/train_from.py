"""Train a run's `config.yaml` again (`heron train run.from=DIR`), and compare scores."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from heron.base.errors import ConfigError, nearest
from heron.base.run_folder import RunFolder
from heron.config.constraints import all_keys, type_of
from heron.config.written import is_mapping
from heron.data.overrides import read_override
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
        is_entry = is_mapping(type_of(key.rpartition(".")[0]))
        is_value = (key in known or is_entry) and ("." in key or key == "seed")
        if not equals or not is_value:
            hint = nearest(key, known)
            raise ConfigError(
                f"{word}: run.from=DIR takes the old run's configuration; change single keys, "
                f"such as optim.lr=1e-5.{hint}"
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
    stored = read_stored(before.config)
    for word in words:
        key, value = read_override(word)
        if is_mapping(type_of(key)):
            value = {**attrgetter(key)(stored), **value}
        changes[key] = value
    config = derive(stored, changes, composed=True)
    if not config.run.trust:
        check_trusted(config)

    return config


def compare(before: RunFolder, after: RunFolder) -> list[str]:
    """Say whether two runs scored the same, and if not, by how much and what else differs."""
    try:
        old = _by_split_and_name(before.read_scores())
        new = _by_split_and_name(after.read_scores())
    except ConfigError as error:
        return [f"nothing to compare with: {error}"]
    if not old:
        return [f"{before.path} has no scores to compare with"]

    changes = {}
    for key, value in old.items():
        change = new.get(key, value) - value
        if change:
            changes[key] = change

    if not changes and old.keys() == new.keys():
        lines = [f"all {len(old)} scores are equal"]
    else:
        lines = [f"{len(changes)} of {len(old)} scores differ, most of all:"]

    largest_first = sorted(changes, key=lambda key: -abs(changes[key]))
    for key in largest_first[:5]:
        change = changes[key]
        lines.append(f"  {key}: {old[key]:.6f}, now {new[key]:.6f} ({change:+.1e})")

    old_status = before.read_status()
    new_status = after.read_status()
    for key, words in _CAUSES.items():
        if old_status.get(key) != new_status.get(key):
            lines.append(f"the {words} differ")

    return lines


def _by_split_and_name(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Put the scores of all splits into one mapping, `test macro_f1`."""
    flat = {}
    for split, of_split in scores.items():
        for name, value in of_split.items():
            flat[f"{split} {name}"] = value
    return flat
