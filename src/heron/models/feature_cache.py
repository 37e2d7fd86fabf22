"""The cache of frozen encoders: pooled vectors, computed once.

With `encoder.freeze=all` the pooled vectors of a split do not depend on training. They are computed
once per (texts, tokenizer, encoder, pooling, precision) and stored memory-mapped for all runs and
processes; heads then train on vectors.

Shape suffixes: B sequences, R rows, P pooled; X rows or windows.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from heron.base.files import Arrays, fingerprint, load_or_build
from heron.base.folders import code_hashes
from heron.base.ranks import uses_gpu
from heron.base.terminal import tracked
from heron.data.batching import plan_evaluation
from heron.data.collate import Collator
from heron.data.config import RunSettings
from heron.data.datamodule import DataModule, evaluated_tokens
from heron.data.examples import Splits
from heron.data.hub import identity, vocabulary_size
from heron.models import HEADS, POOLINGS
from heron.models.config import HeadConfig
from heron.models.encoder import Encoder, load_encoder
from heron.models.heads import Head, pooled_width
from heron.models.precision import precision

_VERSION = 3
# Settings that cannot change the states of an encoder in evaluation mode.
_WITHOUT_EFFECT = ("name", "dropout", "gradient_checkpointing", "freeze", "cache")
# Premise and hypothesis read apart; a text's vector is the mean of its states.
APART = HeadConfig(name="sts", input="separate", pooling="mean", combine="concat")


def load_vectors(
    config: RunSettings, data: DataModule, build: Callable[[], tuple[Encoder, Any]]
) -> dict[str, np.ndarray]:
    """Open the pooled vectors of every split, after encoding splits that no run has encoded yet.

    Args:
        config: the run's configuration.
        data: its splits.
        build: makes encoder and head (for its pooling); called at most once, where needed.

    Returns:
        For each split float32 [X, P], memory-mapped: a vector per row, or per window where a row's
        windows are joined by their logits.
    """
    models: list[tuple[Encoder, Head]] = []

    def encode(split: str) -> tuple[Arrays, dict[str, Any]]:
        if not models:
            models.append(build())
        return {"vectors": encode_split(*models[0], config, data, split)}, {}

    encoded_by = encoding(config, data)
    cache = Path(config.paths.cache)
    vectors = {}
    for split in data.features:
        key = fingerprint(_VERSION, encoded_by, data.keys[split])
        arrays, _ = load_or_build(cache, "vectors", key, partial(encode, split))
        vectors[split] = arrays["vectors"]
    return vectors


def pool_texts(
    config: Any,
    head: HeadConfig,
    examples: Splits,
    tokenizer: Any = None,
) -> tuple[dict[str, Sequence[str]], dict[str, np.ndarray]]:
    """Read texts with a run's encoder, frozen, and pool them; vectors are stored.

    Args:
        config: the run's configuration.
        head: its pooling, and the input form.
        examples: the texts by split.
        tokenizer: None loads the encoder's own.

    Returns:
        For each split the guids, and float32 [N, P] in their order.
    """
    config = copy.deepcopy(config)
    config.head = head
    config.encoder = dataclasses.replace(
        config.encoder,
        freeze="all",
        overflow="truncate",
        separator=None,
        trailing_separator=False,
        cache=True,
    )
    data = DataModule(config, examples, tokenizer)
    vectors = load_vectors(config, data, lambda: _models(config, data.tokenizer))
    return {split: features.guids for split, features in data.features.items()}, vectors


def _models(config: Any, tokenizer: Any) -> tuple[Encoder, Head]:
    """Load the encoder with random numbers of its own.

    The run's random numbers must not depend on whether the vectors are stored already.
    """
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        model = load_encoder(config.encoder, vocabulary_size(tokenizer), tokenizer.pad_token_id)
        encoder = Encoder(model, "all", config.encoder.global_attention)
        return encoder, Head(config.head, encoder.width, classes=1)


def encode_split(
    encoder: Encoder, head: Head, config: RunSettings, data: DataModule, split: str
) -> np.ndarray:
    """Encode and pool a split, in order of length.

    Args:
        encoder: is set to evaluation mode, and moved to the run's device.
        head: for its pooling.
        config: the run's configuration.
        data: the splits of the run.
        split: the split to encode.

    Returns:
        float32 [X, P]: a vector per row where the head pools rows, else per sequence.
    """
    features = data.features[split]
    collate = Collator(features, data.tokenizer.pad_token_id)
    is_per_row = head.pools_rows()
    count = len(features) if is_per_row else len(features.lengths_S)
    width = pooled_width(config.head, encoder.width) - config.head.distance
    vectors_XP = np.zeros((count, width), dtype=np.float32)

    device = torch.device("cuda" if uses_gpu(config.trainer.accelerator) else "cpu")
    encoder.eval().to(device)
    dtypes = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
    dtype = dtypes.get(precision(config))
    plan = plan_evaluation(data.units[split], evaluated_tokens(config))
    for units_U in tracked(plan, f"encoding {split}", config.trainer.enable_progress_bar):
        batch = collate(units_U).to(device)
        with torch.no_grad(), torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
            pooled_XP = head.pool(encoder(batch), batch)

        entries_X = batch.rows_R.cpu().numpy() if is_per_row else collate.sequences(units_U)
        vectors_XP[entries_X] = pooled_XP.float().cpu().numpy()
    return vectors_XP


def encoding(config: RunSettings, data: DataModule) -> str:
    """Fingerprint everything about encoder and pooling that a pooled vector depends on."""
    encoder = config.encoder
    head = config.head
    settings = dataclasses.asdict(encoder)
    for name in _WITHOUT_EFFECT:
        del settings[name]
    weights = identity(encoder)
    if not weights or len(data.tokenizer) > data.known_tokens:
        # From scratch, or with embeddings of new tokens: the seed has drawn some weights.
        settings["seed"] = config.seed
    pooling = (head.input, head.pooling, head.combine, head.over_windows, head.distance > 0)
    return fingerprint(settings, weights, pooling, precision(config), *_code_of_forks(head))


def _code_of_forks(head: HeadConfig) -> list[Any]:
    """Hash the code of a fork's pooling or head that a pooled vector depends on; core: empty."""
    code: list[Any] = code_hashes(POOLINGS[head.pooling].pool)
    build: Any = Head if head.module is None else HEADS[head.module]
    own_pool = getattr(build, "pool", None) is not Head.pool
    own_rows = getattr(build, "pools_rows", None) is not Head.pools_rows
    if own_pool or own_rows:
        code += [dataclasses.asdict(head), *code_hashes(build)]
    return code


class StoredEncoder(Encoder):
    """Replaces an encoder where batches have stored vectors; `width` is that encoder's D."""

    def __init__(self, width: int):
        nn.Module.__init__(self)  # `Encoder.__init__` would need a model
        self.stored_width = width
        self.frozen = []

    @classmethod
    def of(cls, head: HeadConfig, vectors: Mapping[str, np.ndarray]) -> StoredEncoder:
        """Replace the encoder that made some splits' vectors."""
        (stored,) = {array.shape[1] for array in vectors.values()}
        plain = dataclasses.replace(head, distance=0)
        return cls(stored // pooled_width(plain, width=1))

    def description(self) -> dict[str, Any]:
        """See `Encoder.description`; there is no model."""
        return {}

    @property
    def width(self) -> int:
        """D, the width of the pooled states."""
        return self.stored_width

    @property
    def layers(self) -> list[nn.Module]:
        """No layers."""
        return []

    def assert_mode(self, training: bool) -> None:
        """Do nothing: there are no modules."""
