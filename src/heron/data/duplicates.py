"""Rows whose text is in more than one split: kept, marked or dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence

from heron.base.errors import DataError, Problem
from heron.config.data import SPLITS
from heron.data.examples import Example

_Splits = Mapping[str, Sequence[Example]]


def apply_duplicates(splits: _Splits, policy: str) -> dict[str, list[Example]]:
    """Keep, mark or drop the rows that other splits hold too.

    Args:
        splits: examples by split.
        policy: `keep`; `mark` sets `side["duplicate_of"]` of every copy to `<split>:<guid>` of
            one in another split, test before validation before train; `drop` removes train's
            copies of validation and test rows, and validation's of test rows.

    Returns:
        The splits, rows in their given order. Repeats inside one split are never touched.

    Raises:
        DataError: nothing would be left of a split.
    """
    if policy == "keep":
        return {split: list(examples) for split, examples in splits.items()}
    latest_first = [split for split in reversed(SPLITS) if split in splits]
    first_guids = {split: _first_guids(splits[split]) for split in latest_first}
    if policy == "mark":
        return {
            split: [_marked(example, split, first_guids) for example in examples]
            for split, examples in splits.items()
        }
    kept = {}
    for split, examples in splits.items():
        later = latest_first[: latest_first.index(split)]
        kept[split] = _not_in(examples, [first_guids[other] for other in later])
    if emptied := [split for split in kept if splits[split] and not kept[split]]:
        what, fix = "all of its rows are in other splits too", "data.duplicates=keep or mark"
        raise DataError([Problem(split, what, fix) for split in emptied])
    return kept


def text_key(example: Example) -> Hashable:
    """Identify what a model reads of an example: its text or texts, whatever their spacing.

    Event pairs of one window share its text; their spans tell them apart.
    """
    text, text_pair = (" ".join(text.split()) for text in (example.text, example.text_pair or ""))
    return text, text_pair, example.spans


def _first_guids(examples: Sequence[Example]) -> dict[Hashable, str]:
    guids: dict[Hashable, str] = {}
    for example in examples:
        guids.setdefault(text_key(example), example.guid)
    return guids


def _marked(
    example: Example, split: str, first_guids: Mapping[str, Mapping[Hashable, str]]
) -> Example:
    key = text_key(example)
    for other, guids in first_guids.items():
        if other != split and key in guids:
            side = {**example.side, "duplicate_of": f"{other}:{guids[key]}"}
            return dataclasses.replace(example, side=side)
    return example


def _not_in(examples: Sequence[Example], others: Sequence[Mapping[Hashable, str]]) -> list[Example]:
    return [e for e in examples if not any(text_key(e) in other for other in others)]
