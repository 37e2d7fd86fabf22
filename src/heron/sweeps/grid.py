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

    Args:
        arguments: words of `heron train`.

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
        self.loader = loader
        self.master = master
        self._common = set(jobs[0]).intersection(*jobs) if jobs else set[str]()
        # Hydra composes this name from all overrides.
        self._whole = "override_dirname}" in OmegaConf.to_yaml(master)
        self._groups = set(loader.list_groups(""))
        self._parser = OverridesParser.create(loader)
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, words: Sequence[str]) -> DictConfig:
        """Compose one job from its overrides."""
        with self.in_place(words) as config:
            copied: DictConfig = pickle.loads(pickle.dumps(config))  # faster than a deep copy
        return copied

    @contextmanager
    def in_place(self, words: Sequence[str]) -> Iterator[DictConfig]:
        """Compose one job in an object that other jobs get as well: copying it takes longer.

        The object has the job's values within the `with` block only.

        Args:
            words: the job's overrides.
        """
        plain = []
        if not self._whole:
            plain = [word for word in words if word not in self._common and self._is_plain(word)]

        base = tuple(word for word in words if word not in plain)
        if base not in self._bases:
            self._bases[base] = self.loader.load_sweep_config(self.master, list(base))
        config = self._bases[base]
        keys = {re.split("[.=]", word)[0] for word in plain}
        task_words = [word for word in words if not word.startswith("hydra.")]
        with overridden(config, self._parser.parse_overrides(plain), keys):
            with open_dict(config.hydra):
                config.hydra.overrides.task = task_words
            yield config

    def _is_plain(self, word: str) -> bool:
        key = word.partition("=")[0]
        return key[0].isalpha() and "/" not in key and key not in self._groups


def grid(loader: ConfigLoader, master: DictConfig) -> list[list[str]]:
    """List the overrides of a sweep's jobs, in the order of Hydra's own sweeper.

    Unlike in Hydra, an experiment may sweep over other experiments (a paper's table), and each of
    several experiments has its own grid.

    Args:
        loader: Hydra's.
        master: the configuration that the jobs share; `hydra.sweeper.swept` is set in it.
    """
    jobs = []
    for rows in _experiments(loader, master, typed_words(master)):
        for job in product(*(_words(row) for row in rows)):
            jobs.append(list(job))
    common = set(jobs[0]).intersection(*jobs)
    vary(master, (key_of(word) for job in jobs for word in job if word not in common))
    return jobs


def vary(master: DictConfig, keys: Iterable[str]) -> None:
    """Record which keys vary in `hydra.sweeper.swept`, which every job of the sweep has.

    Args:
        master: changed in place.
        keys: those that vary, perhaps several times.
    """
    swept = list(dict.fromkeys(keys))
    with open_dict(master.hydra):
        master.hydra.sweeper.swept = swept
    master.hydra.overrides.hydra.append(f"++hydra.sweeper.swept=[{','.join(swept)}]")


def sweep_rows(loader: ConfigLoader, typed: Sequence[str], params: Any) -> list[Override]:
    """Parse a sweep's overrides, one for each key: the last, and typed ones win over `params`.

    Args:
        loader: Hydra's.
        typed: overrides of the command line.
        params: values by key, of `hydra.sweeper.params`.
    """
    typed_keys = {key_of(word) for word in typed}
    words = [f"{key}={value}" for key, value in (params or {}).items() if key not in typed_keys]
    rows = {}
    for row in OverridesParser.create(loader).parse_overrides([*words, *typed]):
        rows[row.get_key_element()] = row
    return list(rows.values())


def _experiments(
    loader: ConfigLoader, master: DictConfig, typed: list[str]
) -> Iterator[list[Override]]:
    """List the overrides of each experiment that a sweep is over, with its own grid.

    Args:
        loader: Hydra's.
        master: the configuration that the jobs share.
        typed: overrides of the command line.
    """
    params = master.hydra.sweeper.params or {}
    if "experiment" in params:
        typed = _unfolded(master, typed)
        params = {}

    rows = sweep_rows(loader, typed, params)
    names: list[str] = []
    for row in rows:
        if row.key_or_group == "experiment" and row.is_sweep_override():
            names += row.sweep_string_iterator()
    if not names:
        yield rows
    for name in names:
        chosen = f"experiment={name}"
        words = [chosen if key_of(word) == "experiment" else word for word in typed]
        all_words = [*master.hydra.overrides.hydra, *words]
        config_name = master.hydra.job.config_name
        config = loader.load_configuration(config_name, all_words, RunMode.MULTIRUN)
        yield from _experiments(loader, config, words)


def _unfolded(master: DictConfig, typed: Sequence[str]) -> list[str]:
    """Write out a table of experiments: its sweep, its name and its report for each of them.

    Args:
        master: composed with the table, an experiment with `experiment` among its `params`.
        typed: overrides of the command line.
    """
    name = str(master.hydra.runtime.choices["experiment"])
    others = [word for word in typed if key_of(word) != "experiment"]
    other_keys = {key_of(word) for word in others}
    sweep = sweep_name(name.replace("/", "-"), not_swept(others))
    values = {
        "experiment": "",
        "report": str(master.report or "null"),
        **master.hydra.sweeper.params,
        "run.sweep": f"'{sweep}'",
    }
    words = [f"{key}={value}" for key, value in values.items() if key not in other_keys]
    return [*words, *others]


def _words(override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise HydraException(
            f"{override.input_line}: a grid has no intervals; hydra/sweeper=optuna"
        )
    key = override.get_key_element()
    return [f"{key}={value}" for value in override.sweep_string_iterator()]
