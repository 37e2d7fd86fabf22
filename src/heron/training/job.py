"""One run from configuration to run folder: read it top to bottom."""

from collections.abc import Sequence
from functools import partial

import pytorch_lightning as pl

from heron.base import ranks
from heron.base.libraries import own_threads, silence_libraries
from heron.base.run_folder import RunFolder, Scores
from heron.config.compose import run_in_hydra
from heron.data.datamodule import DataModule
from heron.models.precision import with_precision
from heron.tasks.config import Config
from heron.tasks.task import text_scores
from heron.training.checkpointing import ended_early
from heron.training.describe import describe_run, say_findings
from heron.training.outcome import leave_outcome, train_baseline
from heron.training.run import Run
from heron.training.targets import check_classes
from heron.training.trainer import build_module, fit


def run_job(
    config: Config, folder: RunFolder, overrides: Sequence[str] = (), wait: bool = False
) -> Scores:
    """Train, choose the best epoch, predict, score and export; or resume a run that was cut.

    Args:
        config: the resolved configuration.
        folder: where everything goes; the scores of a finished run there are returned.
        overrides: what the user typed, for `status.json`.
        wait: whether to wait for another process that works on the run, or to raise `BusyError`.

    Returns:
        `{"<split>": {"<metric>": fraction}}`, as in `scores.json`; empty if a search has ended
        the run early.

    Raises:
        ConfigError: the folder holds a run with another configuration, or the run needs more
            processes than there are.
        BusyError: another process is working on it.
    """
    silence_libraries()
    run = Run(config, folder, overrides)
    with own_threads(config.trainer.threads), run.claimed(wait):
        if not run.begin():
            return run.read_scores()
        with run.running():
            texts = text_scores(config.task.name)
            if texts and ranks.is_first():  # such as BERTScore's encoder
                texts.require(config)
            check_classes(config)
            scores = _train_and_score(config, folder, overrides)
            if texts:
                texts.sign(config, folder, scores or {})
        run.end(scores)
    return scores or {}


def train(run: Run) -> Scores:
    """Run the job that a command asks for, as Hydra composed it; returns its scores."""
    task = partial(run_job, run.config, run.folder, run.overrides)
    scores: Scores = task() if run.whole is None else run_in_hydra(run.whole, task)
    return scores


def _train_and_score(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores | None:
    """Do the work; None if a search has ended the training early."""
    if config.stages:
        from heron.training.stages import run_stages

        return run_stages(with_precision(config, folder), folder, run_job)
    say_findings(config, folder)
    if config.baseline.name != "none":
        return train_baseline(config, folder)
    first = None
    if config.curriculum.name != "none":
        from heron.training.curriculum import first_run

        first = first_run(config, partial(run_job, wait=True), overrides)
    config = with_precision(config, folder)
    with ranks.first_alone():  # the others then find the caches filled
        pl.seed_everything(config.seed, workers=True, verbose=False)
        data = DataModule(config)
        module = build_module(config, data, first)
    describe_run(data, folder)
    trainer = fit(config, folder, module, data)
    if ended_early(trainer) is not None:
        return None
    return leave_outcome(config, folder, trainer, module, data)
