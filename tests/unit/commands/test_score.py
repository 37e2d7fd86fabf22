"""`heron score`: any system's files in, scores out; a wrong file gives one clear message."""

import gzip
import json
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heron.base.files import read_json
from heron.base.tables import received, write_table
from heron.cli import main
from heron.metrics.calibration import calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_task

RELATIONS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
GOLD = ["BEFORE", "AFTER", "EQUAL", "VAGUE", "BEFORE", "AFTER"]
PREDICTED = ["BEFORE", "BEFORE", "EQUAL", "AFTER", "VAGUE", "AFTER"]
GUIDS = [f"d{i // 3}.{i}" for i in range(6)]
KINDS = ("csv", "jsonl", "parquet")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A working folder with gold.csv and predictions.jsonl, the latter in another order."""
    monkeypatch.chdir(tmp_path)
    documents = [guid[:2] for guid in GUIDS]
    write_table("gold.csv", {"guid": GUIDS, "label": GOLD, "document": documents})
    write_table("predictions.jsonl", {"id": GUIDS[::-1], "prediction": PREDICTED[::-1]})
    return tmp_path


def score(*options, gold="gold.csv", predictions="predictions.jsonl", task="relation"):
    """Run the command; returns its exit code and the scores it wrote, if any."""
    words = ["score", f"task={task}", f"gold={gold}", f"predictions={predictions}", *options]
    code = main([*words, "out=out/scores.json"])
    return code, read_json("out/scores.json") if code == 0 else None


@pytest.mark.usefixtures("files")
def test_rows_joined_on_guid_give_the_scores_of_score_task(capsys):
    code, written = score()
    expected = score_task("relation", GOLD, PREDICTED, RELATIONS)
    expected |= bootstrap_intervals("relation", GOLD, PREDICTED, RELATIONS)
    assert code == 0
    assert written == {"predictions": expected}
    shown = capsys.readouterr().out
    assert "gold.csv (label), predictions.jsonl (prediction): rows joined on id" in shown
    assert f"{expected['relaxed_macro_f1']:.3f}" in shown


def test_gold_rows_come_from_standard_input(files, monkeypatch):
    _, expected = score()
    received.cache_clear()
    with (files / "gold.csv").open(encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert score(gold="-") == (0, expected)


@pytest.mark.usefixtures("files")
def test_rows_without_a_group_stand_alone():
    document = [None if row % 2 else guid[:2] for row, guid in enumerate(GUIDS)]
    write_table("gold.jsonl", {"guid": GUIDS, "gold": GOLD, "document": document})
    _, written = score("group_column=document", "resamples=50", "name=x", gold="gold.jsonl")
    alone = [f"alone {row}" if name is None else name for row, name in enumerate(document)]
    expected = bootstrap_intervals(
        "relation", GOLD, PREDICTED, RELATIONS, groups=alone, resamples=50
    )
    assert {name: written["x"][name] for name in expected} == expected


PIPELINE = []
for label in PREDICTED:
    other = "AFTER" if label == "BEFORE" else "BEFORE"
    PIPELINE.append([{"label": other, "score": 0.2}, {"label": label, "score": 0.7}])
ZERO_SHOT = []
for other, best in PIPELINE:
    labels, scores = [best["label"], other["label"]], [0.7, 0.3]
    ZERO_SHOT.append({"sequence": "x", "labels": labels, "scores": scores})
NUMBERS = [RELATIONS.index(label) for label in PREDICTED]
IN_ORDER = {"label": PREDICTED}
KEYED = {"key": GUIDS, "label": PREDICTED, "truth": GOLD}
NAMED = {"guid": GUIDS, "named_label": GOLD}
NAMED["label"] = [RELATIONS.index(label) for label in GOLD]
TURNED = {"key": GUIDS[::-1], "label": GOLD, "answer": PREDICTED[::-1]}
COLUMNS = ["guid_column=key", "gold_column=truth", "prediction_column=answer"]
LABELS = ["labels=" + ",".join(RELATIONS)]
TEXT = "".join(f"{guid}\t{label}\n" for guid, label in zip(GUIDS, PREDICTED, strict=True))
INDEXED = "index\tprediction\n" + "".join(f"{n}\t{x}\n" for n, x in enumerate(PREDICTED))
OBJECT = json.dumps(dict(zip(GUIDS, PREDICTED, strict=True)))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("predictions", "content", "gold", "words"),
    [
        *((f"p.{kind}", {"guid": GUIDS, **IN_ORDER}, None, []) for kind in KINDS),
        *((f"p.{kind}", {"guid": GUIDS, "pred": NUMBERS}, None, LABELS) for kind in KINDS),
        ("p.csv", {"guid": GUIDS, "label": GOLD, "pred": PREDICTED}, None, []),
        ("p.csv", IN_ORDER, {"label": GOLD}, []),  # neither file has ids: by position
        ("p.csv", IN_ORDER, None, ["join=position"]),
        ("p.csv", TURNED, KEYED, COLUMNS),
        ("p.csv", {"guid": GUIDS, **IN_ORDER}, NAMED, []),
        ("p.json", OBJECT, None, []),
        ("p.json", "\ufeff" + OBJECT, None, []),
        ("p.json", json.dumps(PIPELINE), None, ["join=position"]),
        ("p.json", json.dumps([best for _, best in PIPELINE]), None, ["join=position"]),
        ("p.json", json.dumps(ZERO_SHOT), None, ["join=position"]),
        ("p.json", json.dumps(PREDICTED), None, ["join=position"]),
        ("p.txt", "\n".join(PREDICTED), None, ["join=position"]),
        ("p.txt", INDEXED, None, ["join=position"]),
        ("p.csv", {"guid": GUIDS, "pred": [f"LABEL_{n}" for n in NUMBERS]}, None, LABELS),
        ("p.tsv.gz", f"guid\tprediction\n{TEXT}", None, []),
        ("p.tsv", "\ufeffguid\tprediction\r\n" + TEXT, None, []),
    ],
)
def test_the_same_labels_score_the_same_in_any_form(predictions, content, gold, words):
    _, expected = score("name=x")
    if isinstance(content, dict):
        write_table(predictions, content)
    else:
        with (gzip.open if predictions.endswith(".gz") else open)(predictions, "wb") as file:
            file.write(content.encode())
    if gold:
        write_table("g.csv", gold)
    found = score("name=x", *words, predictions=predictions, gold="g.csv" if gold else "gold.csv")
    assert found[1] == expected


@pytest.mark.usefixtures("files")
def test_logits_of_a_trainer_score_as_their_largest():
    _, expected = score("name=x")
    np.save("p.npy", np.eye(4)[NUMBERS])
    assert score("name=x", "join=position", *LABELS, predictions="p.npy")[1] == expected


@pytest.mark.usefixtures("files")
def test_decimal_numbers_are_the_whole_numbers_that_they_equal():
    numbers = pa.array([Decimal(f"{number}.0") for number in NUMBERS])
    pq.write_table(pa.table({"guid": GUIDS, "prediction": numbers}), "p.parquet")
    _, expected = score("name=x")
    assert score("name=x", *LABELS, predictions="p.parquet")[1] == expected


@pytest.mark.usefixtures("files")
def test_gold_labels_that_differ_in_case_only_are_one_label():
    write_table("g.csv", {"label": ["Bun", "bun", "bun", "rău"]})
    write_table("p.csv", {"label": ["bun", "Bun", "BUN", "rău"]})
    _, written = score("resamples=0", task="classification", gold="g.csv", predictions="p.csv")
    assert written["p"]["macro_f1"] == 1
    assert {name for name in written["p"] if name.startswith("f1/")} == {"f1/bun", "f1/rău"}


@pytest.mark.usefixtures("files")
def test_a_classification_takes_its_labels_from_the_gold_file_sorted(capsys):
    write_table("g.csv", {"label": ["n", "e", "c"]})
    write_table("p.csv", {"label": ["n", "n", "c"]})
    _, written = score("resamples=0", task="classification", gold="g.csv", predictions="p.csv")
    assert written == {"p": score_task("classification", list("nec"), list("nnc"), list("cen"))}
    assert "interval" not in capsys.readouterr().out


@pytest.fixture
def pairs(files):
    """NLI labels as letters in one file and spelt out in the other, with probabilities."""
    write_table("g.csv", {"guid": ["a", "b", "c"], "label": ["e", "n", "c"]})
    probabilities = {"p/entailment": [0.1, 0.7, 0.2], "p/neutral": [0.2, 0.2, 0.5]}
    probabilities |= {"p/contradiction": [0.7, 0.1, 0.3]}
    predicted = ["contradiction", "entailment", "neutral"]
    return {"guid": ["c", "a", "b"], "prediction": predicted, **probabilities}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_probabilities_add_calibration_in_the_order_of_the_gold_rows(pairs, kind, capsys):
    write_table(f"p.{kind}", pairs)
    words = ["data=lchaim", "resamples=10", "name=x"]
    scores = score(*words, task="nli", gold="g.csv", predictions=f"p.{kind}")[1]["x"]
    rows = [(0.1, 0.7, 0.2), (0.3, 0.2, 0.5), (0.7, 0.1, 0.2)]  # a, b, c
    assert scores["micro_f1"] == scores["accuracy"] == 1, "by the data set's aliases"
    expected = calibration_scores(rows, [1, 2, 0])
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert "brier" in capsys.readouterr().out


def refused(capsys, *options, **files):
    """Run a command that must fail; returns what it said."""
    code, _ = score(*options, **files)
    assert code == 2
    return capsys.readouterr().err


# RoNLI's ids without a row of class 0, as in a part of its files.
IDS = [3, 1, 2, 3, 2, 1]
NAMES = ["contrastive", "entailment", "reasoning", "neutral"]


@pytest.fixture
def ronli(files):
    """Gold and predictions that differ in one class only: every 1 is predicted as 0."""
    write_table("g.csv", {"guid": GUIDS, "label": IDS})
    write_table("p.csv", {"guid": GUIDS, "prediction": [0 if n == 1 else n for n in IDS]})
    return {"task": "nli", "gold": "g.csv", "predictions": "p.csv"}


def test_positions_are_refused_without_labels(ronli, capsys):
    said = refused(capsys, **ronli)
    assert "p.csv:3" in said
    assert "unknown prediction '0'" in said
    assert "labels=A,B,... names" in said
    assert "data=NAME" in said


def test_ids_beside_named_gold_are_refused_whichever_order_is_meant(files, capsys):
    write_table("g.csv", {"guid": GUIDS, "label": ["e", "n", "c", "e", "n", "c"]})
    write_table("p.csv", {"guid": GUIDS, "prediction": [0, 1, 2, 0, 1, 2]})
    names = {"task": "nli", "gold": "g.csv", "predictions": "p.csv"}
    assert "unknown prediction '0'" in refused(capsys, **names)
    # ConTRoL's definition gives no ids either; an alias on the command line does.
    assert "data.label_aliases" in refused(capsys, "data=control", **names)
    alias = 'data.label_aliases={"0": entailment, "1": neutral, "2": contradiction}'
    _, written = score("data=control", alias, "resamples=0", **names)
    assert written["p"]["accuracy"] == 1


def test_explicit_labels_read_positions_and_the_mapping_is_printed(ronli, capsys):
    ronli |= {"gold": "named.csv"}
    write_table("named.csv", {"guid": GUIDS, "label": [NAMES[n] for n in IDS]})
    _, written = score("labels=" + ",".join(NAMES), "resamples=0", **ronli)
    assert written["p"]["accuracy"] == pytest.approx(4 / 6)
    said = "p.csv: prediction read as 0 = contrastive, 2 = reasoning, 3 = neutral"
    assert said in " ".join(capsys.readouterr().out.split())


def test_labels_that_are_numbers_are_names_and_never_positions(ronli, capsys):
    assert "unknown prediction '0'" in refused(capsys, "labels=1,2,3", **ronli)
    _, written = score("labels=0,1,2,3", "resamples=0", **ronli)
    assert written["p"]["accuracy"] == pytest.approx(4 / 6)
    assert "read as" not in capsys.readouterr().out


def test_ids_that_a_data_set_defines_are_read_and_printed(ronli, capsys):
    _, written = score("data=ronli", "resamples=0", **ronli)
    gold, predicted = ([NAMES[n] for n in ids] for ids in (IDS, [0 if n == 1 else n for n in IDS]))
    assert written["p"] == score_task("nli", gold, predicted, NAMES)
    shown = " ".join(capsys.readouterr().out.split())
    assert "g.csv: label read as 1 = entailment, 2 = reasoning, 3 = neutral" in shown


HEBNLI = {
    "pairID": ["1n", "2c", "3e", "4e"],
    "original_label": ["neutral", "contradiction", "-", "entailment"],
    "hebrew_label": ["Neutral", "neutral", "entailment", "Entailment"],
}


@pytest.mark.parametrize(
    ("file", "rows", "accuracy"), [("HebNLI_val.jsonl", 3, 1), ("HebNLI_test.jsonl", 4, 0.75)]
)
def test_a_data_set_gives_columns_label_fields_and_rows_without_a_label(
    files, capsys, file, rows, accuracy
):
    write_table(file, HEBNLI)
    predicted = ["neutral", "contradiction", "entailment", "entailment"]
    write_table("p.jsonl", {"pairID": HEBNLI["pairID"][::-1], "prediction": predicted[::-1]})
    names = {"task": "nli", "gold": file, "predictions": "p.jsonl"}
    _, written = score("data=hebnli", "resamples=0", **names)
    shown = " ".join(capsys.readouterr().out.split())
    assert written["p"]["accuracy"] == accuracy
    assert f"nli, {rows} rows" in shown
    assert ("without a gold label, left out: 1" in shown) == (rows == 3)
    # Predictions of the rows that count are enough; without ids, by place.
    kept = [row for row in range(4) if rows == 4 or HEBNLI["original_label"][row] != "-"]
    write_table("q.csv", {"prediction": [predicted[row] for row in kept]})
    _, again = score(
        "data=hebnli", "resamples=0", "join=position", "name=p", **names | {"predictions": "q.csv"}
    )
    assert again == written
    if rows == 3:
        said = refused(capsys, "data=hebnli", "data.unlabelled=refuse", **names)
        assert "is '-', which is no gold label" in said


def test_a_file_of_unknown_name_with_two_label_columns_asks_which(files, capsys):
    write_table("copy.jsonl", HEBNLI)
    write_table("p.csv", {"pairID": HEBNLI["pairID"], "prediction": ["neutral"] * 4})
    names = {"task": "nli", "gold": "copy.jsonl", "predictions": "p.csv"}
    said = refused(capsys, "data=hebnli", **names)
    assert "several label columns: original_label, hebrew_label" in said
    assert score("data=hebnli", "gold_column=hebrew_label", **names)[0] == 0


def test_probabilities_of_two_decimals_are_accepted_and_contradictions_counted(ronli, capsys):
    rows = [(0.145, 0.285, 0.285, 0.285)] * 6  # each rounds up: the sums are 1.02
    columns = {
        f"p/{name}": [round(row[n] + 1e-9, 2) for row in rows] for n, name in enumerate(NAMES)
    }
    predicted = ["contrastive", "contrastive", *["neutral"] * 4]
    write_table("p.csv", {"guid": GUIDS, "prediction": predicted, **columns})
    code, written = score("data=ronli", "resamples=0", **ronli)
    assert code == 0
    assert written["p"]["brier"] > 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 of 6 predictions are not the label of the largest probability" in shown


def test_scoring_loads_neither_torch_nor_transformers(files):
    code = (
        "import sys; from heron.cli import main; "
        "main(['score', 'task=relation', 'gold=gold.csv', 'predictions=predictions.jsonl']); "
        "import json; print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=files, capture_output=True, text=True, check=True
    )
    modules = json.loads(done.stdout.splitlines()[-1])
    heavy = {"torch", "transformers", "pyarrow", "sklearn", "scipy", "matplotlib", "hydra"}
    assert "rich" in modules
    assert heavy.isdisjoint(modules)


@pytest.mark.usefixtures("files")
def test_live_text_in_a_csv_of_heron_s_scores_as_it_does_in_json():
    classes = {"BEFORE": "=BEFORE", "AFTER": "-after", "EQUAL": "'@", "VAGUE": "+1"}
    gold, predicted = ([classes[label] for label in labels] for labels in (GOLD, PREDICTED))
    guids = [f"={guid}" for guid in GUIDS]
    write_table("gold.jsonl", {"guid": guids, "label": gold})
    found = []
    for kind in ("csv", "jsonl"):
        write_table(f"p.{kind}", {"guid": guids, "label": predicted})
        labels = "labels=" + ",".join(classes.values())
        code, scores = score(
            labels, "name=x", task="nli", gold="gold.jsonl", predictions=f"p.{kind}"
        )
        assert code == 0
        found.append(scores)
    assert found[0] == found[1]
    assert found[0]["x"]["accuracy"] == 3 / 6


def test_the_table_that_a_data_set_joins_is_read_from_the_given_folder(files, capsys):
    write_table("texts.csv", {"text": list("uvwxyz"), "label": GOLD})
    further = {name: [""] * 6 for name in ("document_number", "hadar", "shir", "curated")}
    ids = {"text": list("zyxwvu"), "id": GUIDS[::-1], **further}
    write_table(files / "elsewhere" / "trc" / "training-data" / "TRC_dataset.csv", ids)
    words = ["data=trc", "data.verify=false", "resamples=0", "paths.data=elsewhere"]
    assert score(*words, gold="texts.csv")[0] == 0
    assert "rows joined on id" in capsys.readouterr().out
