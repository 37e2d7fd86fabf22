"""One run, from its configuration to the files in its run folder."""

from collections import Counter
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
from heron.base.errors import first_few
from heron.base.files import seal, write_json
from heron.base.libraries import own_threads, silence_libraries
from heron.base.run_files import Scores
from heron.base.run_folder import BASELINE, RunFolder
from heron.base.tables import write_table
from heron.base.terminal import announce, say
from heron.config.compose import run_in_hydra
from heron.data import PLANS
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.examples import Example, Splits, count_repairs, list_moved, text_key
from heron.data.features import Features
from heron.data.findings import known_problems, warn_of_script
from heron.data.hub import unused_share
from heron.data.readers import load_run_data, of_split
from heron.languages.words import lacks_blanks
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.models.precision import with_precision
from heron.tasks import BASELINES
from heron.tasks.base import FittedBaseline, TaskModule
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.task import task_of, text_scores
from heron.training.callbacks import MeanOfEpochs
from heron.training.checkpointing import History, ended_early, load_weights, read_checkpoint
from heron.training.components import check_classes
from heron.training.exported import export
from heron.training.run import Run
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
_SAMPLED_ROWS = 100  # whose script is looked at
_FEWEST_STEPS = 3  # optimizer steps per epoch, and fewer: a warning


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
            text_metrics = text_scores(config.task.name)
            if text_metrics and ranks.is_first():
                text_metrics.require(config)  # fails now if, say, BERTScore's encoder is missing
            check_classes(config)
            scores = _train_and_score(config, folder, overrides)
            if text_metrics:
                text_metrics.sign(config, folder, scores or {})

        run.end(scores)

    return scores or {}


def train(run: Run) -> Scores:
    """Run the job that a command asks for, a sweep's job inside Hydra; returns its scores."""
    work = partial(run_job, run.config, run.folder, run.overrides)
    hydra_config = run.composed().whole
    return work() if hydra_config is None else run_in_hydra(hydra_config, work)


def _train_and_score(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores | None:
    """Train, predict and score; None if a search has ended the training early."""
    if config.stages:
        from heron.training.stages import run_stages

        return run_stages(with_precision(config, folder), folder, run_job)

    say_findings(config, folder)
    if config.baseline.name != "none":
        return train_baseline(config, folder)

    first = None  # the run whose dynamics order a curriculum's examples
    if config.curriculum.name != "none":
        from heron.training.curriculum import first_run

        first = first_run(config, partial(run_job, wait=True), overrides)

    config = with_precision(config, folder)
    with ranks.first_alone():  # the others then find the caches filled
        pl.seed_everything(config.seed, workers=True, verbose=False)
        data = DataModule(config)
        module = build_module(config, data, first)

    if ranks.is_first():
        warn_of_script(config.data, data.examples)
        described = describe(data.examples, data.dropped, data.features)
        folder.update_status(data=described | describe_training(data))
        write_moved(folder, data.examples)

    trainer = fit(config, folder, module, data)
    if ended_early(trainer) is not None:
        return None

    return leave_outcome(config, folder, trainer, module, data)


def _choose_weights(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> tuple[pl.Trainer, TaskModule]:
    """Load the weights that `trainer.select` names; returns what to predict with."""
    callbacks: list[Any] = trainer.callbacks
    if isinstance(trainer.strategy, FSDPStrategy):  # each process has a part of the model
        module = build_module(config, data)
        load_weights(module, read_checkpoint(folder.last))
        whole = prediction_trainer(config, folder.path)
        for name, value in vars(trainer).items():
            if name.startswith("limit_"):
                setattr(whole, name, value)

        trainer = whole

    select = config.trainer.select
    is_chosen = any(getattr(callback, "best_model_path", "") for callback in callbacks)
    if select == "best" and is_chosen:
        load_weights(module, read_checkpoint(folder.best))
    elif select == "best" and not trainer.fast_dev_run:
        say("no epoch was chosen by validation: the weights after the last epoch are used")
    elif select == "mean":
        mean = next(callback for callback in callbacks if isinstance(callback, MeanOfEpochs))
        mean.load_into(module)

    return trainer, module


def leave_outcome(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> Scores:
    """Predict and score every split but train, and export the model; returns `scores.json`."""
    losses = []
    for logger in trainer.loggers:
        if isinstance(logger, History):
            losses += logger.values(f"{VALIDATION}/{LOSS}")

    trainer, module = _choose_weights(config, folder, trainer, module, data)
    scores = {}
    all_batches = trainer.limit_predict_batches
    for split, features in data.features.items():
        limit = trainer.limit_val_batches if split == VALIDATION else trainer.limit_test_batches
        if split == TRAIN or not limit:
            continue
        # 1.0 is all batches, 1 is one batch.
        trainer.limit_predict_batches = all_batches if str(limit) == "1.0" else limit
        predictions = predict_split(trainer, module, data, split, folder.generated)
        if split == VALIDATION:
            predictions = module.tune(predictions)
        if ranks.is_first():
            scores[split] = score(config, folder, split, predictions, len(features.refused))
            for doubt in predictions.doubts(scores[split]):
                say(f"{split}: {doubt}")

    if list(data.features) == [TRAIN]:  # a batch of train: it raises if training has diverged
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

    task = config.task
    if task.bootstrap and task.resample == "group":
        documents = set(predictions.groups)
        if len(documents) == 1 and len(predictions.guids) > 1:
            say(f"{split}: no intervals: all rows are of one document; see task.resample=row")

    scores |= further_scores(task.metrics, columns, task.name)
    scores["refused"] = refused
    return scores


def train_baseline(config: Config, folder: RunFolder) -> Scores:
    """Fit on train, predict and score the other splits, keep the model; returns `scores.json`.

    Settings such as `baseline.C` are tuned by a sweep, on validation. A run that was cut starts
    over; word vectors and features, which take time, are in the cache.
    """
    loaded = load_run_data(config)
    examples = loaded.examples
    warn_of_script(config.data, examples)
    folder.update_status(data=describe(examples, loaded.dropped))
    write_moved(folder, examples)
    entry = BASELINES[config.baseline.name]
    baseline: FittedBaseline = entry.fit(config, examples.get(TRAIN, []))
    for warning in baseline.notes.get("warnings", ()):
        say(warning)

    scores = {}
    for split in entry.splits(config, list(examples)):
        predictions = baseline.predict(examples[split], config)
        scores[split] = score(config, folder, split, predictions)

    for name, columns in entry.tables(baseline).items():
        write_table(folder.path / name, columns)

    write_json(folder.scores, scores)

    if config.run.export:
        baseline.save(folder.model)
        write_json(
            folder.model / BASELINE, {"baseline": config.baseline.name}
        )  # after the baseline's own files: where it exists, they are complete
        seal(folder.model)

    versions = {name: metadata.version(name) for name in ("scikit-learn", "gensim")}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
    return scores


def _export(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> None:
    """Write the folder `model/`, see `heron.training.exported`."""
    encoder: Encoder | None = module.encoder
    if data.vectors:  # the frozen encoder is not in memory
        is_pretrained = config.encoder.name != "scratch"
        has_new_tokens = len(data.tokenizer) != data.known_tokens
        encoder = None
        # Random weights cannot be downloaded again: they are exported.
        if has_new_tokens or not is_pretrained:
            encoder = build_encoder(config, data.tokenizer)

    export(folder.model, encoder, module.head, data.tokenizer, config)


def say_findings(config: Config, folder: RunFolder) -> None:
    """Print the known faults of the data, from a stored audit or `data.findings`."""
    if not ranks.is_first():
        return

    cache = Path(config.paths.cache)
    if config.data.findings or any((cache / "audit").glob("*.json")):
        sources = folder.read_status()["sources"]
        for finding in known_problems(config.data, sources, cache):
            say(f"{config.data.name}: {finding}")


def write_moved(folder: RunFolder, examples: Mapping[str, Sequence[Example]]) -> None:
    """List the answers that are not where their file says, and print where the list is."""
    columns = list_moved(examples)
    if columns:
        write_table(folder.moved, columns)
        say(f"answers that are not at their answer_start, with their places: {folder.moved}")


def describe(
    examples: Mapping[str, Sequence[Example]],
    dropped: Mapping[str, Mapping[str, int]],
    features: Mapping[str, Features] | None = None,
) -> dict[str, Any]:
    """Count what a run reads, and print warnings on standard error.

    Baselines read words and have no `features`: of them, rows alone are counted.

    Returns:
        `splits` (rows, and with features: sequences, refused, truncated rows, and what the task has
        counted), `dropped`, `shared`: how many examples two splits have in common, and `repairs`
        of answers, where there are any.
    """
    splits = {}
    for split, rows in examples.items():
        splits[split] = {"rows": len(rows)}

    for split, tokenized in (features or {}).items():
        splits[split] = _describe_features(split, tokenized)

    repairs = {}
    for split, rows in examples.items():
        counts = count_repairs(rows)
        if counts:
            repairs[split] = counts
            say(f"{split}: answers {_listed(counts)}")

    for split, reasons in dropped.items():
        say(f"{split}: left out {_listed(reasons)}")

    keys = {split: {text_key(row) for row in rows} for split, rows in examples.items()}
    shared = {}
    for earlier, later in combinations(keys, 2):
        both = f"{later} and {earlier}"
        shared[both] = len(keys[earlier] & keys[later])
        if shared[both]:
            say(f"{shared[both]} examples are in both {both}")

    described: dict[str, Any] = {
        "splits": splits,
        "shared": shared,
        "dropped": {split: dict(reasons) for split, reasons in dropped.items()},
    }
    if repairs:
        described["repairs"] = repairs

    return described


def _describe_features(split: str, features: Features) -> dict[str, int]:
    """Count a split's rows and sequences, and print what was cut and left out."""
    rows = len(features)
    cut = int(features.truncated_R.sum())
    refused = [problem.where for problem in features.refused]
    sizes = {
        "rows": rows,
        "sequences": len(features.lengths_S),
        "refused": len(refused),
        "truncated": cut,
    }
    if cut:
        say(f"{split}: {cut} of {rows} texts ({cut / rows:.0%}) are cut at max_length")

    if refused:
        named = first_few(refused)
        say(
            f"{split}: left out {len(refused)} rows: max_length does not hold their text, event or "
            f"answer: {named}"
        )

    for name, (number, warning) in features.counts.items():
        sizes[name] = number
        if number and warning:
            say(f"{split}: {number} {warning}")

    return sizes


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())


def describe_training(data: DataModule) -> dict[str, Any]:
    """Warn of training data from which little can be learnt, and name the key to change.

    Returns:
        `unknown`: share of the train split's tokens that the tokenizer does not know; `unused`:
        share of the vocabulary that no text is read as; `steps`: optimizer steps of the first
        epoch; where the plan limits the tokens of a batch, `batch_tokens`: that limit.
    """
    config = data.config
    batching = data.batching
    encoder = config.encoder.name
    unknown = _unknown(data)

    if unknown >= _MOST_UNKNOWN:
        say(
            f"train: {unknown:.0%} of the tokens are {data.tokenizer.unk_token}: the "
            f"tokenizer of encoder.name={encoder} does not know this script; set "
            "encoder= to one of the data's language"
        )

    unused = unused_share(data.tokenizer)
    if unused >= _MOST_UNUSED:
        say(
            f"{unused:.0%} of the vocabulary of encoder.name={encoder} is never used: "
            "its tokenizer removes capitals and accents. Where the model knows them, set "
            '"do_lower_case": false in its tokenizer_config.json'
        )

    rows = len(data.features[TRAIN])
    counts_C = data.label_counts_C
    if rows < _FEWEST_ROWS:
        say(f"train: {rows} rows are too few to learn from; see data.files.train and data.sample")
    elif task_of(config).has_classes and len(counts_C) > 1 and np.count_nonzero(counts_C) == 1:
        label = config.data.label_order[int(counts_C.argmax())]
        say(
            f"train: all {rows} rows are of class {label}: nothing can be learnt; see "
            "data.columns.label, data.label_aliases and data.label_order"
        )
    elif task_of(config).has_classes:
        _warn_of_classes(config.data.label_order, counts_C, data.examples)

    _warn_of_monitor(config, data.examples[TRAIN])
    steps, *_ = data.steps_per_epoch()
    limit_key = PLANS[batching.plan].limit
    if steps <= _FEWEST_STEPS:
        most = getattr(batching, limit_key)
        say(
            f"train: {steps} optimizer steps an epoch: lower batching.{limit_key}={most} or "
            "trainer.accumulate_grad_batches, or raise trainer.max_epochs"
        )

    described: dict[str, Any] = {"unknown": unknown, "unused": unused, "steps": steps}
    budget = ""
    if limit_key == "tokens":
        described["batch_tokens"] = batching.tokens
        budget = f" (up to {batching.tokens:,} tokens)"

    rows_U, _ = data.unit_sizes(TRAIN)
    sizes = [int(rows_U[batch].sum()) for batch in data.plan(0)]
    announce(
        f"train: {rows:,} rows, {min(sizes)} to {max(sizes)} a batch{budget}, "
        f"{steps:,} steps an epoch"
    )
    return described


def _warn_of_classes(labels: Sequence[str], train_C: np.ndarray, splits: Splits) -> None:
    """Warn of classes that a split has and train lacks, as where one document has all of a class.

    Args:
        labels: names of the classes.
        train_C: rows of each class in train.
        splits: all examples.
    """
    unseen = {label for label, rows in zip(labels, train_C, strict=True) if not rows}
    for split, examples in splits.items():
        rows = Counter(example.label for example in examples if example.label in unseen)
        if rows:
            say(
                f"{split}: {_listed(rows)} rows are of classes that train has no row of; see "
                "data.folds, data.validation and data.sample"
            )


def _warn_of_monitor(config: Any, examples: Sequence[Example]) -> None:
    """Warn where `trainer.monitor` splits words at blanks that the language does not write."""
    monitor = config.trainer.monitor
    variants = {f"{config.data.language}_{monitor}", f"{monitor}_heron"}  # of the same score
    variants &= set(task_of(config).monitored_names(config))
    text = " ".join(example.text for example in examples[:_SAMPLED_ROWS])
    if variants and lacks_blanks(text):
        variant = variants.pop()
        say(
            f"{monitor} takes all between two blanks for one word, so it is near 0 or 1: read "
            f"{variant}, which counts letters, and set trainer.monitor={variant}"
        )


def _unknown(data: DataModule) -> float:
    """Compute the share of the train split's tokens that are unknown, from 0 to 1."""
    tokens_T = data.features[TRAIN].tokens_T
    tokenizer = data.tokenizer
    unknown = tokenizer.unk_token_id
    # GPT-2 uses its end-of-text token for this; its bytes cover every text.
    if unknown in (None, tokenizer.eos_token_id, tokenizer.bos_token_id) or not len(tokens_T):
        return 0.0
    return round(float(np.mean(np.asarray(tokens_T) == unknown)), 4)
