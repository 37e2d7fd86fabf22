"""Texts and pairs of texts to `Features`: in one sequence, in two, or in windows.

Shape suffixes: S sequences, R rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heron.base.errors import ConfigError, Problem
from heron.data.examples import Example
from heron.data.features import FeatureOptions, Features, flatten, token_ids
from heron.tasks.word_pieces import WordPieces, second_start

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
    words = WordPieces(tokenizer)
    refused = _too_long(examples, words, options)
    left_out = {problem.where for problem in refused}
    kept = [example for example in examples if example.guid not in left_out]
    sequences: list[np.ndarray] = []
    second: list[int] = []
    first_R: list[int] = []
    truncated_R: list[bool] = []
    for start in range(0, len(kept), _CHUNK):
        for parts, cut in _encode(kept[start : start + _CHUNK], words, options):
            first_R.append(len(sequences))
            truncated_R.append(cut)
            sequences += [ids for ids, _ in parts]
            second += [begin for _, begin in parts]
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


# One row: its sequences, each with the start of its second text; and whether it was cut.
_Row = tuple[list[tuple[np.ndarray, int]], bool]


def _encode(examples: Sequence[Example], words: WordPieces, options: FeatureOptions) -> list[_Row]:
    if options.input == "separate":
        premises = _encode_texts(examples, words, options, "premise")
        hypotheses = _encode_texts(examples, words, options, "hypothesis")
        return [(a + b, c or d) for (a, c), (b, d) in zip(premises, hypotheses, strict=True)]
    return _encode_texts(examples, words, options, options.input)


def _encode_texts(
    examples: Sequence[Example], words: WordPieces, options: FeatureOptions, form: str
) -> list[_Row]:
    texts = [_texts(example, options, form) for example in examples]
    known = words.sequences(texts, options.max_length)
    rows: list[_Row] = [([], False) if one is None else ([one], False) for one in known]
    left = [row for row, one in enumerate(known) if one is None]
    if not left:
        return rows
    windows = options.overflow == "windows"
    encoded = words.tokenizer(
        *map(list, zip(*(texts[row] for row in left), strict=True)),
        # A single text is always cut at its end.
        truncation="longest_first" if len(texts[0]) == 1 else options.truncation,
        max_length=options.max_length,
        return_overflowing_tokens=windows,
        stride=options.stride if windows else 0,
    )
    sources = encoded["overflow_to_sample_mapping"] if windows else range(len(left))
    for encoding, source in zip(encoded.encodings, sources, strict=True):
        parts, cut = rows[left[source]]
        # With windows nothing is cut: the overflow is the next window.
        rows[left[source]] = (
            [*parts, (token_ids(encoding.ids), second_start(encoding))],
            cut or (bool(encoding.overflowing) and not windows),
        )
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


def _too_long(
    examples: Sequence[Example], words: WordPieces, options: FeatureOptions
) -> list[Problem]:
    """Find pairs in which the text that is never cut leaves no room for the other one."""
    whole = {"only_first": "hypothesis", "only_second": "premise"}.get(options.truncation)
    if options.input != "pair" or options.separator is not None or not whole:
        return []
    tokenizer = words.tokenizer
    room = options.max_length - tokenizer.num_special_tokens_to_add(pair=True) - 1
    also = ""
    fix = ("encoder.truncation=longest_first cuts both", "encoder.max_length allows more")
    if options.overflow == "windows":
        room -= options.stride  # each window needs a new token
        also = f", after the {options.stride} that windows share,"
        fix = ("a smaller encoder.stride allows more", "a larger encoder.max_length allows more")
    problems = []
    for start in range(0, len(examples), _CHUNK):
        chunk = examples[start : start + _CHUNK]
        texts = [_texts(example, options, whole)[0] for example in chunk]
        for example, ids in zip(chunk, words.texts(texts), strict=True):
            if len(ids) <= room:
                continue
            pair = tokenizer(*_texts(example, options, "pair"))["input_ids"]
            if len(pair) > options.max_length:
                problems.append(
                    Problem(
                        example.guid,
                        f"its {whole} has {len(ids)} tokens and leaves none of "
                        f"{options.max_length}{also} for the other text",
                        (*fix, "data.on_cut=drop leaves such rows out"),
                    )
                )
    return problems
