"""`heron train run.from=DIR`: train a run's `config.yaml` again, and compare scores."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.run_folder import RunFolder, open_run
from heron.base.terminal import print_lines
from heron.commands.train import FLAG
from heron.config.constraints import all_keys
from heron.sweeps.sweep import Sweep
from heron.tasks.config import Config, SweeperConfig, resolve
from heron.training.run import Run, count_ranks
from heron.training.run_names import run_path
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


def run(arguments: Sequence[str]) -> int:
    """Repeat the run that `run.from=` names; returns the exit code.

    The new run lies beside the old one as `<job>-again`, unless `run.job=`, `run.sweep=` or
    `paths.runs=` say otherwise. Other keys may be changed, but no groups: the old run's
    `config.yaml` is what counts, not `conf/`.
    """
    if flags := [word for word in arguments if word.startswith("-")]:
        raise ConfigError(f"{flags[0]}: {FLAG}DIR repeats one run and takes no flags")
    named = [word for word in arguments if word.startswith(FLAG)]
    words = [word for word in arguments if word not in named]
    if len(named) > 1:
        raise ConfigError(f"{FLAG}: name one run, not {len(named)}")
    before = open_run(Path(named[0].removeprefix(FLAG)))
    config = configure(before, words)
    after = RunFolder(run_path(config, words))
    job = Run(config, after, list(arguments))
    job.check({})
    if after.path.resolve() == before.path.resolve():
        raise ConfigError(f"{before.path} would be overwritten: name another run.job")
    print(f"heron train: {after.path}, as {before.path}", flush=True)
    after.path.mkdir(parents=True, exist_ok=True)
    scores = _train(job)
    print_lines(*compare(before, after, scores))
    return 0


def _train(job: Run) -> Mapping[str, Any]:
    """Train in this process, or in those that its devices need; returns the scores."""
    if count_ranks(job.config) == 1:
        return job.train()
    (outcome,) = Sweep([job], isolate=True).run()
    if outcome.state != "done":
        raise HeronError(f"{job.folder.path}: {outcome.error}")
    return job.folder.read_scores()


def configure(before: RunFolder, words: Sequence[str]) -> Config:
    """Read a run's configuration, with some keys changed."""
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
                f"{word}: {FLAG}DIR takes the old run's configuration; change single keys of it, "
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


def compare(before: RunFolder, after: RunFolder, scores: Mapping[str, Any]) -> list[str]:
    """Say whether two runs scored the same, and if not, by how much and what else differs."""
    try:
        old, new = _flat(before.read_scores()), _flat(scores)
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
