"""Compose a run; `Composition` names its folder."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from hydra.core.config_store import ConfigStore
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from heron.base.errors import ConfigError
from heron.base.folders import add_forks, conf_dirs, data_set_file, data_sets, default_cache_dir
from heron.base.terminal import say
from heron.config.compose import composed, explained, read_flags, shown, typed_words
from heron.config.constraints import key_of
from heron.config.hydra_door import Hydra, open_hydra
from heron.config.words import job_words, not_swept
from heron.data.config import data_values, read_config
from heron.tasks.config import Config, resolve
from heron.training.run_names import base_name, run_path, sweep_name


class Composition:
    """One composed job; `whole` is Hydra's configuration, its own key `hydra` included."""

    # Hydra asks several times for the folders of one job, each time by its configuration.
    _last: ClassVar[Composition | None] = None

    def __init__(self, whole: DictConfig):
        self.whole = whole
        Composition._last = self

    @classmethod
    def of(cls, whole: DictConfig) -> Composition:
        """Take the last composition, if it is that of this configuration."""
        last = cls._last
        return last if last is not None and last.whole is whole else cls(whole)

    @property
    def overrides(self) -> list[str]:
        """The job's overrides, with a sweep's values filled in."""
        return job_words(typed_words(self.whole))

    @property
    def experiment(self) -> str | None:
        """The chosen experiment."""
        name = self.whole.hydra.runtime.choices.get("experiment")
        return None if name is None else str(name)

    @property
    def swept(self) -> tuple[str, ...]:
        """The keys that the sweep varies, as far as its sweeper names them."""
        return tuple(self.whole.hydra.sweeper.get("swept") or ())

    def resolved(self) -> Config:
        """Check the configuration and give it its types."""
        config = copy.deepcopy(self._resolved)
        if self.whole.hydra.job.chdir:  # a job's folders are the command's
            cwd = self.whole.hydra.runtime.cwd
            for name, value in vars(config.paths).items():
                setattr(config.paths, name, str(Path(cwd, value)))
            config.ckpt_path = config.ckpt_path and str(Path(cwd, config.ckpt_path))
        return config

    @cached_property
    def _resolved(self) -> Config:
        folders = self._folders()
        add_forks(folders)
        config = resolve(self.whole)
        config.experiment = self.experiment
        config.run.sweep = self._sweep()
        _check_length(config, self.overrides)
        if folders:
            # A job may run in another process, which does not know these folders.
            named = {*config.also_test, *(stage.data for stage in config.read_stages())}
            added = data_sets(folders).items() - data_sets().items()
            config.others |= {name: read_config(path) for name, path in added if name in named}
        return config

    def _folders(self) -> list[Path]:
        """List the folders that the command line adds to Hydra's search path."""
        sources, known = self.whole.hydra.runtime.config_sources, conf_dirs()
        found = [Path(each.path) for each in sources if each.schema == "file"]
        return [folder for folder in found if folder not in known]

    def _sweep(self) -> str:
        run, hydra = self.whole.run, self.whole.hydra
        base = base_name(self.experiment, self.whole.data.name, self.whole.task.name)
        # It is unknown which overrides another package's sweeper varies.
        unknown = hydra.mode == RunMode.MULTIRUN and "swept" not in hydra.sweeper
        if run.sweep is not None or run.job or unknown:  # a named job stays in the plain folder
            return base if run.sweep is None else str(run.sweep)
        fixed = not_swept(self.overrides)
        return sweep_name(base, [word for word in fixed if key_of(word) not in self.swept])

    def sweep_path(self) -> Path:
        """Name the sweep's folder."""
        return Path(self.whole.paths.runs) / self._sweep()

    def job(self) -> str:
        """Name the run's folder in the sweep's, by what can change its result."""
        path = run_path(self._resolved, self.overrides, self.swept)
        return os.path.relpath(path, self.sweep_path())

    def place(self) -> Path:
        """Name the folder of a sweep's job, as `hydra.sweep` says."""
        sweep = self.whole.hydra.sweep
        with open_dict(self.whole.hydra):  # Hydra need not ask again
            sweep.dir, sweep.subdir = str(sweep.dir), str(sweep.subdir)
        place = Path(os.path.normpath(Path(sweep.dir, sweep.subdir)))
        return place.absolute() if self.whole.hydra.job.chdir else place


def compose(overrides: Sequence[str]) -> Config:
    """Compose the configuration of one run from overrides such as `["data=chronicle", "head=ess"]`.

    Raises:
        ConfigError: an override that does not fit, a value out of range, or a sweep.
    """
    with opened(overrides) as (_, whole):
        if whole is None or whole.hydra.mode == RunMode.MULTIRUN:
            raise ConfigError(
                f"{' '.join(overrides)}: this is not one run; leave out -m, --cfg, lists of values"
            )
    return Composition(whole).resolved()


@contextmanager
def opened(arguments: Sequence[str]) -> Iterator[tuple[Hydra, DictConfig | None]]:
    """Compose a run, or what the jobs of a sweep share; None if flags such as `--cfg` only print.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    flags = read_flags(arguments)
    name = flags.config_name or "train"
    with open_hydra(name, flags.folders) as hydra, explained(flags.overrides):
        yield hydra, None if shown(hydra, flags, name) else composed(hydra, flags, name)


def _check_length(config: Config, overrides: Sequence[str]) -> None:
    """Say that typed epochs have no effect where steps decide."""
    typed, steps = set(map(key_of, overrides)), config.trainer.max_steps
    if steps is not None and "trainer.max_epochs" in typed and "trainer.max_steps" not in typed:
        say(f"trainer.max_epochs has no effect beside trainer.max_steps={steps}; set it to null")


def _changed_data(name: str, changes: Any) -> Any:
    """Read a data set's YAML with changes, as `others` may have it."""
    return OmegaConf.merge(data_values(data_set_file(name)), changes)


_schema = OmegaConf.structured(Config)
# `resolve` says which further keys they may have.
for _part in (_schema, _schema.trainer, _schema.task, _schema.baseline):
    OmegaConf.set_struct(_part, False)
ConfigStore.instance().store(name="schema", node=_schema)
OmegaConf.register_new_resolver("heron.data", _changed_data, replace=True)
OmegaConf.register_new_resolver("heron.cache", lambda: str(default_cache_dir()), replace=True)
OmegaConf.register_new_resolver(
    "heron.sweep_dir", lambda _root_: str(Composition.of(_root_).sweep_path()), replace=True
)
OmegaConf.register_new_resolver(
    "heron.job", lambda _root_: Composition.of(_root_).job(), replace=True
)
