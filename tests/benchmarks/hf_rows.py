"""Tokenized rows in the form that the Hugging Face Trainer takes.

Shape suffixes: S sequences, T tokens of all, R rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heron.data.features import Features
from heron.tasks.summarization.features import TARGET


def is_windowed(features: Features) -> bool:
    """Tell whether the Trainer trains on sequences, windows of a question, and not on rows."""
    return "answers" in features.columns


def trainer_rows(features: Features, order_R: Sequence[int] | np.ndarray) -> list[dict[str, Any]]:
    """Turn rows of a split (of questions: windows) into the Trainer's form, in a given order."""
    columns, rows = features.columns, []
    for row in order_R:
        sequence = row if is_windowed(features) else features.sequences_R[row]
        start, end = features.offsets_S[sequence:][:2]
        found = {
            "input_ids": features.tokens_T[start:end].tolist(),
            "attention_mask": [1] * int(end - start),
        }
        if (second := features.second_S[sequence]) >= 0:
            found["token_type_ids"] = [int(place >= second) for place in range(end - start)]
        if is_windowed(features):
            first, last = columns["answers"].array[sequence].tolist()[:2]
            found |= {"start_positions": max(first, 0), "end_positions": max(last, 0)}
        elif TARGET in columns:
            start, end = columns[TARGET].offsets[row:][:2]
            found["labels"] = columns[TARGET].array[start:end].tolist()
        else:
            found["labels"] = int(features.labels_R[row])
        if "markers" in columns:
            found["markers"] = columns["markers"].array[row].tolist()
        rows.append(found)
    return rows
