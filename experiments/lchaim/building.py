"""`heron build lchaim`: LCHAIM's train split from its authors' released files.

Their repository has no translated train file, but the pairs (by ids of texts) and each text's
translation. The released back-translations, with the originals, filter rows as in section
2.2.

Source: https://github.com/oriel9p/lchaim, `main_preprocess.py`, which joins them the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Interval

from heron.base.cells import Cell, Table, summarize
from heron.base.errors import DataError
from heron.base.libraries import silence_libraries
from heron.base.tables import read_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.parsing import parse_options
from heron.data.config import TRAIN
from heron.data.examples import Example
from heron.data.manifests import write_built
from heron.dynamics.difficulty import cosine
from heron.models.feature_cache import APART, pool_texts
from heron.training.compose import compose

from .translation import PAPER_NOTE, SIMILARITY, paper_similarity

HEBREW = ("text_translated", "hebrew_text")  # columns of the translations, the back-translations
ORIGINAL, BACK = "origin_text", "text_reverse_translated"
COLUMNS = ("uid", "premise", "hypothesis", "label")


@dataclass
class BuildOptions:
    """Options of `heron build lchaim`."""

    pairs: Path  # mapped_train.json: uid, premise_id, hypothesis_id, label
    # unique_texts_aws_translated.jsonl, or the back-translations, with their originals:
    # heb2eng_unique_texts_aws_translated.jsonl
    texts: Path
    out: Path = Path("data/lchaim/train.jsonl")
    # the column of `texts` to join; null: Hebrew; `text_reverse_translated`: back-translations
    column: str | None = None
    # minimum cosine of a back-translation and its original (the paper: .75); null: no
    # comparison
    minimum: Annotated[float, Interval(ge=-1, le=1)] | None = None
    similarity: str = SIMILARITY  # the encoder for the cosines


def run(arguments: Sequence[str]) -> int:
    """Join pairs and translations; returns the exit code.

    Rows without a translation of both texts, or with a text below `minimum`, are left out and
    counted.

    Raises:
        DataError: no row is left, or a file lacks a column.
    """
    begin()
    options = parse_options(BuildOptions, arguments)
    texts, pairs = read_table(options.texts), read_table(options.pairs)
    column = options.column or texts.find(HEBREW) or HEBREW[0]
    texts.require("key", column, *((ORIGINAL, BACK) if options.minimum is not None else ()))
    pairs.require("uid", "premise_id", "hypothesis_id", "label")
    # The keys of the translations end in a comma: `text_0,`.
    known = {str(row["key"]).rstrip(","): row for row in texts.rows if row.get(column)}
    pair_ids = [(row["premise_id"], row["hypothesis_id"]) for row in pairs.rows]
    cosines: dict[str, float] = {}
    if options.minimum is not None:
        whole = [ids for ids in pair_ids if known.keys() >= {*ids}]
        used = {id: known[id] for ids in whole for id in ids}
        cosines = similarities(used, options.similarity)
        print_tables([similarity_table(pair_ids, cosines, options)])
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    left_out = Counter[str]()
    for row, ids in zip(pairs.rows, pair_ids, strict=True):
        if not known.keys() >= {*ids}:
            left_out["without a translation"] += 1
            continue
        if options.minimum is not None and min(cosines[id] for id in ids) < options.minimum:
            left_out[f"below {options.minimum}"] += 1
            continue
        premise, hypothesis = (known[id][column] for id in ids)
        values = (row["uid"], premise, hypothesis, row["label"])
        for name, value in zip(COLUMNS, values, strict=True):
            columns[name].append(value)
    counts = [f"{rows:,} {reason}" for reason, rows in left_out.items()]
    if not columns["uid"]:
        fix = f"its column {column}, and the ids of {options.pairs}"
        raise DataError(str(options.texts), f"no pair is left: {', '.join(counts)}", fix)
    sources = [options.pairs, options.texts]
    paths = write_built(options.out, columns, "heron build lchaim", sources, left_out)
    print_lines(", ".join([f"{len(columns['uid']):,} rows", *counts]), *paths)
    return 0


def similarities(texts: Mapping[str, Mapping[str, Any]], encoder: str) -> dict[str, float]:
    """Compare texts with their back-translations: cosine of an encoder's mean vectors, by id.

    Texts are truncated to 256 tokens, as by all-MiniLM-L6-v2 in sentence-transformers.
    """
    silence_libraries()
    words = ["data=control", "trainer.select=last", "trainer.patience=null"]  # nothing is trained
    words += ["encoder.max_length=256", "encoder.truncation=longest_first"]
    rows = [Example(id, str(row[ORIGINAL]), str(row[BACK])) for id, row in texts.items()]
    guids, vectors = pool_texts(compose([*words, f"encoder={encoder}"]), APART, {TRAIN: rows})
    return dict(zip(guids[TRAIN], cosine(vectors[TRAIN]).tolist(), strict=True))


def similarity_table(
    pair_ids: Sequence[tuple[str, str]], cosines: Mapping[str, float], options: BuildOptions
) -> Table:
    """Show the similarity of unique premises and hypotheses, and how many are below `minimum`."""
    lines: list[tuple[Cell, ...]] = []
    for place, name in enumerate(("premise", "hypothesis")):
        known = [ids[place] for ids in pair_ids if ids[place] in cosines]
        unique = [cosines[id] for id in dict.fromkeys(known)]
        below = sum(value < (options.minimum or 0) for value in unique)
        lines.append((name, summarize(unique), below, len(unique)))
    for name, similarity, below, unique_texts in paper_similarity():
        lines.append((f"{name}, in the paper", similarity, below, unique_texts))
    columns = ("text", "similarity ± sd (unique texts)", "below", "unique")
    note = f"By {options.similarity}. {PAPER_NOTE}"
    return Table("Texts and their back-translations", columns, tuple(lines), note)
