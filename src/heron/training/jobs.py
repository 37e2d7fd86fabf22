"""The jobs of a sweep: a grid's overrides, and each job's configuration from one composition."""

import pickle
from collections.abc import Sequence
from itertools import product

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from heron.config.compose import typed_words
from heron.config.words import key_of, not_swept
from heron.training.run_names import sweep_name


class JobComposer:
    """Composes the jobs of a sweep as Hydra's `load_sweep_config` would.

    That takes a fifth of a second. Jobs differ in few plain keys, so each choice of groups is
    composed once, and the keys are set in copies of it.
    """

    def __init__(self, loader: ConfigLoader, master: DictConfig, jobs: Sequence[Sequence[str]]):
        self.loader, self.master = loader, master
        self._common = set(jobs[0]).intersection(*jobs) if jobs else set[str]()
        # Hydra writes this one from all words.
        self._whole = "override_dirname}" in OmegaConf.to_yaml(master)
        self._groups = set(loader.list_groups(""))
        self._parser = OverridesParser.create(loader)
        self._bases: dict[tuple[str, ...], bytes] = {}

    def __call__(self, words: Sequence[str]) -> DictConfig:
        """Compose one job from its overrides."""
        own = [] if self._whole else [word for word in words if word not in self._common]
        plain = [word for word in own if self._is_plain(word)]
        base = tuple(word for word in words if word not in plain)
        if base not in self._bases:
            composed = self.loader.load_sweep_config(self.master, list(base))
            self._bases[base] = pickle.dumps(composed)
        config: DictConfig = pickle.loads(self._bases[base])  # much faster than a deep copy
        ConfigLoaderImpl._apply_overrides_to_config(self._parser.parse_overrides(plain), config)
        with open_dict(config.hydra):
            config.hydra.overrides.task = [word for word in words if word[:6] != "hydra."]
        return config

    def _is_plain(self, word: str) -> bool:
        key = word.partition("=")[0]
        return key[0].isalpha() and "/" not in key and key not in self._groups


def grid(loader: ConfigLoader, master: DictConfig) -> tuple[list[list[str]], DictConfig]:
    """List the overrides of a sweep's jobs, in the order of Hydra's own sweeper.

    What Hydra cannot: an experiment may sweep over other experiments (a paper's table), and each
    experiment of several brings its own grid.

    Returns:
        The jobs, and the shared configuration, in which `hydra.sweeper.swept` lists what varies.
    """
    jobs: list[list[str]] = []
    swept: dict[str, None] = {}
    _add(loader, master, typed_words(master), jobs, swept)
    with open_dict(master.hydra):
        master.hydra.sweeper.swept = list(swept)
    master.hydra.overrides.hydra.append(f"++hydra.sweeper.swept=[{','.join(swept)}]")
    return jobs, master


def _add(
    loader: ConfigLoader,
    master: DictConfig,
    typed: list[str],
    jobs: list[list[str]],
    swept: dict[str, None],
) -> None:
    parser = OverridesParser.create(loader)
    params = {key: str(value) for key, value in (master.hydra.sweeper.params or {}).items()}
    if "experiment" in params:
        typed, params = _unfolded(master, typed, params), {}
    rows = parser.parse_overrides(typed)
    several = {each.key_or_group: _values(each) for each in rows if each.is_sweep_override()}
    experiments = several.get("experiment", [])
    if len(experiments) > 1:
        swept["experiment"] = None
        for name in experiments:
            one = [f"experiment={name}" if key_of(w) == "experiment" else w for w in typed]
            words = [*master.hydra.overrides.hydra, *one]
            config = loader.load_configuration(
                master.hydra.job.config_name, words, RunMode.MULTIRUN
            )
            _add(loader, config, one, jobs, swept)
        return
    named = set(map(key_of, typed))
    added = [f"{key}={value}" for key, value in params.items() if key not in named]
    swept |= dict.fromkeys(map(key_of, added)) | dict.fromkeys(several)
    every = {each.get_key_element(): each for each in parser.parse_overrides([*added, *typed])}
    jobs += map(list, product(*(_words(key, each) for key, each in every.items())))


def _unfolded(master: DictConfig, typed: list[str], params: dict[str, str]) -> list[str]:
    """Write out a table of experiments: its sweep, its name and its report for each of them."""
    name = str(master.hydra.runtime.choices["experiment"])
    others = [word for word in typed if key_of(word) != "experiment"]
    words = {
        "experiment": "",
        "report": str(master.report or "null"),
        **params,
        "run.sweep": f"'{sweep_name(name.replace('/', '-'), not_swept(others))}'",
    }
    named = set(map(key_of, others))
    return [*(f"{key}={value}" for key, value in words.items() if key not in named), *others]


def _words(key: str, override: Override) -> list[str]:
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise HydraException(
            f"{override.input_line}: a grid has no intervals; hydra/sweeper=optuna"
        )
    return [f"{key}={value}" for value in override.sweep_string_iterator()]


def _values(override: Override) -> list[str]:
    return list(override.sweep_string_iterator()) if override.is_discrete_sweep() else []
