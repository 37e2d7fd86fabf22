"""Weights & Biases beside `metrics.csv`: one W&B run per run folder, continued on resume.

W&B never stops a run: where its server does not answer, the run is recorded on disk, and one
warning says how to upload it.
"""

import os
import secrets
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import wandb
from wandb.errors import UsageError

from heron.base.errors import ConfigError, first_line
from heron.base.files import read_yaml, write_json
from heron.base.run_files import SpentBudget, read_record
from heron.base.run_folder import RunFolder
from heron.base.secrets import redacted
from heron.base.tables import read_table
from heron.base.terminal import first_time, said, say
from heron.config.constraints import flatten, key_of
from heron.metrics.names import is_minimised
from heron.tasks.config import Config
from heron.training import draw_map
from heron.training.components import make, wandb_options
from heron.training.run_names import readable_name

# W&B's environment variables, by the key of its logger with the same meaning.
_VARIABLES = {
    "project": "WANDB_PROJECT",
    "entity": "WANDB_ENTITY",
    "name": "WANDB_NAME",
    "notes": "WANDB_NOTES",
    "tags": "WANDB_TAGS",
    "group": "WANDB_RUN_GROUP",
    "job_type": "WANDB_JOB_TYPE",
    "mode": "WANDB_MODE",
}
INIT_SECONDS = 20.0  # longest wait for a server's answer
FINISH_SECONDS = 120.0  # longest wait for uploads when the run ends
_HEADER = 7  # bytes of a `.wandb` file without a record

# Folders of the runs being trained: stages and a curriculum's first run are inside another run.
# A module global, because W&B's own current run is one.
_training: list[RunFolder] = []


def wandb_logger(config: Config, folder: RunFolder) -> list[Any]:
    """Open the W&B run of a run folder, or resume it, and make its logger; see `wandb_run`.

    Only one job of a command waits for a server that does not answer; the jobs after it do not try.
    """
    if _training and _training[-1] != folder:
        return []

    names = identity(config, folder)
    unreachable = f"W&B cannot be reached for {names['project']}"
    if unreachable in said():
        names["mode"] = "offline"

    try:
        logger = _open(config, folder, names)
    except UsageError as error:
        raise ConfigError(f"logger.wandb: {first_line(error)}") from error
    except wandb.Error as error:
        run_id = _run_id(config, folder, names["project"])
        reason = first_line(error).replace(run_id, "<id>")
        say(
            f"W&B cannot be reached ({reason}); this command's runs are recorded on disk instead, "
            "and `wandb sync <run folder>/wandb/offline-run-*` uploads them. "
            "logger.wandb.mode=offline does not try",
            about=unreachable,
            of_result=False,
        )
        wandb.teardown()  # the service of the failed attempt still holds the id
        logger = _open(config, folder, names | {"mode": "offline"})

    for name in ("log_metrics", "after_save_checkpoint", "finalize"):
        method = getattr(logger, name)
        setattr(logger, name, partial(_attempt, "some metrics", method))

    logger.log_hyperparams = lambda *_: None  # the run has the configuration
    if _lost_records(logger.experiment):
        _log_rows(logger, folder)
    return [logger]


def record_again(config: Config, folder: RunFolder) -> None:
    """Record a finished run again, under the id that an agent of W&B asks for."""
    if _training or _stored(folder).get("id") == os.environ["WANDB_RUN_ID"]:
        return
    with wandb_run(config, folder):
        for logger in wandb_logger(config, folder):
            _log_rows(logger, folder)


def _lost_records(run: Any) -> bool:
    """Tell whether killed processes have recorded nothing of an offline run.

    W&B writes a record's file late: a killed process often leaves its header alone.
    """
    if not run.offline:
        return False
    own = Path(run.dir).parent
    earlier = [path for path in own.parent.glob(f"*run-*-{run.id}/*.wandb") if path.parent != own]
    return bool(earlier) and all(path.stat().st_size <= _HEADER for path in earlier)


def _log_rows(logger: Any, folder: RunFolder) -> None:
    """Log the rows of `metrics.csv`."""
    for row in folder.read_metrics():
        logger.log_metrics(row, int(row.pop("step")))


@contextmanager
def wandb_run(config: Config, folder: RunFolder) -> Iterator[None]:
    """Complete the W&B run when the block ends, or close it as failed when the block fails.

    A run left open would get the rows of the sweep's next job, and a failed one look finished.
    Jobs without a Trainer (baselines, and the whole of several stages) get their run here. In a
    sweep of W&B's, a point is one run: stages and first runs get none.
    """
    if _training and os.environ.get("WANDB_SWEEP_ID"):
        yield
        return

    _training.append(folder)
    exit_code = 1
    try:
        yield
        _attempt("scores and artifacts", _complete, config, folder)
        exit_code = 0
    finally:
        if wandb.run is not None:
            address = _address(folder, wandb.run)
            lost = "what is not uploaded yet (`wandb sync <run folder>/wandb/run-*` tries again)"
            _attempt(lost, _finish, exit_code)
            if len(_training) == 1 and first_time(address):
                print(f"heron train: W&B: {address}", flush=True)

        _training.pop()


def _open(config: Config, folder: RunFolder, names: dict[str, Any]) -> Any:
    """Make the logger and have it call `wandb.init`."""
    options: dict[str, Any] = {"save_dir": os.environ.get("WANDB_DIR", str(folder.path))}
    for name, option in wandb_options(config).items():
        if name != "artifacts" and name not in names:
            options[name] = option

    logger = make("logger.wandb", options, folder)

    recorded = config.values()
    settings_by_key = dict(flatten(recorded))
    for key in _swept(folder) & settings_by_key.keys():
        recorded[key] = settings_by_key[key]

    status = folder.read_status()
    provenance = ("heron", "git", "sources", "overrides")
    recorded["provenance"] = {key: status.get(key) for key in provenance}
    settings = wandb.Settings(
        init_timeout=INIT_SECONDS,
        finish_timeout=FINISH_SECONDS,
        finish_timeout_raises=True,
        silent=True,
        # W&B would store the command line, the git remote, uncommitted changes and everything that
        # is printed, secrets included. heron records what matters, with secrets masked.
        disable_git=True,
        disable_code=True,
        console="off",
        x_disable_meta=True,
        x_save_requirements=False,
    )
    logger._wandb_init.pop("anonymous", None)  # W&B warns of it
    logger._wandb_init |= names
    logger._wandb_init |= {
        "id": _run_id(config, folder, names["project"]),
        "config": redacted(recorded),
        "settings": settings,
    }
    assert logger.experiment is not None

    return logger


def _address(folder: RunFolder, run: Any) -> str:
    """Name a run's page, or the command that uploads it, with the other runs of a sweep."""
    if not run.offline:
        return str(run.url)

    files = Path(run.dir).parent
    sweep = folder.path.parent
    is_one_of_several = (sweep / "multirun.yaml").is_file() and sweep.resolve() in files.parents
    if is_one_of_several:
        return f"wandb sync {shlex.quote(str(sweep))}/*/wandb/offline-run-*"

    return f"wandb sync {shlex.quote(os.path.relpath(files))}"


def _stored(folder: RunFolder) -> dict[str, str]:
    """Read the project and the id of the folder's W&B run; empty before the first one."""
    path = folder.last.parent / "wandb.json"
    return read_record(path, dict[str, str]) if path.is_file() else {}


def _run_id(config: Config, folder: RunFolder, project: str) -> str:
    """Choose the run's id: that of W&B's environment, else the one that is stored, or draw one.

    It is stored beside `last.ckpt`, so that starting over draws a new one.
    """
    run_id = None
    if len(_training) <= 1:  # in a stage, the option is the id of the whole run
        options = wandb_options(config)
        run_id = options.get("id") or options.get("version") or os.environ.get("WANDB_RUN_ID")

    stored = _stored(folder)
    if not run_id and stored.get("project") == project:
        run_id = stored.get("id")

    record = {"project": project, "id": str(run_id or secrets.token_hex(8))}
    if record != stored:
        write_json(folder.last.parent / "wandb.json", record)

    return record["id"]


def _swept(folder: RunFolder) -> set[str]:
    """Find the keys that the run's sweep varies, as W&B's agent or Hydra's `multirun.yaml` says."""
    of_agent = Path(os.environ.get("WANDB_SWEEP_PARAM_PATH", ""))
    if of_agent.is_file():
        return set(read_yaml(of_agent))
    of_sweep = folder.path.parent / "multirun.yaml"
    if not of_sweep.is_file():
        return set()
    return set(read_yaml(of_sweep)["hydra"]["sweeper"].get("swept") or ())


def _complete(config: Config, folder: RunFolder) -> None:
    """Add the final scores and the artifacts to the W&B run."""
    run: Any = wandb.run or wandb_logger(config, folder)[0].experiment
    run.summary.update(summary(folder))
    if wandb_options(config).get("artifacts"):
        for artifact in artifacts(run.id, folder):
            run.log_artifact(artifact)


def _finish(exit_code: int) -> None:
    wandb.finish(exit_code=exit_code)
    if len(_training) == 1:
        # Its service writes the last rows after `finish` has returned; wait for them, because the
        # processes of a sweep's jobs end without the usual clean-up.
        wandb.teardown(exit_code=exit_code)


def _attempt(part: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Call `action`; if it fails, warn that a part of the run is missing in W&B.

    A training must not end because a copy of what is on disk could not be uploaded.
    """
    try:
        action(*args, **kwargs)
    except Exception as error:
        reason = first_line(error).rstrip(".")
        lost = f"W&B lacks {part}: {type(error).__name__}: {reason}. The run folder has everything"
        say(lost, of_result=False)


def identity(config: Config, folder: RunFolder) -> dict[str, Any]:
    """Name a run in W&B: `group` (the sweep), `name` (what a sweep varies, else the job) and more.

    W&B's environment variables override these, and the logger's options override both. By default
    the job's type is train, baseline, stages, stage or first-run, which a curriculum learns from.
    """
    job = folder.path.resolve()
    name = job.name
    job_type = "train"
    is_baseline = config.baseline.name != "none"

    if job.parent.name == folder.stages.name:
        job = job.parents[1]
        job_type = "stage"
        name = f"{job.name}/{folder.path.name}"
    elif len(_training) > 1:
        job_type = "first-run"
    else:
        swept = _swept(folder)
        overrides = folder.read_status().get("overrides", [])
        name = readable_name([word for word in overrides if key_of(word) in swept]) or name
        if is_baseline:
            job_type = "baseline"
        elif config.stages:
            job_type = "stages"

    tags = [f"language:{config.data.language}", f"protocol:{config.protocol}"]
    parts = ("baseline",) if is_baseline else ("encoder", "head", "curriculum")
    for part in ("task", "data", *parts):
        tags.append(f"{part}:{Path(getattr(config, part).name).name}")

    defaults: dict[str, Any] = {
        "project": "heron",
        "mode": "online" if os.environ.get("WANDB_SWEEP_ID") else "offline",
        "name": name,
        "job_type": job_type,
        # W&B takes at most 128 and 64 characters.
        "group": job.parent.name[:128],
        "tags": [tag[:64] for tag in tags],
    }
    options = wandb_options(config)
    names = {}
    for key, variable in _VARIABLES.items():
        names[key] = options.get(key) or os.environ.get(variable) or defaults.get(key)

    if isinstance(names["tags"], str):
        names["tags"] = names["tags"].split(",")

    return names


def summary(folder: RunFolder) -> dict[str, float]:
    """Return the final scores, as in `scores.json`, and what was spent.

    Keys are `scores/<split>/<metric>` (fractions), `validation/<metric>/best` over all epochs (the
    last is W&B's own `validation/<metric>`, a number that sweeps can read) and `ledger/<count>`.
    """
    values: dict[str, float] = {}
    for row in folder.read_metrics():
        for name, score in row.items():
            split, _, metric = name.partition("/")
            if split == "validation" and metric:
                better = min if is_minimised(metric) else max
                best = values.get(f"{name}/best", score)
                values[f"{name}/best"] = better(best, score)

    for split, scores in folder.read_scores().items():
        for name, score in scores.items():
            values[f"scores/{split}/{name}"] = score

    if folder.ledger.is_file():
        ledger: Any = read_record(folder.ledger, SpentBudget)
        for name, count in ledger["total"].items():
            values[f"ledger/{name}"] = count
        values["ledger/planned_steps"] = ledger["planned_steps"]

    return values


def artifacts(run_id: str, folder: RunFolder) -> Iterator[wandb.Artifact]:
    """Build the artifacts: predictions as tables without texts, and the data map's figure."""
    files = sorted(folder.predictions("test").parent.glob("*.parquet"))
    if files:
        artifact = wandb.Artifact(f"predictions-{run_id}", "predictions")
        for path in files:
            artifact.add(_without_texts(path), path.stem.replace("/", "-"))
        yield artifact

    if any(folder.dynamics(0).parent.glob("epoch=*.parquet")):
        figure = draw_map(folder)
        artifact = wandb.Artifact(f"data-map-{run_id}", "data-map")
        artifact.add_file(str(figure), "map.png", policy="immutable")
        yield artifact


def _without_texts(path: Path) -> wandb.Table:
    """Read a file of predictions as a table of W&B; texts stay on this computer."""
    table = read_table(path)
    names: list[Any] = [name for name in table.columns if name not in ("text", "text_pair")]
    rows: list[Any] = []
    for row in table.rows:
        rows.append([row[name] for name in names])
    return wandb.Table(columns=names, data=rows)
