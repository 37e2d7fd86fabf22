"""Files that researchers of other languages bring: every row is read, or counted as left out."""

import pytest

from heron.base.files import read_json
from heron.base.folders import conf_dir
from heron.base.tables import read_chunks, read_table
from heron.cli import main
from heron.data.config import read_config
from heron.data.readers import read_parts, read_rows
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


@pytest.mark.parametrize(
    ("data", "file", "language", "used", "dropped"),
    [
        ("nli", "kornli/xnli.dev.ko.tsv", "ko", 2490, 0),
        ("nli", "ocnli/dev.json", "zh", 2950, 50),
        ("nli", "indonli/val.jsonl", "id", 2197, 0),
        ("nli", "americasnli/aym.tsv", "ay", 743, 0),
        ("qa", "tquad/dev-v0.1.json", "tr", 892, 0),
        ("classification", "hebrew_sentiment/train.tsv", "he", 5926, 0),
    ],
)
def test_one_command_trains_on_a_file_as_it_is_and_others_read_it(
    data, file, language, used, dropped, tiny_encoder, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    path = f"{DATA}/forks/{file}"
    own = (f"data=own_{data}", f"data.language={language}", f"data.files.train.path={path}")
    small = ("trainer.max_epochs=1", "task.bootstrap=0", f"encoder.name={tiny_encoder}")
    assert main(["train", *own, *small, "run.job=one"]) == 0
    (run,) = tmp_path.glob("runs/*/one")
    found = read_json(run / "status.json")["data"]
    assert sum(split["rows"] for split in found["splits"].values()) == used
    assert found["dropped"].get("train", {}).get("unlabelled", 0) == dropped
    assert main(["audit", *own, "out=audit"]) == 0
    assert main(["map", f"run={run}"]) == 0
    assert main(["predict", f"run={run}", f"input={path}", "out=rows.csv"]) == 0
    assert len(read_table(tmp_path / "rows.csv")) == used + dropped
    capsys.readouterr()
    scored = (f"task={data}", f"data=own_{data}", f"gold={path}", "predictions=rows.csv")
    assert main(["score", *scored, "resamples=0", "out=scores.json"]) == 0
    assert f"{used} rows" in capsys.readouterr().out
