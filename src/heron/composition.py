"""Hydra, with heron's error messages: compose `conf/`, run one job or a sweep of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path, get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from heron.config import resolve
from heron.config_dir import conf_dir, conf_dirs, data_sets
from heron.errors import ConfigError, nearest
from heron.override_errors import explain
from heron.runtime.run_folder import base_name, sweep_name
from heron.schema import Config
from heron.space import Dimension, Point, dimension, draws, grid


@dataclass(frozen=True, slots=True)
class Composition:
    """One composed job.

    Args:
        config: the configuration without Hydra's own keys.
        overrides: the words that led to it, a sweep's values filled in.
        choices: the option chosen in each group.
        search: composes the other points of a space that is searched as results come in; None
            where every job is known from the start.
        typed: what the user typed for all jobs of the command, sweeps as they are.
    """

    config: DictConfig
    overrides: list[str]
    choices: dict[str, Any]
    search: Composer | None = None
    typed: Sequence[str] = ()

    def resolved(self) -> Config:
        """Check the configuration and give it its types.

        Raises:
            ConfigError: a value out of range, or values that do not go together.
        """
        config = resolve(self.config)
        config.experiment = self.choices.get("experiment")
        if config.run.sweep is None:
            base = base_name(config)
            # Whoever names a job says where it goes.
            config.run.sweep = base if config.run.job else sweep_name(base, _fixed(self.typed))
        return config


class Composer:
    """Composes the jobs of a sweep, here or in another process (it can be pickled).

    Hydra takes half a second for a composition. Jobs differ in few plain keys, so each choice of
    groups is composed once, and the keys are set in copies of it.

    Args:
        name: the primary config.
        rows: what was typed, in order: plain words, and a dimension for each swept key.
        groups: the config groups.
        typed: the words that the rows were read from.
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[str | Dimension],
        groups: set[str],
        typed: Sequence[str] = (),
    ):
        self.name, self.rows, self.groups, self.typed = name, list(rows), groups, list(typed)
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    @property
    def space(self) -> list[Dimension]:
        """The swept keys."""
        return [row for row in self.rows if isinstance(row, Dimension)]

    def compose(self, point: Point, hydra: Hydra | None = None) -> Composition:
        """Compose one point of the space.

        Args:
            point: a value for each key of `space`.
            hydra: set up for `name`, where it is at hand.

        Raises:
            ConfigError: a value that does not fit.
        """
        words = self.words(point)
        if hydra is None:
            with _hydra(self.name) as hydra, _explained(hydra, self.name, words):
                return self.compose(point, hydra)
        config = copy.deepcopy(self.base(point, hydra))
        plain = [word for word in words if word not in self._base_words(point)]
        for override in OverridesParser.create().parse_overrides(plain):
            OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
        return _composition(config, words, self.typed)

    def words(self, point: Point) -> list[str]:
        """Write out what one job's command line would be."""
        values = iter(point)
        return [row if isinstance(row, str) else f"{row.key}={next(values)}" for row in self.rows]

    def base(self, point: Point, hydra: Hydra) -> DictConfig:
        """Compose all but the swept plain keys."""
        words = self._base_words(point)
        if words not in self._bases:
            self._bases[words] = _compose(hydra, self.name, words)
        return self._bases[words]

    def _base_words(self, point: Point) -> tuple[str, ...]:
        """Leave out a job's swept plain keys, which are set in a copy of what others compose to."""
        rows = zip(self.rows, self.words(point), strict=True)
        return tuple(
            word
            for row, word in rows
            if isinstance(row, str) or _key(word) in self.groups or word[0] == "+"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What was composed may hold secrets from the environment; it is composed again.
        return {**self.__dict__, "_bases": {}}


def compose(overrides: Sequence[str]) -> Config:
    """Compose the configuration of one run from Python, as `heron train` does from its words.

    Args:
        overrides: as on the command line, such as `["data=chronicle", "head=ess"]`.

    Raises:
        ConfigError: an override that does not fit, a value out of range, or a sweep.
    """
    found: list[Composition] = []
    compose_and_run("train", overrides, found.append)
    if len(found) != 1 or found[0].search is not None:
        raise ConfigError(
            f"{' '.join(overrides)}: not the words of one run; leave out -m, --cfg, lists of values"
        )
    return found[0].resolved()


def compose_and_run(name: str, arguments: Sequence[str], job: Callable[[Composition], Any]) -> None:
    """Do what Hydra's command line would: run, sweep (-m) or show (--cfg, --info) a config.

    Args:
        name: the primary config, `conf/<name>.yaml`.
        arguments: overrides and Hydra's flags.
        job: called once per job.

    Raises:
        ConfigError: an override that does not fit; names the nearest key, group or option.
    """
    parser = get_args_parser()
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    arguments_, unknown = parser.parse_known_intermixed_args(list(arguments))
    flags = [word for word in unknown if word.startswith("-")]
    if flags:
        options = [o for action in parser._actions for o in action.option_strings]
        raise ConfigError(f"unknown flag {flags[0]}.{nearest(flags[0], options)}")
    shows = arguments_.cfg or arguments_.hydra_help or arguments_.shell_completion
    words = arguments_.overrides
    if not shows and arguments_.info is None:
        words = unfold(words)
    overrides = follow_the_data(spell_out_encoder(words))
    jobs: list[Composition] = []
    with _hydra(name) as hydra, _explained(hydra, name, overrides):
        if arguments_.cfg:
            hydra.show_cfg(
                name,
                overrides,
                arguments_.cfg,
                package=arguments_.package,
                resolve=arguments_.resolve,
            )
        elif arguments_.info is not None:
            hydra.show_info(arguments_.info, config_name=name, overrides=overrides)
        elif arguments_.hydra_help:
            hydra.hydra_help(config_name=name, args_parser=parser, args=arguments_)
        elif arguments_.shell_completion:
            hydra.shell_completion(config_name=name, overrides=overrides)
        else:
            jobs = list(_compose_all(hydra, name, overrides, arguments_.multirun))
    for composition in jobs:
        job(composition)


def spell_out_encoder(overrides: Sequence[str]) -> list[str]:
    """Let `encoder=<folder or hub id>` stand for `encoder=pretrained encoder.name=<...>`.

    The options in `conf/encoder` have no slash in their names; folders and hub ids have.
    """
    words = []
    for override in overrides:
        key, _, value = override.partition("=")
        if key == "encoder" and "/" in value:
            words += ["encoder=pretrained", f"encoder.name={value}"]
        else:
            words.append(override)
    return words


def unfold(overrides: Sequence[str]) -> list[str]:
    """Write out an experiment whose sweep is a list of other experiments, such as a paper's table.

    Hydra cannot sweep over a group that the command line has chosen.
    """
    name = dict(override.partition("=")[::2] for override in overrides).get("experiment", "")
    files = [folder / "experiment" / f"{name}.yaml" for folder in conf_dirs()]
    path = next((file for file in files if name and file.is_file()), None)
    listed = OmegaConf.load(path) if path else OmegaConf.create()
    params = OmegaConf.select(listed, "hydra.sweeper.params") or {}
    if "experiment" not in params:
        return list(overrides)
    named = {_key(override) for override in overrides if not override.startswith("experiment=")}
    report = OmegaConf.select(listed, "report") or "null"
    swept = {"experiment": "", "report": report, **params}
    sweep = sweep_name(name.replace("/", "-"), _fixed(overrides))
    swept |= {"hydra.mode": "MULTIRUN", "run.sweep": f"'{sweep}'"}
    added = [f"{key}={value}" for key, value in swept.items() if key not in named]
    return [*added, *(o for o in overrides if not o.startswith("experiment="))]


# The head that a task begins with where the command line names none.
_HEADS = {"relation": "ess", "nli": "mlp3", "qa": "span", "summarization": "warm_start"}


def follow_the_data(overrides: Sequence[str]) -> list[str]:
    """Let `data=<name>` choose the task that its YAML names, and a head that fits.

    An experiment chooses for itself, and so does whoever names `task=` or `head=`.
    """
    named = dict(override.partition("=")[::2] for override in overrides)
    if "data" not in named or {"task", "experiment"} & named.keys():
        return list(overrides)
    tasks = {data_task(name) for name in named["data"].split(",")} - {None}
    if len(tasks) != 1:
        return list(overrides)  # an unknown data set, or two tasks at once: said further on
    (task,) = tasks
    chosen = {"task": str(task)}
    if "none" in named.get("baseline", "none").split(","):
        chosen["head"] = _HEADS[str(task)]
    return [*(f"{key}={value}" for key, value in chosen.items() if key not in named), *overrides]


def data_task(name: str) -> str | None:
    """Read which task a data set of `conf/data` or of a fork is for; None where there is none."""
    path = data_sets().get(name)
    if path is None:
        return None
    return str(OmegaConf.select(OmegaConf.load(path), "task", default="relation"))


def own_words(overrides: Sequence[str]) -> list[str]:
    """Leave out what says which jobs there are and where they run: no setting of a single job."""
    return [word for word in overrides if _key(word).split(".")[0] not in ("sweeper", "launcher")]


def _compose_all(
    hydra: Hydra, name: str, overrides: Sequence[str], multirun: bool
) -> Iterator[Composition]:
    """Compose every job of a run or a sweep, in the order in which Hydra would start them."""
    # Hydra takes longer to list its groups than to compose a job.
    groups = {path.name for folder in conf_dirs() for path in folder.iterdir() if path.is_dir()}
    _refuse_mappings(overrides, groups)
    rows = _expand(hydra, overrides)
    sweep = Composer(name, rows, groups, overrides)
    config = sweep.base(tuple(each.first for each in sweep.space), hydra)
    if not (multirun or config.hydra.mode == RunMode.MULTIRUN):
        if typed := [word for word in overrides if _key(word).split(".")[0] == "sweeper"]:
            raise ConfigError(f"{typed[0]}: chooses the jobs of a sweep; add -m")
        if sweep.space:
            # A comma without -m is Hydra's to complain about.
            config = _compose(hydra, name, overrides)
        yield _composition(config, overrides, overrides)
        return
    experiments = next((each.values for each in sweep.space if each.key == "experiment"), ())
    if len(experiments) > 1:
        if config.sweeper.name != "grid":
            raise ConfigError(f"sweeper={config.sweeper.name} searches one experiment at a time")
        for experiment in experiments:
            # Each may carry a grid of its own, which is not the others'.
            words = [
                f"experiment={experiment}" if _key(o) == "experiment" else o for o in overrides
            ]
            yield from _compose_all(hydra, name, words, multirun=True)
        return
    named = {_key(override) for override in overrides}
    params = config.hydra.sweeper.get("params") or {}
    words = [*(f"{k}={v}" for k, v in params.items() if k not in named), *overrides]
    sweep.rows = _expand(hydra, words)
    yield from _points(hydra, sweep, config)


def _refuse_mappings(overrides: Sequence[str], groups: set[str]) -> None:
    """Refuse `head={name: x}`: Hydra would lay it over the option that is chosen anyway."""
    for word in overrides:
        key, value = _key(word), word.partition("=")[2].strip()
        if key in groups and value.startswith("{"):
            raise ConfigError(
                f"{word}: {key} is a group: {key}=NAME chooses an option, and its keys are set one "
                f"by one, {key}.KEY=VALUE"
            )


def _points(hydra: Hydra, sweep: Composer, config: DictConfig) -> Iterator[Composition]:
    """Compose the points that the sweeper tries, as far as they are known beforehand."""
    sweeper = config.sweeper
    if sweeper.name in ("random", "optuna") and not sweep.space:
        raise ConfigError(
            f"sweeper={sweeper.name} has nothing to choose from: give keys several values or an "
            "interval, such as 'optim.lr=tag(log,interval(1e-5,1e-3))'"
        )
    if sweeper.name == "optuna":
        # Not composed in advance: the other groups' options are, when they are chosen.
        first = tuple(each.first for each in sweep.space)
        yield replace(sweep.compose(first, hydra), search=sweep)
        return
    drawn = sweeper.name == "random"
    if drawn and sweeper.trials < 1:
        raise ConfigError(f"sweeper.trials={sweeper.trials}: must be at least 1")
    points = draws(sweep.space, sweeper.trials, sweeper.seed) if drawn else grid(sweep.space)
    for point in points:
        yield sweep.compose(point, hydra)


def _compose(hydra: Hydra, name: str, overrides: Sequence[str]) -> DictConfig:
    config: DictConfig = hydra.compose_config(
        name, list(overrides), run_mode=RunMode.RUN, with_log_configuration=False
    )
    return config


def _expand(hydra: Hydra, overrides: Sequence[str]) -> list[str | Dimension]:
    """Read what is swept in each override; of two on one key the later counts, as in Hydra."""
    parser = OverridesParser.create(config_loader=hydra.config_loader)
    parsed = parser.parse_overrides(list(overrides))
    rows = {each.get_key_element(): each for each in parsed}.values()
    return [dimension(each) if each.is_sweep_override() else str(each.input_line) for each in rows]


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0].partition("@")[0]


def _fixed(typed: Sequence[str]) -> list[str]:
    """Leave out what a command sweeps over."""
    parsed = OverridesParser.create().parse_overrides(list(typed))
    return [str(each.input_line) for each in parsed if not each.is_sweep_override()]


def _composition(config: DictConfig, overrides: Sequence[str], typed: Sequence[str]) -> Composition:
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    words = [o for o in overrides if not o.startswith("hydra.")]
    return Composition(config, words, choices, typed=typed)


@contextmanager
def _hydra(name: str) -> Iterator[Hydra]:
    GlobalHydra.instance().clear()
    ConfigStore.instance().store(name="schema", node=Config)
    search_path = create_config_search_path(str(conf_dir()))
    for fork in conf_dirs()[1:]:
        # Before the schema, which Hydra wants last.
        search_path.prepend(fork.parent.name, f"file://{fork}", SearchPathQuery(provider="schema"))
    try:
        yield Hydra.create_main_hydra2(task_name=name, config_search_path=search_path)
    finally:
        GlobalHydra.instance().clear()


@contextmanager
def _explained(hydra: Hydra, name: str, overrides: Sequence[str]) -> Iterator[None]:
    """Turn Hydra's complaints into heron's: what is wrong, and what was probably meant."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, AssertionError, ValueError) as error:
        raise ConfigError(explain(hydra, overrides, error)) from error
