"""Relation examples to `Features`: one sequence for each marked pair, or for each window.

Shape suffixes: T tokens of the split, S sequences, R rows, L tokens of one sequence.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from heron.base.errors import Problem
from heron.base.terminal import tracked
from heron.data.examples import Example, Span
from heron.data.features import Column, FeatureOptions, Features, flatten, token_ids
from heron.data.markers import mark

_CHUNK = 4096  # texts tokenized at once; more would need more memory and save no time


def relation_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split of examples with two spans each.

    The fast tokenizer knows the markers in `options.own` as single tokens.

    Returns:
        The features, with the columns of `heron.models.heads.Events`. An example whose event or
        marker is cut by `max_length`, or overlaps no token, has no row and a problem in `refused`.
    """
    sequences = np.arange(len(examples))
    if options.input == "window":  # examples with the same window share a sequence
        texts: dict[str, int] = {}
        numbers = [texts.setdefault(example.text, len(texts)) for example in examples]
        sequences = np.asarray(numbers, dtype=np.int64)
    order = np.argsort(sequences, kind="stable")
    starts = np.searchsorted(sequences[order], np.arange(sequences.max(initial=-1) + 2))
    found: list[tuple[int, ...]] = []
    used: list[np.ndarray] = []
    refused: dict[int, Problem] = {}
    for start in tracked(range(0, len(starts) - 1, _CHUNK), "tokenizing"):
        members = [order[a:b] for a, b in pairwise(starts[start : start + _CHUNK + 1])]
        laid_out = [[_lay_out(examples[row], options) for row in rows] for rows in members]
        encoded = tokenizer(
            [of_text[0][0] for of_text in laid_out],
            truncation=True,
            max_length=options.max_length,
            return_offsets_mapping=True,
        )
        for rows, of_text, encoding in zip(members, laid_out, encoded.encodings, strict=True):
            where = np.asarray(encoding.offsets, dtype=np.int64), bool(encoding.overflowing)
            before = len(found)
            for row, (_, spans, markers) in zip(rows.tolist(), of_text, strict=True):
                try:
                    located = [_locate(*where, span) for span in spans]
                    # Closing markers are looked up, too, because a cut one is a problem.
                    opened = [_locate(*where, span)[0] for span in markers][:2]
                except LookupError:
                    refused[row] = _refusal(examples[row], where[1], options)
                    continue
                places = *located[0], *located[1]
                starts_of_events = opened or [first for first, _ in located]
                # Sequence; first and last token of each event; first token of each opening
                # marker, or of each event; example; whether the text was cut.
                found.append((len(used), *places, *starts_of_events, row, where[1]))
            if len(found) > before:  # a sequence without rows is left out
                used.append(token_ids(encoding.ids))
    table = np.asarray(found, dtype=np.int64).reshape(-1, 9)
    kept = [examples[index] for index in table[:, 7]]
    tokens_T, offsets_S = flatten(used)
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.full(len(used), -1, dtype=np.int32),
        sequences_R=table[:, 0].astype(np.int32),
        labels_R=options.label_ids(kept),
        truncated_R=table[:, 8].astype(bool),
        guids=[example.guid for example in kept],
        refused=[problem for _, problem in sorted(refused.items())],
        columns={
            "spans": Column(table[:, 1:5].astype(np.int32), "row"),
            "markers": Column(table[:, 5:7].astype(np.int32), "row"),
        },
    )


def _lay_out(
    example: Example, options: FeatureOptions
) -> tuple[str, tuple[Span, ...], tuple[Span, ...]]:
    """Return the text to tokenize for an example, and the spans of its events and markers."""
    if not options.own:
        return example.text, example.spans, ()
    marked = mark(example.text, example.spans, options.own)
    # One space separates a closing marker from its event.
    closings = [
        Span(span.end + 1, span.end + 1 + len(options.own[2 * event + 1]))
        for event, span in enumerate(marked.spans)
    ]
    return marked.text, marked.spans, (*marked.openings, *closings)


def _locate(offsets_L2: np.ndarray, truncated: bool, span: Span) -> tuple[int, int]:
    """Find the first and last token that overlap a span of characters.

    A span may end after its last token, because some tokenizers strip accents and Hebrew points: it
    is cut only if the text is.

    Raises:
        LookupError: no token overlaps, or the text is cut before the end of the span.
    """
    start_L, end_L = offsets_L2[:, 0], offsets_L2[:, 1]
    tokens = np.flatnonzero((start_L < span.end) & (end_L > span.start) & (end_L > start_L))
    if not len(tokens) or (truncated and end_L.max() < span.end):
        raise LookupError
    return int(tokens[0]), int(tokens[-1])


def _refusal(example: Example, truncated: bool, options: FeatureOptions) -> Problem:
    what = "an event or its marker overlaps no token of this tokenizer"
    if truncated:
        what = f"an event or its marker lies after the first {options.max_length} tokens and is cut"
    return Problem(example.guid, what)
