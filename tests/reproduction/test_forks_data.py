"""Files that researchers of other languages bring: every row is read, or counted as left out."""

import pytest

from heron.base.folders import conf_dir
from heron.base.table_formats import read_chunks
from heron.data.config import read_config
from heron.data.user_files import read_parts, read_rows
from real_data import DATA, needs

pytestmark = needs(DATA)
PAIR = {"text": "sentence1", "text_pair": "sentence2"}
SENTIMENT = {"text": "comment"}


@pytest.mark.parametrize(
    ("file", "name", "columns", "labels", "rows", "unlabelled"),
    [
        ("kornli/xnli.dev.ko.tsv", "nli", {**PAIR, "label": "gold_label"}, [], 2490, 0),
        ("ocnli/dev.json", "nli", PAIR, [], 2950, 50),
        ("indonli/val.jsonl", "nli", {}, [], 2197, 0),
        ("americasnli/aym.tsv", "nli", {}, [], 743, 0),
        ("hebrew_sentiment/train.tsv", "classification", SENTIMENT, ["0", "1", "2"], 5926, 0),
        ("hebrew_sentiment/dev.tsv", "classification", SENTIMENT, ["0", "1", "2"], 846, 0),
        ("hebrew_sentiment/test_gold.tsv", "classification", SENTIMENT, ["0", "1", "2"], 1695, 0),
        ("tquad/dev-v0.1.json", "qa", {}, [], 892, 0),
    ],
)
def test_every_row_of_a_real_file_is_read_or_counted(file, name, columns, labels, rows, unlabelled):
    path = DATA / "forks" / file
    config = read_config(conf_dir() / "data" / f"own_{name}.yaml")
    for field, column in columns.items():
        setattr(config.columns, field, column)
    config.label_order, config.unlabelled = labels or config.label_order, "drop"
    config.qa.misaligned = "repair"
    found = read_rows(path, config, "required")
    assert (len(found.examples), sum(found.unlabelled.values())) == (rows, unlabelled)
    parts = list(read_parts(path, config, 500))
    assert sum(len(part.examples) for part in parts) == rows + unlabelled
    assert not any(part.problems for part in parts)


def test_romanian_similarity_loses_no_row_to_a_quote():
    path = DATA / "ro_sts" / "RO-STS.train.tsv"
    assert sum(len(chunk) for chunk in read_chunks(path, 1000)) == 5749 - 1  # it has no header
