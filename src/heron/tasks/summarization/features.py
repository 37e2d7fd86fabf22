"""Articles and summaries to `Features`: a sequence and a target for each row.

Shape suffixes: R rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heron.data.examples import Example
from heron.data.features import FeatureOptions, Features, flatten, token_ids

_Encoded = tuple[np.ndarray, bool]  # token ids, and whether they were cut
_CHUNK = 256  # examples tokenized at once; encodings of long articles need much memory


def summary_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split of articles with their summaries.

    `max_length` cuts articles (`truncated_R`), `max_target` cuts summaries (`target_cut_R`); the
    final special token stays. No example is refused. The tokenizer is a fast one.
    """
    articles: list[_Encoded] = []
    targets: list[_Encoded] = []
    for start in range(0, len(examples), _CHUNK):
        chunk = examples[start : start + _CHUNK]
        articles += _encode([e.text for e in chunk], tokenizer, options.max_length)
        summaries = [e.target for e in chunk if e.target is not None]
        known = iter(_encode_targets(summaries, tokenizer, options))
        targets += [(token_ids([]), False) if e.target is None else next(known) for e in chunk]
    tokens_T, offsets_S = flatten([ids for ids, _ in articles])
    targets_T, target_offsets_R = flatten([ids for ids, _ in targets])
    rows = len(examples)
    return Features(
        tokens_T=tokens_T,
        offsets_S=offsets_S,
        second_S=np.full(rows, -1, dtype=np.int32),
        sequences_R=np.arange(rows, dtype=np.int32),
        spans_R4=np.full((rows, 4), -1, dtype=np.int32),
        markers_R2=np.full((rows, 2), -1, dtype=np.int32),
        labels_R=options.label_ids(examples),
        truncated_R=np.asarray([cut for _, cut in articles], dtype=bool),
        guids=[example.guid for example in examples],
        refused=[],
        targets_T=targets_T,
        target_offsets_R=target_offsets_R,
        target_cut_R=np.asarray([cut for _, cut in targets], dtype=bool),
    )


def _encode_targets(
    texts: Sequence[str], tokenizer: Any, options: FeatureOptions
) -> list[_Encoded]:
    """Encode targets, without their first special token unless `options.target_start`."""
    if not texts:
        return []
    first = tokenizer("")["input_ids"][:1]
    known = (tokenizer.cls_token_id, tokenizer.bos_token_id)
    drop = int(not options.target_start and len(first) == 1 and first[0] in known)
    encoded = _encode(texts, tokenizer, options.max_target + drop)
    return [(ids[drop:], cut) for ids, cut in encoded]


def _encode(texts: Sequence[str], tokenizer: Any, max_length: int) -> list[_Encoded]:
    encoded = tokenizer(list(texts), truncation=True, max_length=max_length)
    return [(token_ids(encoding.ids), bool(encoding.overflowing)) for encoding in encoded.encodings]
