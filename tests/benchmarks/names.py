"""Who competes; imports nothing, so that the command starts at once."""

from __future__ import annotations

from typing import NamedTuple


class Rival(NamedTuple):
    """One way to train.

    Args:
        title: what it is, for the table.
        framework: `trainer` (Hugging Face) or `heron`.
        bf16: autocast to bf16, or train in float32.
        grouped: the Trainer's grouping of sequences by length.
        head: heron's head; `ess` is the same computation as the Trainer's.
    """

    title: str
    framework: str
    bf16: bool
    grouped: bool = False
    head: str = "ess"


RIVALS = {
    "trainer": Rival("Trainer, dynamic padding, fp32", "trainer", bf16=False),
    "trainer_best": Rival("Trainer, group_by_length, bf16", "trainer", bf16=True, grouped=True),
    "heron_fp32": Rival("heron, buckets, fp32", "heron", bf16=False),
    "heron": Rival("heron, buckets, bf16", "heron", bf16=True),
    "heron_window": Rival("heron, window head, bf16", "heron", bf16=True, head="window"),
}
BASELINE, OURS, WINDOW = "trainer", "heron", "heron_window"
