"""Relation examples to `Features`: each marked pair in a sequence of its own, or whole windows.

Shape suffixes: T tokens of the split, S sequences, R rows, L tokens of one sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heron.data.examples import Example, Span
from heron.data.features import FeatureOptions, Features, flatten
from heron.data.markers import mark
from heron.errors import Problem


def relation_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split of relation examples.

    Args:
        examples: each with two spans in its text.
        tokenizer: a fast Hugging Face tokenizer that knows the markers as single tokens when
            `options.input` is `marked`.
        options: see `FeatureOptions`.

    Returns:
        The features; examples whose marker or mention is cut by `max_length`, or covers no token,
        are in `refused` and have no row.
    """
    texts, sequences, spans, openings = _layout(examples, options)
    encoded = tokenizer(
        texts, truncation=True, max_length=options.max_length, return_offsets_mapping=True
    )
    offsets = [np.asarray(pairs, dtype=np.int64) for pairs in encoded["offset_mapping"]]
    truncated = [bool(encoding.overflowing) for encoding in encoded.encodings]
    rows, refused = [], []
    for index, example in enumerate(examples):
        sequence = sequences[index]
        where = offsets[sequence], truncated[sequence]
        try:
            located = [_locate(*where, span) for span in spans[index]]
            opened = [_locate(*where, span)[0] for span in openings[index]][:2]
        except LookupError:
            refused.append(_cut(example, truncated[sequence], options))
            continue
        rows.append((sequence, *located[0], *located[1], *(opened or (-1, -1)), index))
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 8)
    table = table[np.argsort(table[:, 0], kind="stable")]
    kept = [examples[index] for index in table[:, 7]]
    # Sequences whose rows were all refused go too: a batch of them would have nothing to learn.
    used_S, sequences_R = np.unique(table[:, 0], return_inverse=True)
    tokens_T, offsets_S = flatten([encoded["input_ids"][sequence] for sequence in used_S])
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.full(len(used_S), -1, dtype=np.int32),
        sequences_R=sequences_R.astype(np.int32),
        spans_R4=table[:, 1:5].astype(np.int32),
        markers_R2=table[:, 5:7].astype(np.int32),
        labels_R=options.label_ids(kept),
        truncated_R=np.asarray([truncated[s] for s in table[:, 0]], dtype=bool),
        guids=[example.guid for example in kept],
        refused=refused,
    )


def _layout(
    examples: Sequence[Example], options: FeatureOptions
) -> tuple[list[str], list[int], Sequence[tuple[Span, ...]], Sequence[tuple[Span, ...]]]:
    """Decide which text each example is read in, and where its mentions and markers stand there."""
    if options.input == "window":
        places: dict[str, int] = {}
        sequences = [places.setdefault(example.text, len(places)) for example in examples]
        return list(places), sequences, [e.spans for e in examples], [() for _ in examples]
    texts, spans, openings = [], [], []
    for example in examples:
        marked = mark(example.text, example.spans, options.markers)
        texts.append(marked.text)
        spans.append(marked.spans)
        # A closing marker stands one space behind its event.
        closings = [
            Span(span.end + 1, span.end + 1 + len(options.markers[2 * event + 1]))
            for event, span in enumerate(marked.spans)
        ]
        openings.append((*marked.openings, *closings))
    return texts, list(range(len(texts))), spans, openings


def _locate(offsets_L2: np.ndarray, truncated: bool, span: Span) -> tuple[int, int]:
    """Find the first and last token that overlap a span of characters.

    A span may end behind its last token: some tokenizers strip accents and Hebrew points.

    Raises:
        LookupError: no token does, or the text was cut before the span's end.
    """
    start_L, end_L = offsets_L2[:, 0], offsets_L2[:, 1]
    tokens = np.flatnonzero((start_L < span.end) & (end_L > span.start) & (end_L > start_L))
    if not len(tokens) or (truncated and end_L.max() < span.end):
        raise LookupError
    return int(tokens[0]), int(tokens[-1])


def _cut(example: Example, truncated: bool, options: FeatureOptions) -> Problem:
    if truncated:
        return Problem(
            example.guid, f"an event lies behind the first {options.max_length} tokens and is cut"
        )
    return Problem(example.guid, "an event's characters map to no token of this tokenizer")
