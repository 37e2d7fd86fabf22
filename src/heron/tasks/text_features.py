"""Texts and pairs of texts to `Features`: in one sequence, in two, or in windows.

Shape suffixes: S sequences, R rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heron.base.errors import ConfigError, Problem
from heron.data.examples import Example
from heron.data.features import FeatureOptions, Features, flatten, token_ids

_CHUNK = 4096  # examples tokenized at once; more would need more memory and save no time


def text_features(examples: Sequence[Example], tokenizer: Any, options: FeatureOptions) -> Features:
    """Tokenize a split of texts, or of sentence pairs.

    Args:
        examples: each with `text_pair`, unless `options.input` is `text` or `premise`.
        tokenizer: a fast Hugging Face tokenizer.
        options: `input` is `text` (the only text), `pair` (one sequence by the tokenizer's pair
            template, or with `separator`), `premise` or `hypothesis` (one text of a pair), or
            `separate` (a sequence for the premise, then one for the hypothesis).

    Returns:
        The features. `truncated_R` marks rows that the length limit cuts; a pair whose second text
        leaves no room for the first is in `refused`.
    """
    kept: list[Example] = []
    refused: list[Problem] = []
    sequences: list[np.ndarray] = []
    second: list[int] = []
    first_R: list[int] = []
    truncated_R: list[bool] = []
    forms = ("premise", "hypothesis") if options.input == "separate" else (options.input,)
    for start in range(0, len(examples), _CHUNK):
        chunk = examples[start : start + _CHUNK]
        found = [_encode(chunk, tokenizer, options, form) for form in forms]
        for example, parts in zip(chunk, zip(*found, strict=True), strict=True):
            problems = [part for part in parts if isinstance(part, Problem)]
            if problems:
                refused += problems
                continue
            kept.append(example)
            first_R.append(len(sequences))
            truncated_R.append(any(part.cut for part in parts))
            for ids, begin in (each for part in parts for each in part.sequences):
                sequences.append(ids)
                second.append(begin)
    tokens_T, offsets_S = flatten(sequences)
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.asarray(second, dtype=np.int32),
        sequences_R=np.asarray(first_R, dtype=np.int32),
        labels_R=options.label_ids(kept),
        truncated_R=np.asarray(truncated_R, dtype=bool),
        guids=[example.guid for example in kept],
        refused=refused,
    )


class _Row(NamedTuple):
    """One text or pair: token ids and start of the second text of each sequence; whether cut."""

    sequences: list[tuple[np.ndarray, int]]
    cut: bool


def second_start(encoding: Any) -> int:
    """Find the first token of segment 1; -1 for tokenizers with one segment."""
    types = encoding.type_ids
    return types.index(1) if 1 in types else -1


def _encode(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions, form: str
) -> list[Any]:
    """Encode each example whole, then too long ones again: a `_Row`, or a `Problem`."""
    texts = [_texts(example, options, form) for example in examples]
    backend = tokenizer.backend_tokenizer  # transformers would make lists of masks and ids as well
    backend.no_truncation()
    backend.no_padding()
    whole = backend.encode_batch_fast([each if len(each) == 2 else each[0] for each in texts])
    rows: list[Any] = [_Row([(token_ids(e.ids), second_start(e))], False) for e in whole]
    left = [row for row, each in enumerate(whole) if len(each) > options.max_length]
    # A single text is always cut at its end.
    truncation = "longest_first" if len(texts[0]) == 1 else options.truncation
    for row in left:
        if problem := _no_room(examples[row], whole[row], truncation, options):
            rows[row] = problem
    left = [row for row in left if isinstance(rows[row], _Row)]
    if not left:
        return rows
    windows = options.overflow == "windows"
    encoded = tokenizer(
        *map(list, zip(*(texts[row] for row in left), strict=True)),
        truncation=truncation,
        max_length=options.max_length,
        return_overflowing_tokens=windows,
        stride=options.stride if windows else 0,
    )
    sources = encoded["overflow_to_sample_mapping"] if windows else range(len(left))
    for row in left:  # with windows nothing is cut: the overflow is the next window
        rows[row] = _Row([], not windows)
    for encoding, source in zip(encoded.encodings, sources, strict=True):
        sequence = token_ids(encoding.ids), second_start(encoding)
        rows[left[source]].sequences.append(sequence)
    return rows


def _texts(example: Example, options: FeatureOptions, form: str) -> tuple[str, ...]:
    """Choose the text or the two texts of a sequence."""
    hypothesis = example.text_pair or ""
    if form in ("text", "premise"):
        return (example.text,)
    if form == "hypothesis":
        return (hypothesis,)
    if form != "pair":
        raise ConfigError(f"text_features reads texts and pairs, not head.input={form}")
    if options.separator is not None:
        end = options.separator if options.trailing_separator else ""
        return (f"{example.text}{options.separator}{hypothesis}{end}",)
    return example.text, hypothesis


def _no_room(
    example: Example, encoding: Any, truncation: str, options: FeatureOptions
) -> Problem | None:
    """Find a pair in which the text that is never cut leaves no room for the other one."""
    if truncation == "longest_first":
        return None
    sources, whole = (
        encoding.sequence_ids,
        "hypothesis" if truncation == "only_first" else "premise",
    )
    length = sources.count(int(whole == "hypothesis"))
    room, also = options.max_length - sources.count(None) - 1, ""
    fix = ("encoder.truncation=longest_first cuts both", "encoder.max_length allows more")
    if options.overflow == "windows":
        room -= options.stride  # each window needs a new token
        also = f", after the {options.stride} that windows share,"
        fix = ("a smaller encoder.stride allows more", "a larger encoder.max_length allows more")
    if length <= room:
        return None
    return Problem(
        example.guid,
        f"its {whole} has {length} tokens and leaves none of {options.max_length}{also} for the "
        "other text",
        (*fix, "data.on_cut=drop leaves such rows out"),
    )
