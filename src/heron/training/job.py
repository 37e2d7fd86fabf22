"""One run, from configuration to run folder."""

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import metadata
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.files import seal, write_json
from heron.base.libraries import own_threads, silence_libraries
from heron.base.run_files import Scores
from heron.base.run_folder import BASELINE, RunFolder
from heron.base.tables import write_table
from heron.base.terminal import say
from heron.config.compose import run_in_hydra
from heron.data import PLANS
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.examples import Example, count_repairs, text_key
from heron.data.features import Features
from heron.data.hub import unused_share
from heron.data.readers import load_run_data, of_split
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.models.precision import with_precision
from heron.tasks import BASELINES
from heron.tasks.base import Baseline, TaskModule
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.task import task_of, text_scores
from heron.training.checkpointing import History, ended_early, load_weights, read_checkpoint
from heron.training.exported import export
from heron.training.run import Run
from heron.training.targets import check_classes
from heron.training.trainer import (
    build_encoder,
    build_module,
    fit,
    predict_split,
    prediction_trainer,
)

_MOST_UNKNOWN = 0.1  # share of tokens; texts in an encoder's own language have about 0.01
_MOST_UNUSED = 0.01  # share of the vocabulary
_FEWEST_ROWS = 10
_FEWEST_STEPS = 3  # optimizer steps per epoch


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
    whole = run.composed().whole
    return task() if whole is None else run_in_hydra(whole, task)


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
    if ranks.is_first():
        described = describe(data.examples, data.dropped, data.features)
        folder.update_status(data={**described, **describe_training(data)})
    trainer = fit(config, folder, module, data)
    if ended_early(trainer) is not None:
        return None
    return leave_outcome(config, folder, trainer, module, data)


def _choose_weights(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> tuple[pl.Trainer, TaskModule]:
    """Load the weights that `trainer.select` names; returns what to predict with."""
    callbacks: list[Any] = trainer.callbacks
    is_chosen = any(getattr(each, "best_model_path", "") for each in callbacks)
    if isinstance(trainer.strategy, FSDPStrategy):  # each process has a part of the model
        module = build_module(config, data)
        load_weights(module, read_checkpoint(folder.last))
        limits = {name: each for name, each in vars(trainer).items() if name.startswith("limit_")}
        trainer = prediction_trainer(config, folder.path)
        vars(trainer).update(limits)
    if config.trainer.select == "best" and not is_chosen:
        if not trainer.fast_dev_run:
            say("no validation has chosen an epoch: the weights after the last one count")
    elif config.trainer.select == "best":
        load_weights(module, read_checkpoint(folder.best))
    elif config.trainer.select == "mean":
        next(each for each in callbacks if hasattr(each, "load_into")).load_into(module)
    return trainer, module


def leave_outcome(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> Scores:
    """Predict and score every split but train, and export the model; returns `scores.json`."""
    histories = (each for each in trainer.loggers if isinstance(each, History))
    losses = [loss for each in histories for loss in each.values(f"{VALIDATION}/{LOSS}")]
    trainer, module = _choose_weights(config, folder, trainer, module, data)
    scores: Scores = {}
    of_all = trainer.limit_predict_batches
    for split in data.features:
        limit = trainer.limit_val_batches if split == VALIDATION else trainer.limit_test_batches
        trainer.limit_predict_batches = of_all if str(limit) == "1.0" else limit  # 1 is one batch
        if split != TRAIN and limit:
            predictions = predict_split(trainer, module, data, split, folder.generated)
            if split == VALIDATION:
                predictions = module.tune(predictions)
            if ranks.is_first():
                refused = len(data.features[split].refused)
                scores[split] = score(config, folder, split, predictions, refused)
                for doubt in predictions.doubts(scores[split]):
                    say(f"{split}: {doubt}")
    if list(data.features) == [TRAIN]:  # no other split tells whether training diverged
        trainer.limit_predict_batches = 1
        predict_split(trainer, module, data, TRAIN)
    if ranks.is_first():
        select = config.trainer.select
        if config.trainer.monitor == LOSS and VALIDATION in scores and losses and select != "mean":
            scores[VALIDATION][LOSS] = losses[-1] if select == "last" else min(losses)
        write_json(folder.scores, scores)
        if config.run.export:
            _export(config, folder, module, data)
    return ranks.from_first(scores)


def score(
    config: Config, folder: RunFolder, split: str, predictions: Predictions, refused: int = 0
) -> dict[str, float]:
    """Write the predictions for a split; returns their scores, and how many rows were refused."""
    columns = predictions.columns(config)
    write_table(folder.predictions(split), columns)
    scores = predictions.scores(of_split(config, split))
    by_group = config.task.bootstrap and config.task.resample == "group"
    if by_group and len(set(predictions.groups)) == 1 < len(predictions.guids):
        say(f"{split}: no intervals: all rows are of one document; see task.resample=row")
    scores |= further_scores(config.task.metrics, columns, config.task.name)
    return {**scores, "refused": refused}


def train_baseline(config: Config, folder: RunFolder) -> Scores:
    """Fit on train, predict and score the other splits, keep the model; returns `scores.json`.

    Settings such as `baseline.C` are tuned by a sweep, on validation. A run that was cut starts
    over; word vectors and features, which take time, are in the cache.
    """
    loaded = load_run_data(config)
    folder.update_status(data=describe(loaded.examples, loaded.dropped))
    entry = BASELINES[config.baseline.name]
    baseline: Baseline = entry.fit(config, loaded.examples.get(TRAIN, []))
    for warning in baseline.notes.get("warnings", ()):
        say(warning)
    scores = {
        split: score(config, folder, split, baseline.predict(loaded.examples[split], config))
        for split in entry.splits(config, list(loaded.examples))
    }
    for name, columns in entry.tables(baseline).items():
        write_table(folder.path / name, columns)
    write_json(folder.scores, scores)
    if config.run.export:
        baseline.save(folder.model)
        write_json(folder.model / BASELINE, {"baseline": config.baseline.name})  # all is written
        seal(folder.model)
    versions = {name: metadata.version(name) for name in ("scikit-learn", "gensim")}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
    return scores


def _export(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> None:
    encoder: Encoder | None = module.encoder
    if data.vectors:  # the frozen encoder is not in memory
        known = config.encoder.name != "scratch" and len(data.tokenizer) == data.known_tokens
        # Weights that the seed has drawn cannot be downloaded again: they are exported.
        encoder = None if known else build_encoder(config, data.tokenizer)
    export(folder.model, encoder, module.head, data.tokenizer, config)


def say_findings(config: Config, folder: RunFolder) -> None:
    """Print the known faults of the data, from an audit or the data set's own page."""
    cache = Path(config.paths.cache)
    if ranks.is_first() and (config.data.findings or any((cache / "audit").glob("*.json"))):
        from heron.data.findings import known_problems  # start-up time

        sources = folder.read_status()["sources"]
        for finding in known_problems(config.data, sources, cache):
            say(f"{config.data.name}: {finding}")


def describe(
    examples: Mapping[str, Sequence[Example]],
    dropped: Mapping[str, Mapping[str, int]],
    features: Mapping[str, Features] | None = None,
) -> dict[str, Any]:
    """Count what a run reads, and print warnings on standard error.

    Without `features`, of systems that read words, there are no counts of tokens.

    Returns:
        `splits` (rows, and with features: sequences, refused, truncated rows, and what the task has
        counted), `dropped`, `shared`: how many examples two splits have in common, and `repairs`
        of answers, where there are any.
    """
    splits = {split: {"rows": len(rows)} for split, rows in examples.items()}
    for split, found in (features or {}).items():
        rows, cut, left_out = len(found), int(found.truncated_R.sum()), found.refused
        sizes = {"sequences": len(found.lengths_S), "refused": len(left_out), "truncated": cut}
        counted = {name: number for name, (number, _) in found.counts.items()}
        splits[split] = {"rows": rows, **sizes, **counted}
        if cut:
            say(f"{split}: {cut} of {rows} texts ({cut / rows:.0%}) are cut at max_length")
        if left_out:
            named = ", ".join(each.where for each in left_out[:3]) + ", ..." * (len(left_out) > 3)
            say(f"{split}: left out {len(left_out)} that max_length does not hold: {named}")
        for number, warning in found.counts.values():
            if number and warning:
                say(f"{split}: {number} {warning}")
    repairs = {s: counts for s, each in examples.items() if (counts := count_repairs(each))}
    for what, by_split in (("answers", repairs), ("left out", dropped)):
        for split, reasons in by_split.items():
            say(f"{split}: {what} {', '.join(f'{n} {why}' for why, n in reasons.items())}")
    keys = {split: {text_key(each) for each in rows} for split, rows in examples.items()}
    shared = {
        f"{later} and {earlier}": len(keys[earlier] & keys[later])
        for earlier, later in combinations(keys, 2)
    }
    for both, number in shared.items():
        if number:
            say(f"{number} examples are in both {both}")
    left = {split: dict(reasons) for split, reasons in dropped.items()}
    described: dict[str, Any] = {"splits": splits, "shared": shared, "dropped": left}
    return {**described, "repairs": repairs} if repairs else described


def describe_training(data: DataModule) -> dict[str, Any]:
    """Warn of training data from which little can be learnt, and name the key to change.

    Returns:
        `unknown`: share of the train split's tokens that the tokenizer does not know; `unused`: see
        `unused_share`; `steps`: optimizer steps of the first epoch; where the plan limits the
        tokens of a batch, `batch_tokens`: that limit.
    """
    config, batching = data.config, data.batching
    rows, steps, unknown = len(data.features[TRAIN]), data.steps_per_epoch()[0], _unknown(data)
    if unknown >= _MOST_UNKNOWN:
        say(
            f"train: {unknown:.0%} of the tokens are {data.tokenizer.unk_token}: the "
            f"tokenizer of encoder.name={config.encoder.name} does not know this script; set "
            "encoder= to one of the data's language"
        )
    unused = unused_share(data.tokenizer)
    if unused >= _MOST_UNUSED:
        say(
            f"{unused:.0%} of the vocabulary of encoder.name={config.encoder.name} is never used: "
            "its tokenizer removes capitals and accents. Where the model knows them, set "
            '"do_lower_case": false in its tokenizer_config.json'
        )
    counts_C = data.label_counts_C
    if rows < _FEWEST_ROWS:
        say(f"train: {rows} rows are too few to learn from; see data.files.train and data.sample")
    elif task_of(config).has_classes and len(counts_C) > 1 and np.count_nonzero(counts_C) == 1:
        label = config.data.label_order[int(counts_C.argmax())]
        say(
            f"train: all {rows} rows are of class {label}: nothing can be learnt; see "
            "data.columns.label, data.label_aliases and data.label_order"
        )
    limit = PLANS[batching.plan].limit
    if steps <= _FEWEST_STEPS:
        most = getattr(batching, limit)
        say(
            f"train: {steps} optimizer steps an epoch: lower batching.{limit}={most} or "
            "trainer.accumulate_grad_batches, or raise trainer.max_epochs"
        )
    tokens = {"batch_tokens": batching.tokens} if limit == "tokens" else {}
    return {"unknown": unknown, "unused": unused, "steps": steps, **tokens}


def _unknown(data: DataModule) -> float:
    """Compute the share of the train split's tokens that are unknown, from 0 to 1."""
    tokens_T, tokenizer = data.features[TRAIN].tokens_T, data.tokenizer
    unknown = tokenizer.unk_token_id
    # GPT-2 uses its end-of-text token for this; its bytes cover every text.
    if unknown in (None, tokenizer.eos_token_id, tokenizer.bos_token_id) or not len(tokens_T):
        return 0.0
    return round(float(np.mean(np.asarray(tokens_T) == unknown)), 4)
