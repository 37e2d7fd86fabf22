"""Texts and pairs of texts to `Features`: in one sequence, in two, or in windows.

Shape suffixes: S sequences, R rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heron.base.errors import ConfigError, Problem
from heron.base.terminal import tracked
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
    rows: list[Row | Problem] = []
    forms = ("premise", "hypothesis") if options.input == "separate" else (options.input,)
    for start in tracked(range(0, len(examples), _CHUNK), "tokenizing"):
        chunk = examples[start : start + _CHUNK]
        found = [_encode(chunk, tokenizer, options, form) for form in forms]
        for parts in zip(*found, strict=True):
            problem = next((part for part in parts if isinstance(part, Problem)), None)
            sequences = [] if problem else [each for part in parts for each in part.sequences]
            rows.append(problem or Row(sequences, any(part.cut for part in parts)))
    return features_of(examples, rows, options)


class Row(NamedTuple):
    """One example: token ids and start of the second text of each sequence; whether it is cut."""

    sequences: list[tuple[np.ndarray, int]]
    cut: bool
    own: Any = None  # what the task needs of it for its columns


def features_of(
    examples: Sequence[Example], rows: Sequence[Row | Problem], options: FeatureOptions, **own: Any
) -> Features:
    """Join the rows of a split; an example with a problem has none. `own`: further fields."""
    kept = [(e, row) for e, row in zip(examples, rows, strict=True) if isinstance(row, Row)]
    sequences = [each for _, row in kept for each in row.sequences]
    counts_R = np.asarray([len(row.sequences) for _, row in kept], dtype=np.int32)
    tokens_T, offsets_S = flatten([ids for ids, _ in sequences])
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.asarray([second for _, second in sequences], dtype=np.int32),
        sequences_R=np.cumsum(counts_R, dtype=np.int32) - counts_R,
        labels_R=options.label_ids([example for example, _ in kept]),
        truncated_R=np.asarray([row.cut for _, row in kept], dtype=bool),
        guids=[example.guid for example, _ in kept],
        refused=[row for row in rows if isinstance(row, Problem)],
        **own,
    )


def second_start(encoding: Any) -> int:
    """Find the first token of segment 1; -1 for tokenizers with one segment."""
    types = encoding.type_ids
    return types.index(1) if 1 in types else -1


def _encode(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions, form: str
) -> list[Any]:
    """Encode each example whole, then too long ones again: a `Row`, or a `Problem`."""
    texts = [_texts(example, options, form) for example in examples]
    backend = tokenizer.backend_tokenizer  # transformers would make lists of masks and ids as well
    backend.no_truncation()
    backend.no_padding()
    whole = backend.encode_batch_fast([each if len(each) == 2 else each[0] for each in texts])
    rows: list[Any] = [Row([(token_ids(e.ids), second_start(e))], False) for e in whole]
    left = [row for row, each in enumerate(whole) if len(each) > options.max_length]
    # A single text is always cut at its end.
    truncation = "longest_first" if len(texts[0]) == 1 else options.truncation
    if truncation != "longest_first":
        kept = "hypothesis" if truncation == "only_first" else "premise"
        for row in left:
            rows[row] = no_room(examples[row], whole[row].sequence_ids, kept, options) or rows[row]
    left = [row for row in left if isinstance(rows[row], Row)]
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
        rows[row] = Row([], not windows)
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


def no_room(
    example: Example, sources: Sequence[int | None], whole: str, options: FeatureOptions
) -> Problem | None:
    """Find that the text which is never cut, such as `hypothesis`, leaves no room for the other.

    `sources` has the text of each token, 0 or 1; None of special ones.
    """
    length = sources.count(int(whole == "hypothesis"))
    room, also = options.max_length - sources.count(None) - 1, ""
    fix = ["encoder.max_length allows more", "data.on_cut=drop leaves such rows out"]
    if options.overflow == "windows":
        room -= options.stride  # each window needs a new token
        also = f", after the {options.stride} that windows share,"
        fix.insert(0, "a smaller encoder.stride allows more")
    elif whole != "question":
        fix.insert(0, "encoder.truncation=longest_first cuts both")
    if length <= room:
        return None
    what = f"its {whole} has {length} tokens and leaves none of {options.max_length}{also}"
    return Problem(example.guid, f"{what} for the other text", tuple(fix))
