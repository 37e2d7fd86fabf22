"""Questions and their contexts to `Features`: windows of the context, each after the question.

Spans are in characters in `Example.text` and in tokens in a sequence; this module converts them.

Shape suffixes: T tokens of the split, S sequences, R rows, L tokens of one sequence, N tokens of
one whole context.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from heron.base.errors import Problem
from heron.base.terminal import tracked
from heron.data.collate import Batch
from heron.data.examples import Example, Span
from heron.data.features import Column, FeatureOptions, Features, flatten, token_ids
from heron.tasks.qa.answers import is_mark
from heron.tasks.text_features import (
    TextRow,
    TokenSpan,
    features_of,
    second_start,
    token_span,
)

# How well tokens match a gold answer's characters: exactly; not exactly (a border is inside a
# token); cut (every window cuts it); or without any token. `FITS` has the warnings.
EXACT, INEXACT, CUT, TOKENLESS = range(4)
FITS = {
    "exact": "",
    "inexact": "answers begin or end inside a token: the best possible answer is longer or shorter",
    "cut": "answers are cut by every window: no system can find them",
    "tokenless": "answers map to no token of this tokenizer: no system can find them",
}
_CHUNK = 512  # examples tokenized at once; more would need more memory and save no time
_SPACES = np.asarray([code for code in range(0x3100) if chr(code).isspace()], dtype=np.uint32)
_UNKNOWN: TokenSpan = (-1, -1)  # an unlabelled question
_NOWHERE: TokenSpan = (0, 0)  # no answer in the window
_JOINER = "\u200d"  # joins the parts of an emoji; some tokenizers drop it


class AnswerColumns(NamedTuple):
    """The columns of questions in a batch; K answers of a window at most."""

    # First and last token of each gold answer that lies in a window (both inclusive, counted from
    # its start), in order, or -1 for fewer; 0, 0 in a window without one; int64.
    spans_BK2: Tensor
    # The characters of `Example.text` of each token, end exclusive; -1 for tokens outside of it
    # (question, special tokens) and for mere blanks; int64.
    chars_BL2: Tensor

    @classmethod
    def of(cls, batch: Batch) -> AnswerColumns:
        """View a batch."""
        return cls(batch.columns["answers"], batch.columns["chars"])

    @property
    def first_B2(self) -> Tensor:
        """The first answer of each window; -1 where it is not known whether there is one."""
        return self.spans_BK2[:, 0]

    @property
    def context_BL(self) -> Tensor:
        """Whether a token lies in the text that holds the answer; bool."""
        return self.chars_BL2[:, :, 0] >= 0


def qa_features(examples: Sequence[Example], tokenizer: Any, options: FeatureOptions) -> Features:
    """Tokenize a split of questions.

    Each sequence is the question and a window of its context, in the tokenizer's own template for
    two texts. The question is never cut. The targets of a window are the gold answers that lie
    completely in it.

    Args:
        examples: with `text` (the context), `text_pair` (the question), `spans` (gold answers).
        tokenizer: a fast Hugging Face tokenizer.
        options: `overflow` is `windows` (overlapping by `stride` tokens) or `truncate` (only the
            first window). Questions that leave no room for their context are refused and, in
            training (`own`), those whose answer is in no window.

    Deviates: Hugging Face's `run_qa` only uses the first gold answer, even in windows that contain
    another one.
    """
    rows = []
    for start in tracked(range(0, len(examples), _CHUNK), "tokenizing"):
        chunk = examples[start : start + _CHUNK]
        encoded = tokenizer(
            [example.text_pair or "" for example in chunk],
            [example.text for example in chunk],
            verbose=False,  # contexts may be longer than the model reads: windows are cut below
        )
        for example, encoding in zip(chunk, encoded.encodings, strict=True):
            rows.append(_windows(example, encoding, options))

    windows = []
    fits = []
    for row in rows:
        if isinstance(row, TextRow):
            windows_of_row, fit = row.own
            windows += windows_of_row
            fits.append(fit)

    answers = [np.asarray(window.answers, dtype=np.int32) for window in windows]
    answers_A2, offsets_S = flatten(answers, (2,))
    chars_T2, _ = flatten([window.chars_L2 for window in windows], (2,))
    columns = {
        "answers": Column(answers_A2, "sequence", offsets=offsets_S),
        "chars": Column(chars_T2, "token"),
    }

    counts = {}
    for number, (name, warning) in enumerate(FITS.items()):
        counts[f"answers_{name}"] = (fits.count(number), warning)
    return features_of(examples, rows, options, columns=columns, counts=counts)


def char_span(chars_T2: np.ndarray, first: int, last: int) -> Span:
    """Find the characters of the tokens `first` to `last` (inclusive), indices into chars_T2."""
    start = int(chars_T2[first, 0])
    end = int(chars_T2[last, 1])
    if start < 0 or end < 0 or last < first:
        raise ValueError(f"tokens {first} to {last} are no span of the text")
    return Span(start, end)


def token_chars(text: str, offsets_N2: np.ndarray) -> np.ndarray:
    """Find the characters of each token, without blanks and with all marks of its letters.

    Corrects the tokenizer's offsets (in characters, end exclusive), int64; -1 for tokens of blanks.
    Tokenizers add the blank before a word to it, and drop points, accents and joiners that the
    model does not know.

    Args:
        text: the context.
        offsets_N2: start and end of each of its tokens in characters, as the tokenizer gives them.

    Returns:
        chars_N2, int64.
    """
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    is_space = np.append(np.isin(codes, _SPACES), False)  # of each character, and of the end
    start_N = offsets_N2[:, 0].copy()
    end_N = offsets_N2[:, 1].copy()

    while True:
        blank_N = (start_N < end_N) & is_space[start_N]
        if not blank_N.any():
            break
        start_N += blank_N
    while True:
        blank_N = (start_N < end_N) & is_space[end_N - 1]
        if not blank_N.any():
            break
        end_N -= blank_N

    next_N = np.append(start_N[1:], len(text))  # where the following token starts
    has_gap_N = (end_N < next_N) & (start_N < end_N) & ~is_space[end_N]
    for token in np.flatnonzero(has_gap_N):
        end = int(end_N[token])
        while end < next_N[token] and (text[end] == _JOINER or is_mark(text[end])):
            end += 1
        end_N[token] = end

    chars_N2 = np.stack([start_N, end_N], axis=1)
    return np.where((start_N < end_N)[:, None], chars_N2, -1)


class _Window(NamedTuple):
    """The columns of one sequence: the question and a part of its context; see `Answers`."""

    chars_L2: np.ndarray
    answers: list[TokenSpan]


def _windows(example: Example, encoding: Any, options: FeatureOptions) -> TextRow | Problem:
    """Cut the context of one question; `own` has its windows and its `FITS` index.

    Args:
        example: the question.
        encoding: of the question and its whole context, in the tokenizer's template for two texts.
        options: see `qa_features`.
    """
    sources = encoding.sequence_ids  # 0: question, 1: context, None: special token
    length = sources.count(1)  # 0 for a text without any character that the tokenizer knows
    begin = sources.index(1) if length else len(sources)
    stop = begin + length

    offsets_N2 = np.asarray(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    chars_N2 = token_chars(example.text, offsets_N2[begin:stop])

    room = options.max_length - (len(sources) - length)
    if length > room and room <= options.shared:
        return _without_room(example, sources.count(0), options)

    parts = _parts(length, room, options)
    golds = [token_span(chars_N2, span) for span in example.spans]
    golds_inside = [_golds_inside(golds, start, end) for start, end in parts]
    # Each window has its answers in order, and the first one is compared with the text.
    used = {min(inside) for inside in golds_inside if inside}
    fit = _fit(example, golds, used, chars_N2)
    if options.own and fit in (CUT, TOKENLESS):
        return _no_answer_left(example, fit, options)

    ids = encoding.ids
    second = second_start(encoding)
    sequences = []
    windows = []
    for (start, end), inside in zip(parts, golds_inside, strict=True):
        window_ids = ids[begin + start : begin + end]
        sequence = ids[:begin] + window_ids + ids[stop:]
        sequences.append((token_ids(sequence), second))

        chars_L2 = np.full((len(sequence), 2), -1, dtype=np.int32)
        chars_L2[begin : begin + len(window_ids)] = chars_N2[start:end]

        if example.label is None:
            answers = [_UNKNOWN]
        elif not inside:
            answers = [_NOWHERE]
        else:
            moved = begin - start  # from tokens of the context to those of the sequence
            answers = [(first + moved, last + moved) for first, last in inside.values()]

        windows.append(_Window(chars_L2, answers))

    _, last_end = parts[-1]
    return TextRow(sequences, last_end < length, (windows, fit))


def _golds_inside(golds: Sequence[TokenSpan | None], start: int, end: int) -> dict[int, TokenSpan]:
    """Find the answers that lie completely in a window, by number; in tokens of the context.

    Args:
        golds: the tokens of each answer.
        start: first token of the window.
        end: its last one, exclusive.
    """
    inside = {}
    for number, gold in enumerate(golds):
        if gold is not None and start <= gold[0] and gold[1] < end:
            inside[number] = gold
    return inside


def _fit(
    example: Example, golds: Sequence[TokenSpan | None], used: set[int], chars_N2: np.ndarray
) -> int:
    """Return the index in `FITS` of the answers in the windows; -1 without any gold answer.

    Args:
        example: the question.
        golds: the tokens of each of its answers.
        used: numbers of the answers that are targets of a window.
        chars_N2: the characters of each token of the context.
    """
    if not example.spans:
        return -1
    if not used:
        return TOKENLESS if all(gold is None for gold in golds) else CUT
    for number in used:
        gold = golds[number]
        if gold is None or char_span(chars_N2, *gold) != example.spans[number]:
            return INEXACT
    return EXACT


def _parts(length: int, room: int, options: FeatureOptions) -> list[tuple[int, int]]:
    """Divide a context as the tokenizer would cut it.

    Args:
        length: of the context, in tokens.
        room: for it in a sequence, in tokens.
        options: with `overflow=truncate`, there is one part.

    Returns:
        First token and end (exclusive) of each part.
    """
    if options.overflow != "windows" or length <= room:
        return [(0, min(room, length))]
    step = room - options.stride
    starts = range(0, length - room + step, step)
    return [(start, min(start + room, length)) for start in starts]


def _without_room(example: Example, asked: int, options: FeatureOptions) -> Problem:
    """Say that a question, of `asked` tokens, leaves no room for a token of its context."""
    fixes = ["encoder.max_length allows more", "data.on_cut=drop leaves such rows out"]
    beside = ""
    if options.overflow == "windows":
        beside = f", after the {options.stride} that windows share,"
        fixes.insert(0, "a smaller encoder.stride allows more")
    message = f"its question has {asked} tokens and leaves none of {options.max_length}{beside}"
    return Problem(example.guid, f"{message} for the other text", tuple(fixes))


def _no_answer_left(example: Example, fit: int, options: FeatureOptions) -> Problem:
    fixes: tuple[str, ...] = ()
    if fit == TOKENLESS:
        message = "its answer's characters map to no token of this tokenizer"
    elif options.overflow == "windows":
        message = f"its answer is cut by every window of {options.max_length} tokens"
        fixes = ("raise encoder.max_length or encoder.stride",)
    else:
        message = f"its answer lies after the first {options.max_length} tokens and is cut"
        fixes = ("encoder.overflow=windows reads on", "encoder.max_length allows more")
    drop = "data.on_cut=drop leaves such questions out of training"
    return Problem(example.guid, message, (*fixes, drop) if fixes else drop)
