"""A run's configuration, composed by Hydra, and the folders that it names."""

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

    # Hydra resolves the folders of a job several times, each time from its configuration.
    _last: ClassVar[Composition | None] = None

    def __init__(self, whole: DictConfig):
        self.whole = whole
        Composition._last = self

    @classmethod
    def of(cls, whole: DictConfig) -> Composition:
        """Return the composition of a configuration; the last one is reused."""
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
        """The keys that the sweep varies; empty where its sweeper does not list them."""
        return tuple(self.whole.hydra.sweeper.get("swept") or ())

    def resolved(self) -> Config:
        """Check the configuration and give it its types."""
        config = copy.deepcopy(self._resolved)
        if self.whole.hydra.job.chdir:  # relative paths are relative to the folder of the command
            working_folder = self.whole.hydra.runtime.cwd
            for name, path in vars(config.paths).items():
                setattr(config.paths, name, str(Path(working_folder, path)))
            if config.ckpt_path:
                config.ckpt_path = str(Path(working_folder, config.ckpt_path))

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
            used = {*config.also_test, *(stage.data for stage in config.read_stages())}
            for name, path in data_sets(folders).items() - data_sets().items():
                if name in used:
                    config.others[name] = read_config(path)

        return config

    def _folders(self) -> list[Path]:
        """List the folders that the command line adds to Hydra's search path."""
        known = conf_dirs()
        folders = []
        for source in self.whole.hydra.runtime.config_sources:
            folder = Path(source.path)
            if source.schema == "file" and folder not in known:
                folders.append(folder)
        return folders

    def _sweep(self) -> str:
        """Name the sweep's folder under `paths.runs`."""
        run = self.whole.run
        hydra = self.whole.hydra
        if run.sweep is not None:
            return str(run.sweep)

        base = base_name(self.experiment, self.whole.data.name, self.whole.task.name)
        # It is unknown which overrides another package's sweeper varies.
        is_unknown = hydra.mode == RunMode.MULTIRUN and "swept" not in hydra.sweeper
        if run.job or is_unknown:  # a named job stays in the plain folder
            return base

        fixed = [word for word in not_swept(self.overrides) if key_of(word) not in self.swept]
        return sweep_name(base, fixed)

    def sweep_path(self) -> Path:
        """Name the sweep's folder."""
        return Path(self.whole.paths.runs) / self._sweep()

    def job(self) -> str:
        """Name the run's folder, relative to the sweep's, by what can change its result."""
        path = run_path(self._resolved, self.overrides, self.swept)
        return os.path.relpath(path, self.sweep_path())

    def place(self) -> Path:
        """Name the folder of a sweep's job, as `hydra.sweep` says."""
        hydra = self.whole.hydra
        with open_dict(hydra):  # resolve both once
            hydra.sweep.dir = str(hydra.sweep.dir)
            hydra.sweep.subdir = str(hydra.sweep.subdir)
        folder = Path(os.path.normpath(Path(hydra.sweep.dir, hydra.sweep.subdir)))
        return folder.absolute() if hydra.job.chdir else folder


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
    """Say that overridden epochs have no effect where steps decide."""
    steps = config.trainer.max_steps
    keys = [key_of(word) for word in overrides]
    if steps is not None and "trainer.max_epochs" in keys and "trainer.max_steps" not in keys:
        say(f"trainer.max_epochs has no effect beside trainer.max_steps={steps}; set it to null")


def _changed_data(name: str, changes: Any) -> Any:
    """Read a data set's YAML with changes, as `others` may have it."""
    return OmegaConf.merge(data_values(data_set_file(name)), changes)


_schema = OmegaConf.structured(Config)
# `resolve` says which further keys they may have.
for _open in (_schema, _schema.trainer, _schema.task, _schema.baseline):
    OmegaConf.set_struct(_open, False)
ConfigStore.instance().store(name="schema", node=_schema)
OmegaConf.register_new_resolver("heron.data", _changed_data, replace=True)
OmegaConf.register_new_resolver("heron.cache", lambda: str(default_cache_dir()), replace=True)
OmegaConf.register_new_resolver(
    "heron.sweep_dir", lambda _root_: str(Composition.of(_root_).sweep_path()), replace=True
)
OmegaConf.register_new_resolver(
    "heron.job", lambda _root_: Composition.of(_root_).job(), replace=True
)
