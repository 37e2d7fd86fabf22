"""`heron build lchaim`: LCHAIM's train split from what its authors released.

The translated train file is not in their repository; the pairs, by ids of their texts, and the
translation of each text are. A text that was translated back can be filtered by what came back.

Source: https://github.com/oriel9p/lchaim, `main_preprocess.py`, which joins them the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.tables import read_table, write_table
from heron.base.terminal import begin, print_lines
from heron.config.parsing import parse_options


@dataclass
class BuildOptions:
    """Options of `heron build lchaim`."""

    pairs: Path  # mapped_train.json: uid, premise_id, hypothesis_id, label
    texts: Path  # unique_texts_aws_translated.jsonl: key, text, text_translated
    out: Path = Path("data/lchaim/train.jsonl")
    # the column of `texts` to join: `text_translated`, or of the back-translations'
    # heb2eng_unique_texts_aws_translated.jsonl `text_reverse_translated`; `text` is English
    column: str = "text_translated"


def run(arguments: Sequence[str]) -> int:
    """Join pairs and translations; returns the exit code.

    Rows without a translation of both texts are left out and counted.
    """
    begin()
    options = parse_options(BuildOptions, arguments)
    texts, pairs = read_table(options.texts), read_table(options.pairs)
    texts.require("key", options.column)
    pairs.require("uid", "premise_id", "hypothesis_id", "label")
    # The released keys end in a comma: `text_0,`.
    known = {str(row["key"]).rstrip(","): row[options.column] for row in texts.rows}
    rows = [
        (row["uid"], known.get(row["premise_id"]), known.get(row["hypothesis_id"]), row["label"])
        for row in pairs.rows
    ]
    whole = [row for row in rows if row[1] and row[2]]
    names = ("uid", "premise", "hypothesis", "label")
    write_table(options.out, dict(zip(names, zip(*whole, strict=True), strict=True)))
    print_lines(f"{len(whole)} rows, {len(rows) - len(whole)} without a translation", options.out)
    return 0
