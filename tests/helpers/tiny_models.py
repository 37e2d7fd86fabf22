"""Tiny models with random weights, saved for `from_pretrained` beside an encoder's tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# 2 layers x 32 units, by the names that most configurations know.
SHAPE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
SHAPE |= {"intermediate_size": 64, "max_position_embeddings": 256}


def save_model(
    kind: str, tokenizer: Any, folder: Path, auto: str = "AutoModel", seed: int = 0, **own: Any
) -> Path:
    """Save a model and its tokenizer; returns the folder.

    As for real encoders, `from_pretrained` is the way in: what it does to modes, dropout and
    embeddings is what the tests are about.

    Args:
        kind: of transformers, such as `bert`.
        tokenizer: whose vocabulary and padding the model has.
        folder: for both.
        auto: class of transformers that builds it.
        seed: of the weights.
        own: settings beside, or instead of, `SHAPE`.
    """
    import torch
    import transformers

    shape = {**SHAPE, "vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **own}
    config = transformers.AutoConfig.for_model(kind, **shape)
    pooled = kind in ("bert", "longformer") and auto == "AutoModel"
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        build = getattr(transformers, auto).from_config
        model = build(config, **({"add_pooling_layer": False} if pooled else {}))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tokenizer_of(encoder: Path) -> Any:
    """Read an encoder's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(encoder)


def plain_tokenizer(encoder: Path, **options: Any) -> Any:
    """Make a tokenizer that adds nothing, with an encoder's vocabulary; its end is `[SEP]`."""
    from tokenizers import Tokenizer, processors
    from transformers import PreTrainedTokenizerFast

    plain = Tokenizer.from_str(tokenizer_of(encoder).backend_tokenizer.to_str())
    plain.post_processor = processors.Sequence([])
    return PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="[SEP]", **options)
