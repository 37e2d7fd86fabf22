"""The jobs of a grid: their overrides, in the order of Hydra's own sweeper, and each composed."""

import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from heron.config.compose import typed_words
from heron.config.constraints import key_of
from heron.config.hydra_door import overridden
from heron.config.words import not_swept
from heron.training.compose import Composition, opened
from heron.training.run_names import sweep_name


def compose_jobs(arguments: Sequence[str]) -> list[Composition]:
    """Compose what `heron train` would run, each of a grid's jobs; nothing is run or written.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    with opened(arguments) as (hydra, whole):
        if whole is None or whole.hydra.mode != RunMode.MULTIRUN:
            return [] if whole is None else [Composition(whole)]
        jobs = grid(hydra.config_loader, whole)
        make = JobComposer(hydra.config_loader, whole, jobs)
        return [Composition(make(words)) for words in jobs]


class JobComposer:
    """Composes the jobs of a sweep as Hydra's `load_sweep_config` would.

    That takes a fifth of a second. Jobs differ in few plain keys, so each choice of groups is
    composed once, and the keys are set in it for as long as a job is looked at.
    """

    def __init__(self, loader: ConfigLoader, master: DictConfig, jobs: Sequence[Sequence[str]]):
        self.loader, self.master = loader, master
        self._common = set(jobs[0]).intersection(*jobs) if jobs else set[str]()
        # Hydra composes this name from all overrides.
        self._whole = "override_dirname}" in OmegaConf.to_yaml(master)
        self._groups = set(loader.list_groups(""))
        self._parser = OverridesParser.create(loader)
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, words: Sequence[str]) -> DictConfig:
        """Compose one job from its overrides."""
        with self.lent(words) as config:
            copied: DictConfig = pickle.loads(pickle.dumps(config))  # faster than a deep copy
        return copied

    @contextmanager
    def lent(self, words: Sequence[str]) -> Iterator[DictConfig]:
        """Compose one job for the block alone: others get the same object, a copy costs more."""
        own = [] if self._whole else [word for word in words if word not in self._common]
        plain = [word for word in own if self._is_plain(word)]
        base = tuple(word for word in words if word not in plain)
        if base not in self._bases:
            self._bases[base] = self.loader.load_sweep_config(self.master, list(base))
        config = self._bases[base]
        keys = {re.split("[.=]", word)[0] for word in plain}
        with overridden(config, self._parser.parse_overrides(plain), keys):
            with open_dict(config.hydra):
                config.hydra.overrides.task = [
                    word for word in words if not word.startswith("hydra.")
                ]
            yield config

    def _is_plain(self, word: str) -> bool:
        key = word.partition("=")[0]
        return key[0].isalpha() and "/" not in key and key not in self._groups


def grid(loader: ConfigLoader, master: DictConfig) -> list[list[str]]:
    """List the overrides of a sweep's jobs, in the order of Hydra's own sweeper.

    Unlike in Hydra, an experiment may sweep over other experiments (a paper's table), and each of
    several experiments has its own grid.
    """
    rows = list(_experiments(loader, master, typed_words(master)))
    jobs = [list(job) for each in rows for job in product(*map(_words, each))]
    common = set(jobs[0]).intersection(*jobs)
    vary(master, (key_of(word) for job in jobs for word in job if word not in common))
    return jobs


def vary(master: DictConfig, keys: Iterable[str]) -> None:
    """Note in the configuration that a sweep's jobs share which keys vary."""
    swept = list(dict.fromkeys(keys))
    with open_dict(master.hydra):
        master.hydra.sweeper.swept = swept
    master.hydra.overrides.hydra.append(f"++hydra.sweeper.swept=[{','.join(swept)}]")


def sweep_rows(loader: ConfigLoader, typed: Sequence[str], params: Any) -> list[Override]:
    """Parse a sweep's overrides, one for each key: the last, and typed ones win over `params`."""
    named = set(map(key_of, typed))
    added = [f"{key}={value}" for key, value in (params or {}).items() if key not in named]
    rows = OverridesParser.create(loader).parse_overrides([*added, *typed])
    return list({each.get_key_element(): each for each in rows}.values())


def _experiments(
    loader: ConfigLoader, master: DictConfig, typed: list[str]
) -> Iterator[list[Override]]:
    """List the overrides of each experiment that a sweep is over, with its own grid."""
    params = master.hydra.sweeper.params or {}
    if "experiment" in params:
        typed, params = _unfolded(master, typed), {}
    rows = sweep_rows(loader, typed, params)
    names = [
        name
        for each in rows
        if each.key_or_group == "experiment" and each.is_sweep_override()
        for name in each.sweep_string_iterator()
    ]
    if not names:
        yield rows
    for name in names:
        one = [f"experiment={name}" if key_of(word) == "experiment" else word for word in typed]
        words = [*master.hydra.overrides.hydra, *one]
        config = loader.load_configuration(master.hydra.job.config_name, words, RunMode.MULTIRUN)
        yield from _experiments(loader, config, one)


def _unfolded(master: DictConfig, typed: Sequence[str]) -> list[str]:
    """Write out a table of experiments: its sweep, its name and its report for each of them."""
    name = str(master.hydra.runtime.choices["experiment"])
    others = [word for word in typed if key_of(word) != "experiment"]
    words = {
        "experiment": "",
        "report": str(master.report or "null"),
        **master.hydra.sweeper.params,
        "run.sweep": f"'{sweep_name(name.replace('/', '-'), not_swept(others))}'",
    }
    named = set(map(key_of, others))
    return [*(f"{key}={value}" for key, value in words.items() if key not in named), *others]


def _words(override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise HydraException(
            f"{override.input_line}: a grid has no intervals; hydra/sweeper=optuna"
        )
    return [f"{override.get_key_element()}={each}" for each in override.sweep_string_iterator()]
