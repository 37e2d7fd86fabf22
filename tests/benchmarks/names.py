"""Who competes; imports nothing, so that the command starts at once."""

from __future__ import annotations

from typing import NamedTuple


class Rival(NamedTuple):
    """One way to train.

    Args:
        title: what it is, for the table.
        framework: `trainer` (Hugging Face) or `heron`.
        precision: `32-true`, `bf16-mixed` or, of heron, `auto`.
        grouped: the Trainer's grouping of sequences by length.
        head: heron's head; `ess` is the same computation as the Trainer's.
    """

    title: str
    framework: str
    precision: str
    grouped: bool = False
    head: str = "ess"


RIVALS = {
    "trainer": Rival("Trainer, dynamic padding, fp32", "trainer", "32-true"),
    "trainer_bf16": Rival("Trainer, dynamic padding, bf16", "trainer", "bf16-mixed"),
    "trainer_grouped": Rival("Trainer, group_by_length, fp32", "trainer", "32-true", True),
    "trainer_grouped_bf16": Rival("Trainer, group_by_length, bf16", "trainer", "bf16-mixed", True),
    "heron_fp32": Rival("heron, buckets, fp32", "heron", "32-true"),
    "heron_bf16": Rival("heron, buckets, bf16", "heron", "bf16-mixed"),
    "heron": Rival("heron, buckets, default precision", "heron", "auto"),
    "heron_window": Rival("heron, window head, default precision", "heron", "auto", head="window"),
}
BASELINE, OURS, WINDOW = "trainer", "heron", "heron_window"
