"""Texts and pairs of texts to `Features`: in one sequence, in two, or in windows.

Shape suffixes: S sequences, R rows, L tokens of one sequence.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heron.base.errors import ConfigError, Problem
from heron.base.terminal import tracked
from heron.data.examples import Example, Span
from heron.data.features import FeatureOptions, Features, flatten, token_ids

TokenSpan = tuple[int, int]  # first and last token, both inclusive
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
        The features. `truncated_R` marks rows that the length limit cuts. Where the text of a pair
        that is never cut leaves no room for the other, the longer one is cut.
    """
    forms = ("premise", "hypothesis") if options.input == "separate" else (options.input,)
    rows = []
    for start in tracked(range(0, len(examples), _CHUNK), "tokenizing"):
        chunk = examples[start : start + _CHUNK]
        encoded = [_encode(chunk, tokenizer, options, form) for form in forms]
        for parts in zip(*encoded, strict=True):
            rows.append(_joined(parts))
    return features_of(examples, rows, options)


class TextRow(NamedTuple):
    """One example: token ids and start of the second text of each sequence; whether it is cut."""

    sequences: list[tuple[np.ndarray, int]]
    cut: bool
    own: Any = None  # what the task needs of it for its columns


def _joined(parts: Sequence[TextRow]) -> TextRow:
    """Join the sequences of one example."""
    sequences = []
    is_cut = False
    for part in parts:
        sequences += part.sequences
        is_cut = is_cut or part.cut
    return TextRow(sequences, is_cut)


def features_of(
    examples: Sequence[Example],
    rows: Sequence[TextRow | Problem],
    options: FeatureOptions,
    **own: Any,
) -> Features:
    """Join the rows of a split; an example with a problem has none.

    Args:
        examples: of the split.
        rows: what each was encoded to.
        options: of tokenization; number the labels.
        own: further fields of `Features`.
    """
    kept = []
    refused = []
    sequences = []
    second = []
    counts: list[int] = []  # sequences of each row
    is_cut = []
    for example, row in zip(examples, rows, strict=True):
        if isinstance(row, Problem):
            refused.append(row)
            continue
        kept.append(example)
        counts.append(len(row.sequences))
        is_cut.append(row.cut)
        for ids, second_token in row.sequences:
            sequences.append(ids)
            second.append(second_token)

    tokens_T, offsets_S = flatten(sequences)
    counts_R = np.asarray(counts, dtype=np.int32)
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.asarray(second, dtype=np.int32),
        sequences_R=np.cumsum(counts_R, dtype=np.int32) - counts_R,
        labels_R=options.label_ids(kept),
        truncated_R=np.asarray(is_cut, dtype=bool),
        guids=[example.guid for example in kept],
        refused=refused,
        **own,
    )


def token_span(chars_L2: np.ndarray, span: Span) -> TokenSpan | None:
    """Find the first and the last token (inclusive) that overlap a span; None if none does.

    Args:
        chars_L2: the characters of each token, end exclusive; -1 outside the text.
        span: in characters.
    """
    start_L = chars_L2[:, 0]
    end_L = chars_L2[:, 1]
    overlaps_L = (start_L < span.end) & (end_L > span.start) & (end_L > start_L)
    tokens = np.flatnonzero(overlaps_L)
    if not len(tokens):
        return None
    return int(tokens[0]), int(tokens[-1])


def second_start(encoding: Any) -> int:
    """Find the first token of segment 1; -1 for tokenizers with one segment."""
    types = encoding.type_ids
    return types.index(1) if 1 in types else -1


def _encode(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions, form: str
) -> list[TextRow]:
    """Encode each example whole, then those that are too long again, cut or in windows.

    Args:
        examples: at least one.
        tokenizer: a fast Hugging Face tokenizer.
        options: of tokenization.
        form: `text`, `pair`, `premise` or `hypothesis`.

    Returns:
        The sequences of each example.
    """
    texts = [_texts(example, options, form) for example in examples]
    is_pair = len(texts[0]) == 2

    backend = tokenizer.backend_tokenizer  # transformers would make lists of masks and ids as well
    backend.no_truncation()
    backend.no_padding()
    whole = backend.encode_batch_fast(texts if is_pair else [text for (text,) in texts])

    rows = []
    too_long = defaultdict(list)  # by what is cut of them
    for number, encoding in enumerate(whole):
        rows.append(TextRow([(token_ids(encoding.ids), second_start(encoding))], False))
        if len(encoding) > options.max_length:
            cut = _cut_text(encoding.sequence_ids, options) if is_pair else "longest_first"
            too_long[cut].append(number)

    for truncation, numbers in too_long.items():
        long_texts = [texts[number] for number in numbers]
        shortened = _shorten(long_texts, tokenizer, options, truncation)
        for number, row in zip(numbers, shortened, strict=True):
            rows[number] = row
    return rows


def _cut_text(sources: Sequence[int | None], options: FeatureOptions) -> str:
    """Choose what to cut of a pair: the longer text where the other one leaves no room.

    Args:
        sources: the text of each token, 0 or 1; None of special ones.
        options: of tokenization.
    """
    whole = 0 if options.truncation == "only_second" else 1  # nothing is whole in longest_first
    room = options.max_length - sources.count(None) - sources.count(whole)
    return options.truncation if room > options.shared else "longest_first"


def _shorten(
    texts: Sequence[tuple[str, ...]], tokenizer: Any, options: FeatureOptions, truncation: str
) -> list[TextRow]:
    """Encode texts, or pairs, that are too long.

    Args:
        texts: one or two of each example.
        tokenizer: see `text_features`.
        options: of tokenization; `overflow` asks for windows, of which the next has the rest.
        truncation: what is cut; `longest_first` of a pair leaves no text whole, so no windows.
    """
    columns = [list(column) for column in zip(*texts, strict=True)]
    both_are_cut = len(columns) == 2 and truncation == "longest_first"
    in_windows = options.overflow == "windows" and not both_are_cut
    encoded = tokenizer(
        *columns,
        truncation=truncation,
        max_length=options.max_length,
        return_overflowing_tokens=in_windows,
        stride=options.stride if in_windows else 0,
    )
    sources = encoded["overflow_to_sample_mapping"] if in_windows else range(len(texts))
    sequences: list[list[tuple[np.ndarray, int]]] = [[] for _ in texts]
    for encoding, source in zip(encoded.encodings, sources, strict=True):
        sequences[source].append((token_ids(encoding.ids), second_start(encoding)))
    return [TextRow(windows, not in_windows) for windows in sequences]


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
