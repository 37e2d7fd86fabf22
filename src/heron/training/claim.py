"""Run-folder ownership: configuration, data hashes, and checks before a run begins.

Light to import: a sweep's parent process claims every folder and trains in none.
"""

from dataclasses import asdict, replace
from pathlib import Path

from heron.base.errors import ConfigError, HeronError, nearest
from heron.base.files import fingerprint, remove_half_written, sha256_file
from heron.base.registry import on_demand
from heron.base.run_folder import HEAD, RunFolder, config_text
from heron.base.secrets import redacted
from heron.base.terminal import say
from heron.data.config import BUDGET
from heron.data.readers import every_set, load_with_report
from heron.data.sources import locate
from heron.models.config import OPEN, EncoderConfig
from heron.tasks import BASELINES
from heron.tasks.config import Config
from heron.tasks.task import task_of
from heron.training.run_names import check_paths, config_key, decisive, earlier_key

# Start-up time: only some runs need them, and the first loads torch.
identity = on_demand("heron.data.hub:identity")
has_accelerator = on_demand("heron.base.libraries:has_accelerator")
read_own = on_demand("heron.training.stored:read_own")
dynamics_sources = on_demand("heron.training.curriculum:dynamics_sources")
target_sources = on_demand("heron.tasks.teachers:target_sources")


class BusyError(ConfigError):
    """Another process is working on the run."""


def count_ranks(config: Config) -> int:
    """Count the processes that a run needs; a baseline always needs one."""
    settings = config.trainer
    return settings.devices * settings.num_nodes if config.baseline.name == "none" else 1


def check_job(config: Config, known: dict[str, HeronError | None], read: bool) -> None:
    """Check what can be checked before there is a run folder.

    With `read`, the data is read as a run does, not only looked for. Errors found in the data of
    earlier jobs are in `known`, by its settings; this job's is added.

    Raises:
        ConfigError: `trainer.monitor` is no score, this machine lacks `trainer.accelerator`, a
            folder of `paths` cannot be written to, or a data set cannot be used.
        DataError: files that are missing; with `read`, columns and rows that are wrong.
    """
    _check_monitor(config)
    name = config.trainer.accelerator
    trains = config.baseline.name == "none"
    if trains and name not in ("auto", "cpu") and not has_accelerator(name):
        raise ConfigError(
            f"trainer.accelerator={name}: this machine has none that torch can use; set "
            "trainer.accelerator=auto, which takes what there is"
        )
    check_paths(config)
    files = [each for each in every_set(config).values() if not each.generator]
    key = fingerprint(list(map(asdict, files)), config.paths.data, config.paths.cache)
    if key not in known:
        known[key], look = None, load_with_report if read else locate
        try:
            for each in files:
                look(each, Path(config.paths.data), Path(config.paths.cache))
        except HeronError as error:
            known[key] = error
    if found := known[key]:
        raise found


def claim(config: Config, folder: RunFolder) -> None:
    """Create the run folder, or make sure that the one there belongs to this configuration.

    Raises:
        ConfigError: `trainer.monitor` is no score, or the folder holds a run with another
            configuration; the message lists the differing keys.
    """
    _check_monitor(config)
    remove_half_written(folder.path.rglob(".*"))
    if not config.run.resume:
        folder.clear()
    if folder.last.is_file() and not folder.read_status():
        say(
            f"{folder.status} is missing or damaged: the run counts as cut and goes on from "
            f"{folder.last.name}; nothing says whether its data has changed since"
        )
    if folder.config.is_file():
        found = folder.config.read_text(encoding="utf-8", errors="replace")
        if found == config_text(config):
            return
        if not found.strip():
            if not folder.path.name.endswith((config_key(config), earlier_key(config))):
                raise ConfigError(
                    f"{folder.config} is empty, and the folder's name does not tell the run's "
                    "configuration. If it is this one, remove the file; run.resume=false starts "
                    "the run over"
                )
            say(
                f"{folder.config} was empty; written again, for the folder's name ends with its "
                "hash"
            )
        else:
            config = _check_same(read_own(folder.config), config, folder)
    folder.write_config(config)


def _check_same(before: Config, config: Config, folder: RunFolder) -> Config:
    """Refuse another configuration than before; returns `config` with the precision of before."""
    # The run that a curriculum learns from has no experiment's name.
    config.experiment = config.experiment or before.experiment
    if config.batching.tokens is None and before.batching.tokens == BUDGET:
        config.batching.tokens = BUDGET  # an earlier version's default
    own = before.trainer
    if own.precision in OPEN:  # an earlier version has written its choice to status.json alone
        own.precision = folder.read_status().get("precision", own.precision)
    if config.trainer.precision in OPEN and own.precision not in OPEN:
        config = replace(config, trainer=replace(config.trainer, precision=own.precision))
    # Secrets are not stored; configurations that differ in nothing else are the same run.
    found, wanted = redacted(decisive(before)), redacted(decisive(config))
    changed = [key for key in found | wanted if found.get(key) != wanted.get(key)]
    if changed:
        raise ConfigError(
            f"{folder.path} holds a run with another configuration: "
            + "; ".join(f"{key} was {found.get(key)}, now {wanted.get(key)}" for key in changed)
            + ". Name another run.job, or set run.resume=false to start it over"
        )
    return config


def source_hashes(config: Config) -> dict[str, str]:
    """Hash the files that a run is made from: data, and those of a local encoder or head.

    Returns:
        Hexadecimal SHA-256 by name, for `status.json`: `<split>` of the run's own data set,
        `<data set>.<split>` of its stages' and of those it is only tested on, `encoder`, `head`,
        `bertscore`, its `bertscore.baseline`, and keys that name runs or tables, such as
        `curriculum.dynamics`.
    """
    data_dir, cache_dir = Path(config.paths.data), Path(config.paths.cache)
    paths = locate(config.data, data_dir, cache_dir)
    for name, other in sorted(every_set(config).items()):
        found = {} if other is config.data else locate(other, data_dir, cache_dir)
        paths |= {f"{name}.{split}": path for split, path in found.items()}
    hashes = {}
    if config.baseline.name != "none":
        paths |= BASELINES[config.baseline.name].sources(config)
    elif Path(config.encoder.name).is_dir():
        hashes["encoder"] = fingerprint(identity(config.encoder))
    if config.task.bertscore.model and Path(config.task.bertscore.model).is_dir():
        hashes["bertscore"] = fingerprint(identity(EncoderConfig(config.task.bertscore.model)))
    if config.task.bertscore.baseline:
        paths["bertscore.baseline"] = Path(config.task.bertscore.baseline)
    if config.ckpt_path:
        paths["ckpt_path"] = checkpoint_to_train_on(config)
    if config.head.start:
        paths["head"] = Path(config.head.start) / HEAD
    if config.curriculum.dynamics is not None or config.curriculum.scores is not None:
        hashes |= dynamics_sources(config)
    if config.optim.soft.predictions or config.optim.suspects.dynamics:
        hashes |= target_sources(config)
    return {name: sha256_file(path) for name, path in paths.items() if path.is_file()} | hashes


def checkpoint_to_train_on(config: Config) -> Path:
    """Name the checkpoint that `ckpt_path` means, a file or a run folder's last one."""
    named = Path(config.ckpt_path or "")
    return RunFolder(named).last if named.is_dir() else named


def check_sources(sources: dict[str, str], folder: RunFolder) -> None:
    """Raise a ConfigError that names the files if any has changed since the run began."""
    found = folder.read_status().get("sources", sources)
    changed = [name for name in sources if found.get(name, sources[name]) != sources[name]]
    if changed:
        raise ConfigError(
            f"{folder.path}: changed since this run began: {', '.join(changed)}. "
            "Name another run.job, or set run.resume=false to start it over"
        )


def _check_monitor(config: Config) -> None:
    """Refuse an unknown score now; Lightning would do so after the first epoch."""
    monitor, scores = config.trainer.monitor, task_of(config).monitored_names(config)
    if monitor not in scores:
        hint = nearest(monitor, scores, listed=True)
        raise ConfigError(f"trainer.monitor={monitor}: no such score.{hint}")
