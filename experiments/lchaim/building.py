"""`heron build lchaim`: LCHAIM's train split from its authors' released files.

Their repository has no translated train file. It has the pairs, as ids of texts, and the
translation of each text. The released back-translations and the originals serve to filter rows, as
in section 2.2.

Source: https://github.com/oriel9p/lchaim, `main_preprocess.py`, which joins them the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Interval

from heron.base.cells import Row, Table, summarize
from heron.base.errors import DataError
from heron.base.libraries import silence_libraries
from heron.base.tables import as_columns, read_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.parsing import parse_options
from heron.data.examples import Example
from heron.data.manifests import write_built
from heron.training.compose import compose

from .translation import PAPER_NOTE, SIMILARITY, pair_cosines, paper_similarity

HEBREW = ("text_translated", "hebrew_text")  # columns of the translations, the back-translations
ORIGINAL = "origin_text"
BACK = "text_reverse_translated"
COLUMNS = ("uid", "premise", "hypothesis", "label")  # of the written table


@dataclass
class BuildLchaimOptions:
    """Options of `heron build lchaim`."""

    pairs: Path  # mapped_train.json: uid, premise_id, hypothesis_id, label
    # unique_texts_aws_translated.jsonl, or the back-translations, with their originals:
    # heb2eng_unique_texts_aws_translated.jsonl
    texts: Path
    out: Path = Path("data/lchaim/train.jsonl")
    # the column of `texts` to join; null: Hebrew; `text_reverse_translated`: back-translations
    column: str | None = None
    # minimum cosine of a back-translation and its original (the paper: .75); null: not compared
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
    options = parse_options(BuildLchaimOptions, arguments)
    texts = read_table(options.texts)
    pairs = read_table(options.pairs)
    column = options.column or texts.find(HEBREW) or HEBREW[0]
    texts.require("key", column)
    pairs.require("uid", "premise_id", "hypothesis_id", "label")

    translated = {}
    for row in texts.rows:
        if row.get(column):
            text_id = str(row["key"]).rstrip(",")  # the keys end in a comma: `text_0,`
            translated[text_id] = row

    cosines: dict[str, float] = {}
    minimum = options.minimum
    pair_ids = [(row["premise_id"], row["hypothesis_id"]) for row in pairs.rows]
    if minimum is not None:
        texts.require(ORIGINAL, BACK)
        used = {}
        for ids in pair_ids:
            if translated.keys() >= {*ids}:
                for text_id in ids:
                    used[text_id] = translated[text_id]

        cosines = text_similarities(used, options.similarity)
        table = similarity_table(pair_ids, cosines, minimum, options.similarity)
        print_tables([table])

    rows = []
    left_out = Counter[str]()
    for row, ids in zip(pairs.rows, pair_ids, strict=True):
        if not translated.keys() >= {*ids}:
            left_out["without a translation"] += 1
            continue

        if minimum is not None:
            similarity = min(cosines[text_id] for text_id in ids)
            if similarity < minimum:
                left_out[f"below {minimum}"] += 1
                continue

        premise, hypothesis = [translated[text_id][column] for text_id in ids]
        rows.append((row["uid"], premise, hypothesis, row["label"]))

    counts = [f"{count:,} {reason}" for reason, count in left_out.items()]
    if not rows:
        problem = f"no pair is left: {', '.join(counts)}"
        fix = f"its column {column}, and the ids of {options.pairs}"
        raise DataError(str(options.texts), problem, fix)

    columns = as_columns(COLUMNS, rows)
    sources = [options.pairs, options.texts]
    paths = write_built(options.out, columns, "heron build lchaim", sources, left_out)

    summary = ", ".join([f"{len(rows):,} rows", *counts])
    print_lines(summary, *paths)
    return 0


def text_similarities(texts: Mapping[str, Mapping[str, Any]], encoder: str) -> dict[str, float]:
    """Compare texts with their back-translations.

    Texts are truncated to 256 tokens, as by all-MiniLM-L6-v2 in sentence-transformers.

    Args:
        texts: rows of the file of back-translations, by the id of their text.
        encoder: a model's name in `conf/encoder`, hub id or folder.

    Returns:
        By id, the cosine of the encoder's mean vectors of the text and of its back-translation.
    """
    silence_libraries()
    words = [
        f"encoder={encoder}",
        "encoder.max_length=256",
        "encoder.truncation=longest_first",
        "data=control",
        "trainer.select=last",  # nothing is trained
        "trainer.patience=null",
    ]
    rows = [Example(id, str(row[ORIGINAL]), str(row[BACK])) for id, row in texts.items()]
    return pair_cosines(rows, compose(words))


def similarity_table(
    pair_ids: Sequence[tuple[str, str]],
    cosines: Mapping[str, float],
    minimum: float,
    encoder: str,
) -> Table:
    """Show the similarity of unique premises and hypotheses, and how many are below `minimum`.

    Args:
        pair_ids: ids of the premise and the hypothesis of each pair.
        cosines: of a text and its back-translation, by the text's id.
        minimum: cosine below which a text is counted.
        encoder: that computed the cosines.
    """
    lines: list[Row] = []
    for side, name in enumerate(("premise", "hypothesis")):
        unique = {ids[side] for ids in pair_ids}
        similarities = [cosines[text_id] for text_id in unique if text_id in cosines]
        mean = summarize(similarities)
        below = sum(similarity < minimum for similarity in similarities)
        lines.append((name, mean, below, len(similarities)))

    for name, published_mean, below, unique_texts in paper_similarity():
        lines.append((f"{name}, in the paper", published_mean, below, unique_texts))
    columns = ("text", "similarity ± sd (unique texts)", "below", "unique")
    note = f"By {encoder}. {PAPER_NOTE}"
    return Table("Texts and their back-translations", columns, lines, note)
