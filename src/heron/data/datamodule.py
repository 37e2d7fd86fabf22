"""One DataModule for every task: examples, features and batches of each split."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, SequentialSampler

from heron.base import ranks
from heron.base.files import fingerprint, sha256_file
from heron.data import TASKS
from heron.data.batching import budget, copies, fit_budget, plan_epoch, plan_evaluation
from heron.data.collate import Collator
from heron.data.config import TRAIN, VALIDATION, BatchingConfig, RunSettings
from heron.data.examples import Example, Splits
from heron.data.features import (
    FEATURES_VERSION,
    FeatureOptions,
    Features,
    Units,
    load_features,
    require_none_refused,
)
from heron.data.hub import load_tokenizer
from heron.data.readers import every_set, load_run_data, no_rows
from heron.data.sources import locate

Plan = Callable[[int], list[np.ndarray]]  # an epoch's batches of units


class DataModule(pl.LightningDataModule):
    """Reads a data set, tokenizes it once, and plans its batches; an ordinary Lightning DataModule.

    Nothing is read before `prepare_data`, `setup` or the first access to `examples`, `features` or
    `tokenizer`. Each epoch has a plan of its own, and each of several processes loads its share of
    every planned batch.

    Args:
        config: the run's configuration.
        examples: by split, in place of those of the data set.
        tokenizer: in place of the encoder's.

    Attributes:
        vectors: the pooled vectors of a frozen encoder by split, where batches have these instead
            of tokens.
        curriculum: what plans the training batches in place of `batching`; None: nothing.
    """

    def __init__(self, config: RunSettings, examples: Splits | None = None, tokenizer: Any = None):
        super().__init__()
        self.config = config
        self.vectors: dict[str, np.ndarray] = {}
        self.curriculum: Any = None
        self._replaced = examples, tokenizer
        self._counted: dict[int, list[int]] = {}

    def prepare_data(self) -> None:
        """Read and tokenize every split in one process of a machine; the others find the cache."""
        _ = self._prepared

    def setup(self, stage: str | None = None) -> None:
        """Read what `prepare_data` has stored; make Lightning reload the plan every epoch."""
        _ = self._prepared
        if self.trainer is not None and stage == "fit":
            # Plans differ in length, and Lightning counts a loader's batches once.
            self.trainer.reload_dataloaders_every_n_epochs = 1

    @cached_property
    def _prepared(self) -> Prepared:
        if self._replaced == (None, None):
            return prepare_once(self.config)
        return prepare(self.config, *self._replaced)

    @cached_property
    def examples(self) -> Splits:
        """The examples of each split."""
        return dict(self._prepared.examples)

    @cached_property
    def features(self) -> dict[str, Features]:
        """The tokens and labels of each split."""
        return dict(self._prepared.features)

    @property
    def dropped(self) -> dict[str, dict[str, int]]:
        """Rows that were left out, by split and reason."""
        return self._prepared.dropped

    @property
    def tokenizer(self) -> Any:
        """The encoder's tokenizer, with the event markers where the input has them."""
        return self._prepared.tokenizer

    @property
    def known_tokens(self) -> int:
        """The number of tokens that the encoder was trained with."""
        return self._prepared.known_tokens

    @property
    def keys(self) -> dict[str, str]:
        """The fingerprint of each split's features."""
        return self._prepared.keys

    @cached_property
    def batching(self) -> BatchingConfig:
        """`config.batching` with the budget of tokens that fits the train split."""
        lengths_S = self.features[TRAIN].lengths_S if TRAIN in self.features else np.empty(0)
        return fit_budget(self.config.batching, lengths_S)

    @cached_property
    def units(self) -> dict[str, Units]:
        """What batches are made of, by split."""
        return {split: features.units() for split, features in self.features.items()}

    @property
    def tests(self) -> list[str]:
        """The splits that are neither trained nor validated on, in the order of the loaders."""
        return [split for split in self.features if split not in (TRAIN, VALIDATION)]

    @property
    def label_counts_C(self) -> np.ndarray:
        """Train rows per class, int64."""
        classes = len(self.config.data.label_order)
        return np.bincount(self.features[TRAIN].labels_R, minlength=classes)

    def batches_per_epoch(self) -> list[int]:
        """Count the batches of every epoch; bucket plans differ by a batch or two."""
        if self.curriculum is not None:
            return self.curriculum.batches
        epochs = getattr(self.trainer, "max_epochs", None)
        return self._count(self.config.trainer.max_epochs if epochs in (None, -1) else epochs)

    def steps_per_epoch(self) -> list[int]:
        """Count the optimizer steps of every epoch; the last one may accumulate fewer batches."""
        accumulate = self.config.trainer.accumulate_grad_batches
        if self.trainer is not None:
            accumulate = self.trainer.accumulate_grad_batches
        counts = [self._limited(batches) for batches in self.batches_per_epoch()]
        return [math.ceil(batches / accumulate) for batches in counts]

    def _limited(self, batches: int) -> int:
        """Count how many of an epoch's batches the Trainer takes: `limit_train_batches`."""
        flags = self.config.trainer.flags
        limit = flags.get("overfit_batches") or flags.get("limit_train_batches", 1.0)
        if self.trainer is not None:
            limit = self.trainer.limit_train_batches
        if isinstance(limit, int):
            return min(batches, limit)
        return int(batches * limit)

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Plan the batches of one training epoch."""
        if self.trainer is not None and self.trainer.overfit_batches:
            epoch = 0  # every epoch has the same batches
        if self.curriculum is not None:
            return self.curriculum.plan(epoch)
        batches = self._whole_plan(epoch)
        counts = self.batches_per_epoch()
        if epoch >= len(counts):
            return batches
        return batches[: counts[epoch]]  # `trainer.max_steps` may end inside an epoch

    def _whole_plan(self, epoch: int) -> list[np.ndarray]:
        classes = self.config.data.label_order
        copies_U = copies(self.unit_labels(TRAIN), classes, self.batching)
        return plan_epoch(self.units[TRAIN], self.batching, self.config.seed, epoch, copies_U)

    def _count(self, epochs: int) -> list[int]:
        """Count the batches of `epochs` epochs, or of those that `trainer.max_steps` asks for."""
        if epochs not in self._counted:
            self._counted[epochs] = self._count_plans(epochs)
        return self._counted[epochs]

    def _count_plans(self, epochs: int) -> list[int]:
        """Plan the epochs to count their batches.

        With `trainer.max_steps`, there are as many epochs as these steps need; the last one may be
        shorter.
        """
        settings = self.config.trainer
        if settings.max_steps is None:
            return [len(self._whole_plan(epoch)) for epoch in range(epochs)]

        accumulate = settings.accumulate_grad_batches
        steps = settings.max_steps  # that are left
        counts: list[int] = []
        while steps > 0:
            whole = len(self._whole_plan(len(counts)))
            if not self._limited(whole):
                break
            needed = steps * accumulate
            enough = (count for count in range(1, whole) if self._limited(count) >= needed)
            counts.append(next(enough, whole))
            steps -= math.ceil(self._limited(counts[-1]) / accumulate)
        return counts

    def unit_labels(self, split: str) -> np.ndarray:
        """Get the class id of each unit's first row."""
        return self.features[split].labels_R[self.units[split].rows_V[:-1]]

    def unit_sizes(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        """Count the rows and the tokens (without padding) of each unit, int64."""
        units = self.units[split]
        tokens_U = np.diff(self.features[split].offsets_S[units.sequences_V])
        return np.diff(units.rows_V), tokens_U

    def train_dataloader(self) -> DataLoader:
        """Load the current epoch, without the batches done before a resume."""
        epoch = done = 0
        if self.trainer is not None:
            epoch = self.trainer.current_epoch
            loop = self.trainer.fit_loop
            epochs = loop.epoch_progress.current
            if epochs.ready != epochs.processed:  # the checkpoint was written inside an epoch
                done = loop.epoch_loop.batch_progress.current.ready
        return self._loader(TRAIN, self.plan, epoch, done)

    def val_dataloader(self) -> DataLoader | list[DataLoader]:
        """Load the validation split, or nothing where there is none."""
        return self.evaluation_loader(VALIDATION) if VALIDATION in self.features else []

    def test_dataloader(self) -> list[DataLoader]:
        """Load each of `tests`."""
        return [self.evaluation_loader(split) for split in self.tests]

    def predict_dataloader(self) -> list[DataLoader]:
        """Load each of `tests`."""
        return self.test_dataloader()

    def evaluation_loader(self, split: str, done_U: Sequence[int] | np.ndarray = ()) -> DataLoader:
        """Load any split, in order of length where there are tokens to pad.

        Args:
            split: its name.
            done_U: indices of units that are predicted already; batches of only these are left
                out.
        """
        units = self.units[split]
        if split in self.vectors:
            batches = plan_stored(units)
        else:
            batches = plan_evaluation(units, evaluated_tokens(self.config))
        left = [units_U for units_U in batches if not np.isin(units_U, done_U).all()]
        return self._loader(split, lambda epoch: left)

    def _loader(self, split: str, plan: Plan, epoch: int = 0, done: int = 0) -> DataLoader:
        collate: Any = Collator(
            self.features[split],
            self.tokenizer.pad_token_id,
            self.vectors.get(split),
            self.units[split],
        )
        rank = ranks.rank()
        processes = ranks.ranks()
        if self.trainer is not None:
            rank = self.trainer.global_rank
            processes = self.trainer.world_size
        if processes > 1:
            from heron.data.collate import SharingCollator  # start-up time: one process is usual

            collate = SharingCollator(collate, rank, processes)
        return DataLoader(
            _Units(),
            batch_size=None,
            sampler=EpochPlan(plan, epoch, done),
            collate_fn=collate,
            # Every iterator draws a seed; drawn from the global generator, it would
            # change dropout's numbers, and a run resumed between epochs would differ.
            generator=torch.Generator(),
            pin_memory=ranks.uses_gpu(self.config.trainer.accelerator),
        )


def evaluated_tokens(config: RunSettings) -> int:
    """Get the most padded tokens of a batch that is evaluated.

    Where `batching.tokens` is null, a GPU takes as many for each 8 GiB of its memory.
    """
    tokens = budget(config.batching)
    if config.batching.tokens is None and ranks.uses_gpu(config.trainer.accelerator):
        tokens *= max(1, round(torch.cuda.get_device_properties().total_memory / 2**33))
    return tokens


@dataclass(frozen=True, slots=True)
class Prepared:
    """The splits of a data set, read and tokenized; runs of a sweep share it."""

    examples: Splits
    dropped: dict[str, dict[str, int]]  # rows that were left out, by split and reason
    tokenizer: Any  # the encoder's, with the event markers where the input has them
    known_tokens: int  # number of tokens that the encoder was trained with
    features: dict[str, Features]
    keys: dict[str, str]  # fingerprint of each split's features


# Holds at most one entry, the data of this process's previous job: in a grid over heads, reading
# and tokenizing would take as long as training.
_last: dict[str, Prepared] = {}


def prepare_once(config: RunSettings) -> Prepared:
    """Prepare a run's data, or reuse those of the process's previous job if they are the same.

    They are the same if everything that `Prepared` depends on is: settings, data files, files of
    the tokenizer.
    """
    sets = every_set(config).values()
    data_dir, cache = config.paths.folders
    files: list[Path] = []
    for data_set in sets:
        files += locate(data_set, data_dir, cache).values()
    for path in Path(config.encoder.name).glob("*"):
        if path.suffix in (".json", ".txt", ".model"):
            files.append(path)

    key = fingerprint(
        [asdict(data_set) for data_set in sets],
        asdict(config.encoder),
        config.also_test,
        [asdict(feature_options(config, training)) for training in (True, False)],
        TASKS[config.data.task].added_tokens(config),
        [(str(path), sha256_file(path)) for path in files],
        str(cache.absolute()),
    )
    if key not in _last:
        prepared = prepare(config)
        _last.clear()
        _last[key] = prepared
    return _last[key]


def prepare(config: RunSettings, examples: Splits | None = None, tokenizer: Any = None) -> Prepared:
    """Read and tokenize every split.

    Args:
        config: the run's configuration.
        examples: by split; None reads the data sets of the configuration.
        tokenizer: None loads the encoder's, or trains one where the encoder is from scratch.

    Raises:
        ConfigError: a split that is needed has no rows.
        DataError: rows that cannot be read, or with `data.on_cut=refuse` not be tokenized.
    """
    cache = Path(config.paths.cache)
    dropped: dict[str, dict[str, int]] = {}
    if examples is None:
        loaded = load_run_data(config)
        examples = loaded.examples
        dropped = loaded.dropped
        _require_rows(config, examples)

    task = TASKS[config.data.task]
    added = task.added_tokens(config)
    if tokenizer is None:
        texts = _texts_of(examples.get(TRAIN, []))
        tokenizer = load_tokenizer(config.encoder, added, texts, cache, config.data.language)
    _remove_limits(tokenizer)  # the limits of its last call would change the keys below
    tokenizer_state = tokenizer.backend_tokenizer.to_str()
    fork_code: tuple[Any, ...] = ()
    if not task.features.__module__.startswith("heron."):
        from heron.base.folders import code_hashes

        fork_code = (config.data.task, code_hashes(task.features))

    features = {}
    keys = {}
    for split, rows in examples.items():
        options = feature_options(config, training=split == TRAIN)
        contents = map(_content, rows)
        keys[split] = fingerprint(
            FEATURES_VERSION, contents, tokenizer_state, asdict(options), *fork_code
        )
        build = partial(task.features, rows, tokenizer, options)
        features[split] = load_features(cache, keys[split], build)
        is_empty = split in (TRAIN, VALIDATION) and not len(features[split])
        if config.data.on_cut == "refuse" or is_empty:
            require_none_refused(features[split], split)
    _remove_limits(tokenizer)  # else they are exported if features were not cached
    return Prepared(examples, dropped, tokenizer, len(tokenizer) - len(added), features, keys)


def _texts_of(examples: Iterable[Example]) -> Iterator[str]:
    """List all texts of some examples, those to generate included."""
    for example in examples:
        for text in (example.text, example.text_pair, example.target):
            if text is not None:
                yield text


def _content(example: Example) -> tuple[Any, ...]:
    """List what features depend on of an example."""
    target = () if example.target is None else (example.target,)
    return (example.guid, example.text, example.text_pair, example.spans, example.label, *target)


def _require_rows(config: RunSettings, examples: Splits) -> None:
    """Raise a ConfigError where there is nothing to train on, or to choose an epoch by."""
    uses = {TRAIN: "train on"}
    if config.trainer.needs_validation():
        uses[VALIDATION] = "choose an epoch by (trainer.select=best, trainer.patience)"
    for split, use in uses.items():
        if not examples.get(split):
            raise no_rows(config.data.name, split, use)


def _remove_limits(tokenizer: Any) -> None:
    """Remove the length limits of the last call; every call sets its own."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()


def feature_options(config: RunSettings, training: bool = False) -> FeatureOptions:
    """Collect the options of tokenization, for a split to train on or another."""
    encoder = config.encoder
    return FeatureOptions(
        input=config.head.input,
        max_length=encoder.max_length,
        label_order=tuple(config.data.label_order),
        truncation=encoder.truncation,
        overflow=encoder.overflow,
        stride=encoder.stride,
        separator=encoder.separator,
        trailing_separator=encoder.trailing_separator,
        own=TASKS[config.data.task].feature_options(config, training),
    )


def plan_stored(units: Units, most: int = 4096) -> list[np.ndarray]:
    """Plan one pass over stored vectors, in order.

    Args:
        units: of the split.
        most: vectors in a batch, about; many, as a head is fast.
    """
    # Vectors are stored per row or per sequence; the more numerous ones count.
    vectors_U = np.maximum(np.diff(units.rows_V), np.diff(units.sequences_V))
    batch_U = np.cumsum(vectors_U) // most
    first_U = np.flatnonzero(np.diff(batch_U)) + 1
    return np.split(np.arange(len(units)), first_U)


class _Units(Dataset[np.ndarray]):
    """Returns the unit indices of a batch unchanged; the collator reads the units."""

    def __getitem__(self, units_U: np.ndarray) -> np.ndarray:
        return units_U


class EpochPlan(DistributedSampler[np.ndarray], SequentialSampler):
    """The batches of an epoch's plan, in order; Lightning sets the epoch.

    Batches that were trained on before a resume are skipped, but counted in the length, because
    Lightning counts them as fetched. Every process gets every batch; the collator takes the
    process's share of it. A `DistributedSampler` is not wrapped in a shuffling one by Lightning,
    and a `SequentialSampler` is not replaced under `overfit_batches`.
    """

    def __init__(self, plan: Plan, epoch: int = 0, done: int = 0):
        self.plan = plan
        self.epoch = epoch
        self.done = done
        self._batches: list[np.ndarray] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Go to another epoch, of which nothing is done."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.done = 0
            self._batches = None

    def batches(self) -> list[np.ndarray]:
        """List the epoch's batches, those that are done included."""
        if self._batches is None:
            self._batches = self.plan(self.epoch)
        return self._batches

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.batches()[self.done :])

    def __len__(self) -> int:
        return len(self.batches())
