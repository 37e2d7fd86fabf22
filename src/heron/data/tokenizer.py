"""Tokenizers: the encoder's own, or a small one trained on the train split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from transformers import PreTrainedTokenizerFast

from heron.base.files import fingerprint, stored_folder
from heron.data.hub import Pretrained, pretrained_tokenizer


class Tokenized(Pretrained, Protocol):
    """What decides how texts are tokenized: keys of `encoder`."""

    max_length: int
    scratch: Any  # `vocabulary` is the number of its word pieces


def load_tokenizer(
    config: Tokenized, markers: Sequence[str], texts: Iterable[str], cache: Path
) -> PreTrainedTokenizerFast:
    """Load the encoder's tokenizer and add the markers to it as one special token each.

    For `name=scratch` it is trained on `texts`, which are not read otherwise, and kept in `cache`.
    """
    if config.name == "scratch":
        tokenizer = _trained(sorted(set(texts)), config.scratch.vocabulary, cache)
    else:
        tokenizer = pretrained_tokenizer(config)
    # Plain strings, not AddedToken(lstrip, rstrip): those swallow spaces and shift the offsets.
    tokenizer.add_tokens(list(markers), special_tokens=True)
    tokenizer.model_max_length = config.max_length
    tokenizer.truncation_side = "right"  # `build_features` looks for cut events at the end
    return tokenizer


def _trained(texts: list[str], vocabulary: int, cache: Path) -> PreTrainedTokenizerFast:
    """Train a WordPiece tokenizer, or load it from the cache."""

    def train(folder: Path) -> None:
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=_train_wordpiece(texts, vocabulary),
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            mask_token="[MASK]",
            model_input_names=["input_ids", "attention_mask"],
        )
        tokenizer.save_pretrained(folder)

    key = fingerprint("wordpiece-3", vocabulary, texts)[:32]
    folder = stored_folder(cache / "tokenizers" / key, train)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def _train_wordpiece(texts: list[str], vocabulary: int) -> Any:
    # Start-up time.
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # No lower-casing and no accent stripping: Romanian letters and niqqud are kept as they are.
    words = pre_tokenizers.BertPreTokenizer()
    # The trainer numbers letters inside words in random order and breaks ties by number. As special
    # tokens they have fixed numbers, so the vocabulary is the same every time.
    inner = {
        letter for text in texts for word, _ in words.pre_tokenize_str(text) for letter in word[1:]
    }
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        special_tokens=[*special, *(f"##{letter}" for letter in sorted(inner))],
        show_progress=False,
    )
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = words
    trained.train_from_iterator(texts, trainer)
    # A new tokenizer, so that these letters are no special tokens.
    tokenizer = Tokenizer(models.WordPiece(trained.get_vocab(), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = words
    tokenizer.decoder = decoders.WordPiece()
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
    )
    return tokenizer
