"""Relation examples to `Features`: one sequence for each marked pair, or for each window.

Shape suffixes: T tokens of the split, S sequences, R rows, L tokens of one sequence.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heron.base.errors import Problem
from heron.base.terminal import tracked
from heron.data.examples import Example, Span
from heron.data.features import Column, FeatureOptions, Features, flatten, token_ids
from heron.data.markers import mark
from heron.tasks.text_features import token_span

_CHUNK = 4096  # texts tokenized at once; more would need more memory and save no time


def relation_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split of examples with two spans each.

    Args:
        examples: with the spans of their two events.
        tokenizer: a fast one, which knows the markers in `options.own` as single tokens.
        options: of tokenization; `input` is `marked` or `window`, `own` has the markers.

    Returns:
        The features, with the columns of `heron.models.heads.Events`. An example whose event or
        marker is cut by `max_length`, or overlaps no token, has no row and a problem in `refused`.
    """
    groups = _rows_of_sequences(examples, options)
    table = []
    sequences: list[np.ndarray] = []
    refused = {}
    for start in tracked(range(0, len(groups), _CHUNK), "tokenizing"):
        chunk = groups[start : start + _CHUNK]
        laid_out = {row: _lay_out(examples[row], options) for rows in chunk for row in rows}
        encoded = tokenizer(
            [laid_out[rows[0]].text for rows in chunk],
            truncation=True,
            max_length=options.max_length,
            return_offsets_mapping=True,
        )
        for rows, encoding in zip(chunk, encoded.encodings, strict=True):
            offsets_L2 = np.asarray(encoding.offsets, dtype=np.int64)
            is_cut = bool(encoding.overflowing)
            has_rows = False  # a sequence without any is left out
            for row in rows:
                try:
                    tokens = _event_tokens(laid_out[row], offsets_L2, is_cut)
                except LookupError:
                    refused[row] = _refusal(examples[row], is_cut, options)
                    continue
                table.append((len(sequences), *tokens, row, is_cut))
                has_rows = True
            if has_rows:
                sequences.append(token_ids(encoding.ids))

    table_R9 = np.asarray(table, dtype=np.int64).reshape(-1, 9)
    kept = [examples[row] for row in table_R9[:, 7]]
    tokens_T, offsets_S = flatten(sequences)
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.full(len(sequences), -1, dtype=np.int32),
        sequences_R=table_R9[:, 0].astype(np.int32),
        labels_R=options.label_ids(kept),
        truncated_R=table_R9[:, 8].astype(bool),
        guids=[example.guid for example in kept],
        refused=[problem for _, problem in sorted(refused.items())],
        columns={
            "spans": Column(table_R9[:, 1:5].astype(np.int32), "row"),
            "markers": Column(table_R9[:, 5:7].astype(np.int32), "row"),
        },
    )


def _rows_of_sequences(examples: Sequence[Example], options: FeatureOptions) -> list[list[int]]:
    """Group rows by sequence: examples with the same window share one."""
    if options.input != "window":
        return [[row] for row in range(len(examples))]
    rows: dict[str, list[int]] = {}
    for row, example in enumerate(examples):
        rows.setdefault(example.text, []).append(row)
    return list(rows.values())


class _LaidOut(NamedTuple):
    """The text to tokenize for an example, and the characters of what is looked up in it."""

    text: str
    events: tuple[Span, ...]
    markers: tuple[Span, ...]  # the two opening ones, then the two closing ones; empty without


def _lay_out(example: Example, options: FeatureOptions) -> _LaidOut:
    """Write the markers into an example's text."""
    if not options.own:
        return _LaidOut(example.text, example.spans, ())
    marked = mark(example.text, example.spans, options.own)
    closings = []
    for event, span in enumerate(marked.spans):
        start = span.end + 1  # one space separates a closing marker from its event
        closings.append(Span(start, start + len(options.own[2 * event + 1])))
    return _LaidOut(marked.text, marked.spans, (*marked.openings, *closings))


def _event_tokens(laid_out: _LaidOut, offsets_L2: np.ndarray, is_cut: bool) -> tuple[int, ...]:
    """Find the tokens of an example's events.

    Args:
        laid_out: the text with its events and markers.
        offsets_L2: the characters of each token of the text.
        is_cut: whether the length limit cuts the text.

    Returns:
        First and last token of each event; then the first token of each opening marker, or of each
        event.

    Raises:
        LookupError: see `_locate`.
    """
    event_1, event_2 = (_locate(offsets_L2, is_cut, span) for span in laid_out.events)
    # Closing markers are looked up, too, because a cut one is a problem.
    markers = [_locate(offsets_L2, is_cut, span) for span in laid_out.markers]
    opening_1, opening_2 = markers[:2] or (event_1, event_2)
    return *event_1, *event_2, opening_1[0], opening_2[0]


def _locate(offsets_L2: np.ndarray, is_cut: bool, span: Span) -> tuple[int, int]:
    """Find the first and last token that overlap a span of characters.

    A span may end after its last token, because some tokenizers strip accents and Hebrew points: it
    is cut only if the text is.

    Args:
        offsets_L2: the characters of each token, end exclusive.
        is_cut: whether the length limit cuts the text.
        span: of characters.

    Raises:
        LookupError: no token overlaps, or the text is cut before the end of the span.
    """
    tokens = token_span(offsets_L2, span)
    if tokens is None or (is_cut and offsets_L2[:, 1].max() < span.end):
        raise LookupError
    return tokens


def _refusal(example: Example, is_cut: bool, options: FeatureOptions) -> Problem:
    message = "an event or its marker overlaps no token of this tokenizer"
    if is_cut:
        message = (
            f"an event or its marker lies after the first {options.max_length} tokens and is cut"
        )
    return Problem(example.guid, message)
