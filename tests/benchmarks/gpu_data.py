"""Data and encoders of the benchmarks on a GPU: the built-in corpus, random weights."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.training.compose import compose
from tiny_models import save_model

from .epoch import TRAINING, ChosenBatches

# Hidden units and layers; `narrow` has as many operations as `base`.
SHAPES = {"tiny": (32, 2), "narrow": (64, 12), "base": (768, 12), "large": (1024, 24)}
_AS_ON_GPU = ("trainer.precision=bf16-mixed", "encoder.kernels=torch")
LONG = "data.generator.premise_sentences"
# Words of the configuration, and rows of the data set: enough for the batches that are timed.
CASES = {
    "pairs": ("data=chronicle head=ess encoder.max_length=256", 6000),
    "nli512": (f"data=chronicle_nli head=cross encoder.max_length=512 {LONG}=[40,50]", 1000),
    "nli128": (f"data=chronicle_nli head=cross encoder.max_length=128 {LONG}=[6,10]", 1000),
    "qa384": (f"data=chronicle_qa encoder.max_length=384 {LONG}=[30,50]", 500),
    "window": ("data=chronicle head=window encoder.max_length=256", 6000),
    "summaries": (f"data=chronicle_summaries encoder.max_length=512 {LONG}=[20,60]", 1000),
}


def prepare(case: str, size: str, home: Path, device: str) -> ChosenBatches:
    """Prepare the data of a case and an encoder of a size; of what was before, leave nothing."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.use_deterministic_algorithms(False)  # Lightning's Trainer has set it for all
    torch.manual_seed(0)
    (task, rows), folder = CASES[case], home / size
    generated = rows if size in ("base", "large") else 100
    own = (f"paths.cache={home}", f"data.generator.size={generated}")
    if not folder.exists():
        hidden, layers = SHAPES[size]
        shape = {"hidden_size": hidden, "num_hidden_layers": layers, "vocab_size": 32_000}
        shape |= {"num_attention_heads": max(2, hidden // 64), "intermediate_size": 4 * hidden}
        known = DataModule(compose(["data=chronicle_summaries", *own]))
        with torch.device(device):
            save_model("bert", known.tokenizer, folder, max_position_embeddings=512, **shape)
    words = (*task.split(), *TRAINING, *own, *_AS_ON_GPU, f"encoder={folder}")
    data = ChosenBatches(compose([*words, f"trainer.accelerator={device}"]))
    if data.config.task.name == "relation":  # to be as long as those of news
        features = data.features[TRAIN]
        several = np.split(features.tokens_T, features.offsets_S[1:-1])
        tokens_T = np.concatenate([np.tile(each, 2) for each in several])
        twice = replace(features, tokens_T=tokens_T, offsets_S=2 * features.offsets_S)
        data.features[TRAIN] = twice
    return data
