"""The states of a text's tokens after one layer of an encoder.

Higher layers are left out of the model, so the states are its `last_hidden_state`. In encoders that
normalise before each block (ModernBERT, GPT-2, T5), these include the final normalisation.

Shape suffixes: B sequences, L tokens of the longest, T tokens of all texts, D hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, GPT2Tokenizer, PreTrainedModel, RobertaTokenizer

from heron.base.errors import ConfigError
from heron.base.progress import tracked
from heron.data.batching import plan_evaluation
from heron.data.features import Units
from heron.data.hub import identity, loading, origin
from heron.data.tokenizer import load_tokenizer
from heron.models.config import EncoderConfig
from heron.models.encoder import encoding_part, load_encoder
from heron.models.pretrained import count_positions

# Padded tokens of a batch. On a CPU, 8192 take half as long again.
TOKENS = 1024
GPU_TOKENS = 16384
Ids = np.ndarray  # int64


class Pieces(NamedTuple):
    """A text's token ids, and the tokenizer's own before and after them."""

    before: Ids
    text: Ids
    after: Ids

    @property
    def ids(self) -> Ids:
        """All ids, in order."""
        return np.concatenate(self)


@dataclass(frozen=True, slots=True)
class TokenEncoder:
    """An encoder up to one of its layers, and its tokenizer."""

    model: PreTrainedModel  # in evaluation mode, on its device
    tokenizer: Any  # a fast one
    positions: int | None  # its longest input, in tokens; None without a limit
    precision: str = "32-true"  # `32-true` or `bf16-mixed`

    @classmethod
    def load(
        cls,
        name: str,
        layer: int,
        precision: str = "32-true",
        device: torch.device | None = None,
    ) -> TokenEncoder:
        """Load an encoder (of an encoder-decoder its encoder) without the layers above `layer`.

        Layers count from 1; without a device, a GPU is taken where there is one.

        Raises:
            ConfigError: no such encoder, or it has fewer layers.
        """
        config = _settings(name, layer)
        with naming(name):
            tokenizer = load_tokenizer(config, (), (), Path())
            model = load_encoder(config, len(tokenizer), tokenizer.pad_token_id)
        model = encoding_part(model)
        device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        positions = count_positions(model)
        return cls(model.eval().to(device), tokenizer, positions, precision)

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Tokenize stripped texts, without a length limit."""
        stripped = [text.strip() for text in texts]
        if isinstance(self.tokenizer, GPT2Tokenizer | RobertaTokenizer):
            # They distinguish words after a space; bert-score puts a space there too.
            stripped = [f" {text}" if text else "" for text in stripped]
        if not stripped:
            return []
        found = self.tokenizer(
            stripped,
            return_special_tokens_mask=True,
            return_attention_mask=False,
            verbose=False,
        )
        rows = zip(found["input_ids"], found["special_tokens_mask"], strict=True)
        return [_split(np.asarray(ids, dtype=np.int64), special) for ids, special in rows]

    def is_long(self, pieces: Pieces) -> bool:
        """Tell whether a text is longer than the encoder's input."""
        return self.positions is not None and sum(map(len, pieces)) > self.positions

    def cut(self, pieces: Pieces) -> Pieces:
        """Cut the end of a long text; the tokenizer's own tokens stay."""
        if self.positions is None:
            return pieces
        room = self.positions - len(pieces.before) - len(pieces.after)
        return pieces._replace(text=pieces.text[:room])

    def states(
        self, texts: Sequence[Pieces], title: str = "encoding", progress: bool | None = None
    ) -> list[Tensor]:
        """Encode texts, none of them long.

        Returns:
            For each text float32 [tokens, D], on the CPU.
        """
        ids = [pieces.ids for pieces in texts]
        found: dict[int, Tensor] = {}
        tokens = TOKENS if self.model.device.type == "cpu" else GPU_TOKENS
        plan = plan_evaluation(Units.single(np.array([len(each) for each in ids])), tokens)
        for rows in tracked(plan, title, progress):
            states = self._forward([ids[row] for row in rows])
            found |= {int(row): states_LD for row, states_LD in zip(rows, states, strict=True)}
        return [found[row][: len(each)].clone() for row, each in enumerate(ids)]

    @torch.inference_mode()
    def _forward(self, texts: Sequence[Ids]) -> Tensor:
        """Run a batch; returns states_BLD, float32 on the CPU."""
        tensors, pad_id = list(map(torch.from_numpy, texts)), self.tokenizer.pad_token_id or 0
        tokens_BL = pad_sequence(tensors, True, pad_id)
        mask_BL = pad_sequence([torch.ones_like(each) for each in tensors], True)
        device = self.model.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.precision == "bf16-mixed"):
            output = self.model(input_ids=tokens_BL.to(device), attention_mask=mask_BL.to(device))
        return output.last_hidden_state.float().cpu()


def check_backbone(name: str, layer: int) -> dict[str, str]:
    """Check that an encoder is there and has a layer, without its weights; returns `identity`.

    Raises:
        ConfigError: it is not there, or has fewer layers.
    """
    config = _settings(name, layer)
    with naming(name), loading(name):
        found = identity(config)
        settings = AutoConfig.from_pretrained(name, **origin(config))
    if layer > settings.num_hidden_layers:
        raise ConfigError(
            f"bertscore layer {layer}: {name} has {settings.num_hidden_layers} layers"
        )
    return found


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Rename the keys in errors: this encoder is BERTScore's, not the run's."""
    try:
        yield
    except ConfigError as error:
        what = str(error).replace(f"encoder.name={name}", f"bertscore model {name}")
        raise ConfigError(what.replace("encoder.num_layers=", "bertscore layer ")) from error


def _settings(name: str, layer: int) -> EncoderConfig:
    if name == "scratch":
        raise ConfigError("bertscore model scratch: name a trained encoder")
    return EncoderConfig(name=name, num_layers=layer, max_length=8, fast_dropout=False)


def _split(ids: Ids, special: Sequence[int]) -> Pieces:
    """Separate the tokenizer's own tokens from the text's."""
    own = np.flatnonzero(np.asarray(special) == 0)
    first, last = (own[0], own[-1] + 1) if len(own) else (len(ids), len(ids))
    return Pieces(ids[:first], ids[first:last], ids[last:])
