"""From texts to sequences, and BERT's masking.

Shape suffixes: B sequences, L tokens of the longest, S sequences of a split, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heron.base.errors import ConfigError
from heron.data.collate import IGNORED
from heron.data.examples import Example
from heron.data.features import FeatureOptions, Features
from heron.tasks.text_features import text_features

_PART = " #"  # precedes the number in the guids of a text's second and later sequences
# Of the chosen tokens, .8 are masked and .1 are replaced.
MASKED = 0.8
SWAPPED = 0.9


def text_sequences(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize texts; each sequence of a long one is a row.

    Sequences of one text overlap by `options.stride` tokens if `options.overflow` is `windows`,
    else by none. No token is cut.

    Args:
        examples: one text each.
        tokenizer: of the encoder.
        options: `max_length` counts tokens, special ones included.

    Returns:
        Rows of one sequence. Guids of a text's later sequences end with ` #2`, ` #3`.
    """
    stride = options.stride if options.overflow == "windows" else 0
    whole = replace(options, input="text", overflow="windows", stride=stride)
    features = text_features(examples, tokenizer, whole)
    sequences = len(features.lengths_S)
    counts = np.diff([*features.sequences_R, sequences])  # of each text
    guids = []
    for guid, count in zip(features.guids, counts, strict=True):
        guids.append(guid)
        guids += [f"{guid}{_PART}{number}" for number in range(2, count + 1)]
    return replace(
        features,
        sequences_R=np.arange(sequences, dtype=np.int32),
        labels_R=np.repeat(features.labels_R, counts),
        truncated_R=np.zeros(sequences, dtype=bool),
        guids=guids,
    )


def texts_of_rows(guids: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Map each row of `text_sequences` to its text.

    Args:
        guids: of the rows.
        texts: guids of the texts.

    Returns:
        The index in `texts` of each row's text.
    """
    indices = []
    index = -1
    for guid in guids:
        is_next = index + 1 < len(texts) and guid == texts[index + 1]
        if is_next:  # otherwise a later sequence of the same text
            index += 1
        indices.append(index)
    return indices


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Facts about a tokenizer that masking needs."""

    mask_id: int
    ordinary_V: np.ndarray  # bool, whether a token is not special
    begins_V: np.ndarray  # bool, whether a token begins a word

    @classmethod
    def of(cls, tokenizer: Any) -> Vocabulary:
        """Read a fast tokenizer.

        Raises:
            ConfigError: it has no mask token.
        """
        if tokenizer.mask_token_id is None:
            raise ConfigError("task=mlm: the tokenizer of encoder.name has no token for masks")
        ids = list(range(len(tokenizer)))
        tokens = tokenizer.convert_ids_to_tokens(ids)
        ordinary_V = np.ones(len(tokens), dtype=bool)
        ordinary_V[tokenizer.all_special_ids] = False

        # WordPiece marks the tokens that continue a word, SentencePiece and GPT-2 those that begin.
        continues_V = np.array([token.startswith("##") for token in tokens])
        begins_V = ~continues_V
        if not continues_V.any():
            begins_V = np.array([token.startswith(("▁", "Ġ")) for token in tokens])
        return cls(tokenizer.mask_token_id, ordinary_V, begins_V)


def mask_tokens(
    tokens_BL: np.ndarray,
    mask_BL: np.ndarray,
    seeds: Sequence[Sequence[int]],
    vocabulary: Vocabulary,
    share: float,
    whole_words: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Mask tokens of each sequence, by its own seed.

    `share` of the ordinary (not special) tokens are chosen, rounded, at least one; with
    `whole_words`, words are chosen until they have that many tokens. Of the chosen tokens, 80 %
    become the mask, 10 % a random ordinary token, and 10 % are unchanged.

    Args:
        tokens_BL: ids, int64.
        mask_BL: 1 for tokens, 0 for padding.
        seeds: of each sequence.
        vocabulary: of the tokenizer.
        share: a fraction.
        whole_words: whether a word is masked as a whole.

    Returns:
        The inputs, and the targets (ids of chosen tokens, else `IGNORED`); int64 [B, L].

    Source: Devlin et al. 2019, section 3.1 and appendix A.1; its code for the number of tokens.
    """
    inputs_BL = tokens_BL.copy()
    gold_BL = np.full_like(tokens_BL, IGNORED)
    ordinary_ids = np.flatnonzero(vocabulary.ordinary_V)
    candidates_BL = vocabulary.ordinary_V[tokens_BL] & (mask_BL == 1)
    for row, seed in enumerate(seeds):
        places = np.flatnonzero(candidates_BL[row])
        if not len(places):
            continue
        random = np.random.default_rng(seed)
        words = np.arange(len(places))  # the word of each candidate
        if whole_words:
            begins = vocabulary.begins_V[tokens_BL[row, places]]
            words = np.cumsum(begins) - begins[0]
        order = random.permutation(words[-1] + 1)
        tokens_so_far = np.cumsum(np.bincount(words)[order])
        wanted = max(1, round(share * len(places)))
        last = np.searchsorted(tokens_so_far, wanted)
        chosen = places[np.isin(words, order[: last + 1])]
        gold_BL[row, chosen] = tokens_BL[row, chosen]

        drawn = random.random(len(chosen))
        masked = chosen[drawn < MASKED]
        swapped = chosen[(drawn >= MASKED) & (drawn < SWAPPED)]
        inputs_BL[row, masked] = vocabulary.mask_id
        indices = random.integers(len(ordinary_ids), size=len(swapped))
        inputs_BL[row, swapped] = ordinary_ids[indices]
    return inputs_BL, gold_BL
