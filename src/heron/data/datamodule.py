"""One DataModule for every task: examples, features and batches of each split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader, Sampler

from heron.config import as_dict
from heron.data.batching import copies, plan_epoch, plan_evaluation
from heron.data.collate import Collator
from heron.data.config import TEST, TRAIN, VALIDATION
from heron.data.examples import Example
from heron.data.feature_store import load_or_build
from heron.data.features import (
    FEATURES_VERSION,
    FeatureOptions,
    Features,
    require_none_refused,
)
from heron.data.other_sets import test_examples
from heron.data.readers import load_with_report
from heron.data.tokenization import build_features
from heron.files import fingerprint
from heron.models.tokenizer import load_tokenizer
from heron.schema import Config


class DataModule(pl.LightningDataModule):
    """Reads a data set, tokenizes it once, and plans its batches.

    Args:
        config: the run's configuration.
        examples: splits to use instead of reading `config.data`.
        tokenizer: a tokenizer to use instead of loading the encoder's.

    `vectors` may be filled with a frozen encoder's stored vectors: batches then bring those.
    """

    def __init__(
        self,
        config: Config,
        examples: dict[str, list[Example]] | None = None,
        tokenizer: Any = None,
    ):
        super().__init__()
        self.config = config
        self._cache = Path(config.paths.cache)
        self.dropped: dict[str, dict[str, int]] = {}
        if examples is None:
            loaded = load_with_report(config.data, Path(config.paths.data), self._cache)
            self.dropped = loaded.dropped
            examples = {**loaded.examples, **test_examples(config)}
        self.examples = examples
        markers = config.data.event_markers()
        added = markers if config.head.input == "marked" else ()
        if tokenizer is None:
            texts = (example.text for example in examples.get(TRAIN, []))
            tokenizer = load_tokenizer(config.encoder, added, texts, self._cache)
        self.tokenizer = tokenizer
        self.known_tokens = len(tokenizer) - len(added)  # those that the encoder was trained with
        # Before anything is tokenized: the last call's truncation is part of what it then says.
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
        self._tokenizer_key = fingerprint(tokenizer.backend_tokenizer.to_str())
        self.options = feature_options(config)
        self.keys: dict[str, str] = {}
        self.vectors: dict[str, np.ndarray] = {}
        self.features = {split: self._featurize(split) for split in examples}
        self.units = {split: features.units() for split, features in self.features.items()}

    @property
    def label_counts_C(self) -> np.ndarray:
        """Train rows per class, int64."""
        classes = len(self.config.data.label_order)
        return np.bincount(self.features[TRAIN].labels_R, minlength=classes)

    def steps_per_epoch(self) -> list[int]:
        """Count the optimizer steps of every epoch; bucket plans differ by a batch or two."""
        accumulate = self.config.optim.accumulate
        epochs = range(self.config.trainer.max_epochs)
        return [-(-len(self.plan(epoch)) // accumulate) for epoch in epochs]

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Plan the batches of one training epoch."""
        units, batching = self.units[TRAIN], self.config.batching
        labels_U = self.features[TRAIN].labels_R[units.rows_U[:-1]]
        copies_U = copies(labels_U, self.config.data.label_order, batching)
        return plan_epoch(units, batching, self.config.seed, epoch, copies_U)

    def train_dataloader(self) -> DataLoader:
        """Load the current epoch, without the batches that were done before a resume."""
        epoch, done = 0, 0
        if self.trainer is not None:
            epoch = self.trainer.current_epoch
            done = _batches_done(self.trainer)
        return self._loader(TRAIN, self.plan(epoch), done)

    def val_dataloader(self) -> DataLoader | list[DataLoader]:
        """Load the validation split, or nothing where there is none."""
        return self.evaluation_loader(VALIDATION) if VALIDATION in self.features else []

    def test_dataloader(self) -> DataLoader:
        """Load the test split."""
        return self.evaluation_loader(TEST)

    def evaluation_loader(self, split: str) -> DataLoader:
        """Load any split in order of length."""
        plan = plan_evaluation(self.units[split], self.config.batching.tokens)
        return self._loader(split, plan, 0)

    def _loader(self, split: str, plan: Sequence[np.ndarray], done: int) -> DataLoader:
        pad_id, vectors_XP = self.tokenizer.pad_token_id, self.vectors.get(split)
        collate: Any = Collator(self.features[split], pad_id, vectors_XP)
        return DataLoader(
            plan,  # type: ignore[arg-type]  # a sequence of batches is all that is needed
            batch_size=None,
            sampler=RestOfPlan(len(plan), done),
            collate_fn=collate,
            num_workers=self.config.batching.workers,
            # Every iterator draws a seed for its workers. From the global generator, that would
            # shift dropout's numbers, and a run resumed between epochs would differ.
            generator=torch.Generator(),
        )

    def _featurize(self, split: str) -> Features:
        examples = self.examples[split]
        content = [(e.guid, e.text, e.text_pair, e.spans, e.label) for e in examples]
        key = fingerprint(FEATURES_VERSION, content, self._tokenizer_key, as_dict(self.options))
        self.keys[split] = key
        features = load_or_build(
            self._cache, key, lambda: build_features(examples, self.tokenizer, self.options)
        )
        nothing_left = split in (TRAIN, VALIDATION) and not len(features)
        if self.config.data.on_cut == "refuse" or nothing_left:
            require_none_refused(features, split)
        return features


def feature_options(config: Config) -> FeatureOptions:
    """Collect what decides how text becomes features."""
    encoder = config.encoder
    return FeatureOptions(
        input=config.head.input,
        markers=config.data.event_markers(),
        max_length=encoder.max_length,
        label_order=tuple(config.data.label_order),
        truncation=encoder.truncation,
        overflow=encoder.overflow,
        stride=encoder.stride,
        separator=encoder.separator,
    )


class RestOfPlan(Sampler[int]):
    """The batches of a plan that are not done yet, in order.

    Its length is the whole plan's: Lightning counts the batches done before a resume as fetched.
    """

    def __init__(self, length: int, done: int = 0):
        self.length = length
        self.done = done

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.done, self.length))

    def __len__(self) -> int:
        return self.length


def _batches_done(trainer: pl.Trainer) -> int:
    """Count the batches of the current epoch that a resumed checkpoint has already trained on."""
    progress: Any = trainer.fit_loop.epoch_progress.current
    if progress.ready == progress.processed:
        return 0  # the checkpoint was written between two epochs
    return int(trainer.fit_loop.epoch_loop.batch_progress.current.ready)
