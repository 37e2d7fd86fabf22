"""Hydra, with heron's error messages: compose `conf/`, run one job or a sweep of them."""

from __future__ import annotations

import copy
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from hydra import compose as compose_with_hydra
from hydra import initialize_config_dir
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.folders import add_forks, conf_dir, conf_dirs, config_groups, data_sets
from heron.base.yaml_files import read_yaml
from heron.config.checks import resolve, resolve_stages
from heron.config.data import read_config
from heron.config.override_errors import explain
from heron.config.overrides import readable, stands_for
from heron.config.run_names import base_name, sweep_name
from heron.config.schema import Config
from heron.config.space import Dimension, Point, dimension, draws, grid
from heron.config.tasks import TASKS


@dataclass(frozen=True, slots=True)
class Composition:
    """One composed job.

    Args:
        config: the configuration without Hydra's own keys.
        overrides: the words that led to it, a sweep's values filled in.
        choices: the option chosen in each group.
        folders: where the command line adds YAML (`--config-dir`, `hydra.searchpath`).
        search: composes the other points of a space that is searched as results come in; None
            where every job is known from the start.
        typed: what the user typed for all jobs of the command, sweeps as they are.
    """

    config: DictConfig
    overrides: list[str]
    choices: dict[str, Any]
    folders: Sequence[Path] = ()
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
            # A job that has a name stays in the plain folder.
            config.run.sweep = base if config.run.job else sweep_name(base, _fixed(self.typed))
        if self.folders:
            # A job may run in another process, which was not told where to look.
            named = {*config.also_test, *(stage.data for stage in resolve_stages(config))}
            added = data_sets(self.folders).items() - data_sets().items()
            config.others |= {name: read_config(path) for name, path in added if name in named}
        return config


class Composer:
    """Composes the jobs of a sweep, here or in another process (it can be pickled).

    Hydra takes half a second for a composition. Jobs differ in few plain keys, so each choice of
    groups is composed once, and the keys are set in copies of it.

    Args:
        name: the primary config.
        rows: what was typed, in order: plain words, and a dimension for each swept key.
        folders: where the command line adds YAML.
        typed: the words that the rows were read from.
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[str | Dimension],
        folders: Sequence[Path] = (),
        typed: Sequence[str] = (),
    ):
        self.name, self.rows, self.typed = name, list(rows), list(typed)
        self.folders, self.groups = tuple(folders), config_groups(folders)
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    @property
    def space(self) -> list[Dimension]:
        """The swept keys."""
        return [row for row in self.rows if isinstance(row, Dimension)]

    def compose(self, point: Point) -> Composition:
        """Compose one point of the space.

        Args:
            point: a value for each key of `space`.

        Raises:
            ConfigError: a value that does not fit.
        """
        words = self.words(point)
        if not GlobalHydra.instance().is_initialized():
            with _hydra(self.name, self.folders), _explained(words, self.folders):
                return self.compose(point)
        config = copy.deepcopy(self.base(point))
        plain = [word for word in words if word not in self._base_words(point)]
        for override in OverridesParser.create().parse_overrides(plain):
            OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
        return _composition(config, words, self.folders, self.typed)

    def words(self, point: Point) -> list[str]:
        """Write out what one job's command line would be."""
        values = iter(point)
        return [row if isinstance(row, str) else f"{row.key}={next(values)}" for row in self.rows]

    def base(self, point: Point) -> DictConfig:
        """Compose all but the swept plain keys."""
        words = self._base_words(point)
        if words not in self._bases:
            self._bases[words] = _compose(self.name, words)
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
    parser = _flag_parser()
    # Intermixed: overrides may stand on both sides of a flag, `data=trc -m head=ess,emp`.
    arguments_, unknown = parser.parse_known_intermixed_args(list(arguments))
    if flags := [word for word in unknown if word.startswith("-")]:
        known = [flag for names in (*_FLAGS, *_REFUSED_FLAGS) for flag in names.split()]
        raise ConfigError(f"unknown flag {flags[0]}.{nearest(flags[0], known)}")
    for names, instead in _REFUSED_FLAGS.items():
        flag = names.split()[0]
        if getattr(arguments_, flag.strip("-").replace("-", "_")) is not None:
            raise ConfigError(f"{flag}: {instead}")
    typed = [readable(word) for word in arguments_.overrides]
    folders, words = search_path(typed, arguments_.config_dir)
    if not arguments_.cfg and arguments_.info is None:
        words = unfold(words, folders)
    overrides = follow_the_data(spell_out_encoder(words, folders), folders)
    jobs: list[Composition] = []
    with _hydra(name, folders) as hydra, _explained(overrides, folders):
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
        else:
            jobs = list(_compose_all(name, overrides, arguments_.multirun, folders))
    for composition in jobs:
        job(composition)


# Hydra's flags that heron takes: names, and what argparse makes of them.
_FLAGS: dict[str, dict[str, Any]] = {
    "--multirun -m": {"action": "store_true"},
    "--cfg -c": {"choices": ["job", "hydra", "all"]},
    "--resolve": {"action": "store_true"},
    "--package -p": {},
    "--run -r": {"action": "store_true"},
    "--config-dir -cd": {},
    "--info -i": {"const": "all", "nargs": "?"},
}
# Flags and keys of Hydra that would be ignored or break heron, and what is meant to be typed.
_REFUSED_FLAGS = {
    "--config-name -cn": "heron's primary configuration is conf/train.yaml; settings of "
    "your own are an experiment, DIR/experiment/NAME.yaml: --config-dir DIR experiment=NAME",
    "--config-path -cp": "heron needs its own conf/; --config-dir DIR adds a folder to it",
    "--experimental-rerun": "run.from=DIR repeats a run",
    "--hydra-help": "`heron train --help` and `heron options` say what there is",
    "--shell-completion -sc": "heron has none",
}
_RUN_FOLDERS = "heron names run folders by paths.runs=DIR, run.sweep=NAME and run.job=NAME"
_INSTEAD = {
    "hydra.run": _RUN_FOLDERS,
    "hydra.sweep": _RUN_FOLDERS,
    "hydra.launcher": "jobs are sent elsewhere by launcher=NAME",
    "hydra.sweeper": "jobs are chosen by sweeper=NAME",
}
_KNOWN_TO_HYDRA = ("hydra.mode", "hydra.sweeper.params")


def _flag_parser() -> ArgumentParser:
    parser = ArgumentParser(prog="heron train", add_help=False)
    parser.add_argument("overrides", nargs="*")
    for names, options in _FLAGS.items():
        parser.add_argument(*names.split(), **options)
    for names in _REFUSED_FLAGS:
        parser.add_argument(*names.split(), nargs="?", const="")
    return parser


def search_path(words: Sequence[str], added: str | None = None) -> tuple[list[Path], list[str]]:
    """Separate the words that name folders of YAML from the other overrides.

    Args:
        words: overrides; `hydra.searchpath=[DIR,...]` names folders that are laid out as `conf/`.
        added: what `--config-dir` names.

    Returns:
        The folders, and the other words.

    Raises:
        ConfigError: no such folder, or a key of Hydra's that heron does not use.
    """
    folders, others = [("--config-dir", added)] if added else [], []
    for word in words:
        key, value = _key(word).replace("/", "."), word.partition("=")[2]
        if key == "hydra.searchpath":
            folders += [(key, each.strip(" '\"")) for each in value.strip("[]").split(",")]
        elif key.startswith("hydra.") and not any(stands_for(own, key) for own in _KNOWN_TO_HYDRA):
            part = ".".join(key.split(".")[:2])
            raise ConfigError(f"{word}: {_INSTEAD.get(part, 'heron does not use it')}")
        else:
            others.append(word)
    found = []
    for key, name in folders:
        path = Path(name.removeprefix("file://")).expanduser().absolute()
        if not path.is_dir():
            raise ConfigError(
                f"{key}: no folder {name or path}; name one that is laid out as conf/, with "
                "data/NAME.yaml or experiment/NAME.yaml"
            )
        found.append(path)
    add_forks(found)
    return found, others


# Hub ids without an owner's name: those of the models that were there before owners were.
_OLD_HUB_ID = re.compile(
    r"(xlm-roberta|(distil)?(bert|roberta)|camembert|albert|xlnet|t5)"
    r"-(base|small|large|xlarge|xxlarge|3b|11b)(-[a-z0-9-]+)?|(distil)?gpt2(-medium|-large|-xl)?"
)


def spell_out_encoder(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Let `encoder=<folder or hub id>` stand for `encoder=pretrained encoder.name=<...>`.

    An option of `conf/encoder` comes first. Folders and hub ids have a slash; without one, a folder
    that holds a model, an id in the local hub cache and the hub's old ids count.

    Raises:
        ConfigError: a sweep over options and models together, which are values of two keys.
    """
    words = []
    for override in overrides:
        key, _, value = override.partition("=")
        values = value.split(",")
        models = [each for each in values if _is_model(each, folders)] if key == "encoder" else []
        if models and len(models) < len(values):
            option = next(each for each in values if each not in models)
            raise ConfigError(
                f"{override}: {option} is an option of conf/encoder, {models[0]} a hub id or "
                "folder, and one sweep cannot have both; take hub ids or folders alone"
            )
        words += ["encoder=pretrained", f"encoder.name={value}"] if models else [override]
    return words


def _is_model(name: str, folders: Sequence[Path]) -> bool:
    """Tell whether `encoder=name` is a folder or hub id; an option of `conf/encoder` is neither."""
    if not name or name[0] in "{[":
        return False
    if "/" in name:
        return True
    if any((conf / "encoder" / f"{name}.yaml").is_file() for conf in conf_dirs(folders)):
        return False
    if _OLD_HUB_ID.fullmatch(name) or (Path(name) / "config.json").is_file():
        return True
    from huggingface_hub import constants  # not above: it takes a moment, and few names come here

    cached = Path(constants.HF_HUB_CACHE) / f"models--{name}"
    return bool(re.fullmatch(r"[\w.-]+", name)) and cached.is_dir()


def unfold(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Write out an experiment whose sweep is a list of other experiments, such as a paper's table.

    Hydra cannot sweep over a group that the command line has chosen.
    """
    name = dict(override.partition("=")[::2] for override in overrides).get("experiment", "")
    files = [folder / "experiment" / f"{name}.yaml" for folder in conf_dirs(folders)]
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


def follow_the_data(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Let `data=<name>` choose the task that its YAML names, and a head that fits.

    An experiment chooses for itself, and so does whoever names `task=` or `head=`.
    """
    named = dict(override.partition("=")[::2] for override in overrides)
    if "data" not in named or {"task", "experiment"} & named.keys():
        return list(overrides)
    tasks = {data_task(name, folders) for name in named["data"].split(",")} - {None}
    if len(tasks) != 1:
        return list(overrides)  # an unknown data set, or two tasks at once: said further on
    (task,) = tasks
    chosen = {"task": str(task)}
    if "none" in named.get("baseline", "none").split(","):
        chosen["head"] = TASKS[str(task)].head
    return [*(f"{key}={value}" for key, value in chosen.items() if key not in named), *overrides]


def data_task(name: str, folders: Sequence[Path] = ()) -> str | None:
    """Read which task a data set of `conf/data` or of a fork is for; None where there is none.

    Raises:
        ConfigError: its YAML names a task that heron does not have.
    """
    path = data_sets(folders).get(name)
    if path is None:
        return None
    values = read_yaml(path)
    task = str(values.get("task", "relation")) if isinstance(values, dict) else "relation"
    if task not in TASKS:
        raise ConfigError(f"{path}: task: {task}: no such task.{nearest(task, TASKS)}")
    return task


def own_words(overrides: Sequence[str]) -> list[str]:
    """Leave out what says which jobs there are and where they run: no setting of a single job."""
    return [word for word in overrides if _key(word).split(".")[0] not in ("sweeper", "launcher")]


def _compose_all(
    name: str, overrides: Sequence[str], multirun: bool, folders: Sequence[Path]
) -> Iterator[Composition]:
    """Compose every job of a run or a sweep, in the order in which Hydra would start them."""
    sweep = Composer(name, _expand(overrides), folders, overrides)
    _refuse_mappings(overrides, sweep.groups)
    config = sweep.base(tuple(each.first for each in sweep.space))
    if not (multirun or config.hydra.mode == RunMode.MULTIRUN):
        if typed := [word for word in overrides if _key(word).split(".")[0] == "sweeper"]:
            raise ConfigError(f"{typed[0]}: chooses the jobs of a sweep; add -m")
        if sweep.space:
            # A comma without -m is Hydra's to complain about.
            config = _compose(name, overrides)
        yield _composition(config, overrides, folders, overrides)
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
            yield from _compose_all(name, words, True, folders)
        return
    named = {_key(override) for override in overrides}
    params = config.hydra.sweeper.get("params") or {}
    words = [*(f"{k}={v}" for k, v in params.items() if k not in named), *overrides]
    sweep.rows = _expand(words)
    yield from _points(sweep, config)


def _refuse_mappings(overrides: Sequence[str], groups: set[str]) -> None:
    """Refuse `head={name: x}`: Hydra would lay it over the option that is chosen anyway."""
    for word in overrides:
        key, value = _key(word), word.partition("=")[2].strip()
        if key in groups and value.startswith("{"):
            raise ConfigError(
                f"{word}: {key} is a group: {key}=NAME chooses an option, and its keys are set one "
                f"by one, {key}.KEY=VALUE"
            )


def _points(sweep: Composer, config: DictConfig) -> Iterator[Composition]:
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
        yield replace(sweep.compose(first), search=sweep)
        return
    drawn = sweeper.name == "random"
    if drawn and sweeper.trials < 1:
        raise ConfigError(f"sweeper.trials={sweeper.trials}: must be at least 1")
    points = draws(sweep.space, sweeper.trials, sweeper.seed) if drawn else grid(sweep.space)
    for point in points:
        yield sweep.compose(point)


def _compose(name: str, overrides: Sequence[str]) -> DictConfig:
    return compose_with_hydra(name, list(overrides), return_hydra_config=True)


def _expand(overrides: Sequence[str]) -> list[str | Dimension]:
    """Read what is swept in each override; of two on one key the later counts, as in Hydra."""
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    parsed = parser.parse_overrides(list(overrides))
    rows = {each.get_key_element(): each for each in parsed}.values()
    return [dimension(each) if each.is_sweep_override() else str(each.input_line) for each in rows]


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0].partition("@")[0]


def _fixed(typed: Sequence[str]) -> list[str]:
    """Leave out what a command sweeps over."""
    parsed = OverridesParser.create().parse_overrides(list(typed))
    return [str(each.input_line) for each in parsed if not each.is_sweep_override()]


def _composition(
    config: DictConfig,
    overrides: Sequence[str],
    folders: Sequence[Path],
    typed: Sequence[str],
) -> Composition:
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    words = [word for word in overrides if not word.startswith("hydra.")]
    return Composition(config, words, choices, folders, typed=typed)


class _Folders(SearchPathPlugin):
    """Adds the folders of forks and of the command line to where Hydra looks for YAML."""

    # Of the class, because Hydra makes the instance; set for the length of one composition.
    added: ClassVar[Sequence[Path]] = ()

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append each folder, named by the fork it is of."""
        for folder in self.added:
            search_path.append(provider=folder.parent.name, path=f"file://{folder}")


@contextmanager
def _hydra(name: str, folders: Sequence[Path] = ()) -> Iterator[Any]:
    """Set Hydra up to compose; there is one in a process."""
    GlobalHydra.instance().clear()
    if "schema.yaml" not in ConfigStore.instance().repo:
        ConfigStore.instance().store(name="schema", node=Config)
    Plugins.instance().register(_Folders)
    _Folders.added = conf_dirs(folders)[1:]
    try:
        with initialize_config_dir(str(conf_dir()), job_name=name, version_base=None):
            yield GlobalHydra.instance().hydra
    finally:
        GlobalHydra.instance().clear()


@contextmanager
def _explained(overrides: Sequence[str], folders: Sequence[Path]) -> Iterator[None]:
    """Turn Hydra's complaints into heron's: what is wrong, and what was probably meant."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, AssertionError, ValueError) as error:
        raise ConfigError(explain(overrides, error, folders)) from error
