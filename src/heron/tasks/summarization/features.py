"""Articles and summaries to `Features`: a sequence and a target for each row.

Shape suffixes: R rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from heron.base.terminal import tracked
from heron.data.collate import IGNORED
from heron.data.examples import Example
from heron.data.features import Column, FeatureOptions, Features, flatten, token_ids

# The column of the summaries' token ids; a row without a summary has an empty one.
TARGET = "target"
_CUT = "summaries are cut at task.max_target_tokens"
_Encoded = tuple[np.ndarray, bool]  # token ids, and whether they were cut
_CHUNK = 256  # examples tokenized at once; encodings of long articles need much memory


class SummaryOptions(NamedTuple):
    """`FeatureOptions.own` of summaries."""

    max_target: int  # tokens of a target at most, special tokens included
    target_start: bool = True  # keep the special token put before a text


def summary_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split of articles with their summaries.

    `max_length` cuts articles (`truncated_R`), `SummaryOptions.max_target` cuts summaries; the
    final special token stays. No example is refused. The tokenizer is a fast one.
    """
    articles = []
    targets = []
    for start in tracked(range(0, len(examples), _CHUNK), "tokenizing"):
        chunk = examples[start : start + _CHUNK]
        articles += _encode([e.text for e in chunk], tokenizer, options.max_length)
        summaries = [e.target for e in chunk if e.target is not None]
        encoded = iter(_encode_targets(summaries, tokenizer, options))
        for example in chunk:
            has_none = example.target is None
            targets.append((token_ids([]), False) if has_none else next(encoded))

    targets_T, target_offsets_R = flatten([ids for ids, _ in targets])
    cut_targets = sum(is_cut for _, is_cut in targets)
    return Features.of_rows(
        examples,
        [ids for ids, _ in articles],
        [is_cut for _, is_cut in articles],
        labels_R=options.label_ids(examples),
        columns={TARGET: Column(targets_T, "row", IGNORED, target_offsets_R)},
        counts={"targets_cut": (cut_targets, _CUT)},
    )


def _encode_targets(
    texts: Sequence[str], tokenizer: Any, options: FeatureOptions
) -> list[_Encoded]:
    """Encode targets, without their first special token unless `target_start`."""
    if not texts:
        return []
    own: SummaryOptions = options.own
    first = tokenizer("")["input_ids"][:1]
    has_start = first in ([tokenizer.cls_token_id], [tokenizer.bos_token_id])
    if own.target_start or not has_start:
        return _encode(texts, tokenizer, own.max_target)
    encoded = _encode(texts, tokenizer, own.max_target + 1)
    return [(ids[1:], is_cut) for ids, is_cut in encoded]


def _encode(texts: Sequence[str], tokenizer: Any, max_length: int) -> list[_Encoded]:
    batch = tokenizer(list(texts), truncation=True, max_length=max_length)
    encoded = []
    for encoding in batch.encodings:
        encoded.append((token_ids(encoding.ids), bool(encoding.overflowing)))
    return encoded
