"""`heron score` on the shared files: any layout equals the reference arithmetic, or is refused."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.cli import main
from real_data import DATA, needs

pytestmark = needs(DATA)
RONLI = ("contrastive", "entailment", "reasoning", "neutral")
CONTROL = {"c": "contradiction", "e": "entailment", "n": "neutral"}
THREE = tuple(sorted(CONTROL.values()))
# file, data set, classes, and each row's id and gold class (None: no gold label)
SETS = {
    "ronli": ("ronli/validation.json", RONLI, lambda row, _: (row["guid"], RONLI[row["label"]])),
    "control": (
        "control/dev.jsonl",
        THREE,
        lambda row, line: (f"dev:{line}", CONTROL[row["label"]]),
    ),
    "hebnli": (
        "hebnli/HebNLI_val.jsonl",
        THREE,
        lambda row, _: (row["pairID"], row["original_label"].strip("-") or None),
    ),
}
Rows = list[tuple[str, str | None, str]]  # id, gold, prediction


def rows_of(name: str) -> Rows:
    """Read a file plainly, and draw a prediction for each row, right in two of three."""
    file, classes, read = SETS[name]
    text = (DATA / file).read_text(encoding="utf-8")
    lines = json.loads(text) if file.endswith(".json") else map(json.loads, text.splitlines())
    draw = random.Random(0)
    known = [read(row, line) for line, row in enumerate(lines, 1)]
    return [
        (guid, gold, gold if gold and draw.random() < 2 / 3 else draw.choice(classes))
        for guid, gold in known
    ]


def save(path: Path, content: str) -> Path:
    with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as file:
        file.write(content.encode())
    return path


def as_csv(rows: Sequence[Sequence[Any]], header: Sequence[str], delimiter: str = ",") -> str:
    lines = [header, *rows]
    return "\n".join(delimiter.join(map(str, line)) for line in lines) + "\n"


def probabilities(label: str, classes: Sequence[str]) -> list[float]:
    """Two decimals that do not add up to 1 where there are three classes."""
    rest = round(0.5 / (len(classes) - 1) + 0.001, 2)
    return [0.51 if name == label else rest for name in classes]


Layout = Callable[[Path, Rows, Sequence[str]], Path]
IDS = ("guid", "prediction")
LAYOUTS: dict[str, Layout] = {
    "csv by guid, another order": lambda folder, rows, _: save(
        folder / "p.csv", as_csv([(g, p) for g, _, p in sorted(rows)], IDS)
    ),
    "tsv with a mark and CRLF": lambda folder, rows, _: save(
        folder / "p.tsv",
        "\ufeff" + as_csv([(g, p) for g, _, p in rows], IDS, "\t").replace("\n", "\r\n"),
    ),
    "jsonl, label instead of prediction": lambda folder, rows, _: save(
        folder / "p.jsonl",
        "\n".join(json.dumps({"id": g, "label": p.capitalize()}) for g, _, p in rows),
    ),
    "json list on one line": lambda folder, rows, _: save(
        folder / "p.json", json.dumps([{"guid": g, "prediction": p} for g, _, p in rows])
    ),
    "json object": lambda folder, rows, _: save(
        folder / "p.json", "\ufeff" + json.dumps({g: p for g, _, p in rows})
    ),
    "packed csv with gold beside": lambda folder, rows, _: save(
        folder / "p.csv.gz", as_csv([(g, y, p) for g, y, p in rows], ("guid", "label", "pred"))
    ),
    "parquet with probabilities": lambda folder, rows, classes: parquet(folder, rows, classes),
    "positions": lambda folder, rows, classes: save(
        folder / "p.csv", as_csv([(g, classes.index(p)) for g, _, p in rows], IDS)
    ),
    "positions from 1": lambda folder, rows, classes: save(
        folder / "p.csv", as_csv([(g, classes.index(p) + 1) for g, _, p in rows], IDS)
    ),
    "no ids": lambda folder, rows, _: save(
        folder / "p.csv", as_csv([(p,) for _, _, p in rows], ("prediction",))
    ),
    "labelled rows only": lambda folder, rows, _: save(
        folder / "p.csv", as_csv([(g, p) for g, y, p in rows if y], IDS)
    ),
    "a row is missing": lambda folder, rows, _: save(
        folder / "p.csv", as_csv([(g, p) for g, _, p in rows[1:]], IDS)
    ),
}


def parquet(folder: Path, rows: Rows, classes: Sequence[str]) -> Path:
    columns: dict[str, list[Any]] = {"guid": [g for g, *_ in rows]}
    columns["prediction"] = [p for *_, p in rows]
    drawn = zip(*(probabilities(p, classes) for *_, p in rows), strict=True)
    columns |= {f"p/{name}": list(values) for name, values in zip(classes, drawn, strict=True)}
    write_table(folder / "p.parquet", columns)
    return folder / "p.parquet"


def scored(task: str, gold: Path, predictions: Path, *words: str) -> dict[str, float] | None:
    """Run the command without intervals; None where it refuses."""
    out = predictions.parent / "scores.json"
    given = (f"task={task}", f"gold={gold}", f"predictions={predictions}", f"out={out}", *words)
    code = main(["score", *given, "resamples=0", "name=x"])
    assert code in (0, 2)
    return read_json(out)["x"] if code == 0 else None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("named", [True, False], ids=["data=NAME", "files alone"])
def test_labels_in_any_layout_score_as_in_scikit_learn_or_are_refused(
    tmp_path, name, layout, named
):
    from sklearn.metrics import accuracy_score, f1_score

    file, classes, _ = SETS[name]
    rows = rows_of(name)
    path = LAYOUTS[layout](tmp_path, rows, classes)
    found = scored("nli", DATA / file, path, *([f"data={name}"] if named else []))
    accepted = {
        # RoNLI's files say ids, and its definition what they mean; ConTRoL has no ids of rows.
        "positions": name == "ronli",
        "positions from 1": False,
        "no ids": name == "control",
        "a row is missing": False,
    }.get(layout, named)
    if named:
        assert (found is not None) == accepted
    if found is None:
        return
    pairs = [(gold, prediction) for _, gold, prediction in rows if gold]
    gold, prediction = ([pair[side] for pair in pairs] for side in (0, 1))
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, prediction), abs=1e-12)
    for average in ("macro", "weighted"):
        expected = f1_score(gold, prediction, labels=list(classes), average=average)
        assert found[f"{average}_f1"] == pytest.approx(expected, abs=1e-12)


def normalize_answer(text: str) -> list[str]:
    """SQuAD's evaluation: lower case, no ASCII punctuation, no English articles, no white space."""
    plain = "".join(char for char in text.lower() if char not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def official(predictions: dict[str, str], golds: dict[str, list[str]], squad_2: bool) -> Any:
    """The official scripts' exact match and F1 (of 2.0 where some question has no answer)."""
    exact, f1 = 0.0, 0.0
    for guid, answers in golds.items():
        best = [0.0, 0.0]
        given = normalize_answer(predictions[guid])
        for answer in answers or [""]:
            right = normalize_answer(answer)
            shared = sum((Counter(given) & Counter(right)).values())
            value = 0.0
            if squad_2 and not (given and right):
                value = float(given == right)
            elif shared:
                precision, recall = shared / len(given), shared / len(right)
                value = 2 * precision * recall / (precision + recall)
            best = [max(best[0], float(given == right)), max(best[1], value)]
        exact, f1 = exact + best[0], f1 + best[1]
    return {"exact_match": exact / len(golds), "f1": f1 / len(golds)}


def questions(file: str) -> dict[str, tuple[str, list[str]]]:
    """Read context and gold answers of each question, from nested or flat JSON."""
    found: dict[str, tuple[str, list[str]]] = {}
    for article in json.loads((DATA / file).read_text(encoding="utf-8"))["data"]:
        if "question" in article:
            found[article["id"]] = article["context"], article["answers"]["text"]
            continue
        for paragraph in article["paragraphs"]:
            for row in paragraph["qas"]:
                answers = [answer["text"] for answer in row["answers"]]
                found[row["id"]] = paragraph["context"], answers
    return found


def answers_to(asked: dict[str, tuple[str, list[str]]]) -> dict[str, str]:
    """Draw an answer: the gold one, a part of it, some words of the context, or none."""
    draw = random.Random(0)
    drawn = {}
    for guid, (context, golds) in asked.items():
        words = (golds or [context])[0].split()
        start = draw.randrange(len(words))
        whole = (golds or [""])[0]
        drawn[guid] = draw.choice([whole, " ".join(words[start : start + 3]), "nan", ""])
    return drawn


def answer_csv(folder: Path, drawn: dict[str, str], columns: Sequence[str]) -> Path:
    path = folder / "p.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [columns, *((g, t) if len(columns) > 1 else (t,) for g, t in drawn.items())]
        )
    return path


ANSWER_LAYOUTS: dict[str, Callable[[Path, dict[str, str]], Path]] = {
    "object": lambda folder, drawn: save(folder / "p.json", json.dumps(drawn)),
    "object with a mark": lambda folder, drawn: save(
        folder / "p.json", "\ufeff" + json.dumps(drawn, ensure_ascii=False)
    ),
    "packed object": lambda folder, drawn: save(folder / "p.json.gz", json.dumps(drawn)),
    "Hugging Face's list": lambda folder, drawn: save(
        folder / "p.json", json.dumps([{"id": g, "prediction_text": t} for g, t in drawn.items()])
    ),
    "jsonl, another order": lambda folder, drawn: save(
        folder / "p.jsonl",
        "\n".join(json.dumps({"guid": g, "prediction": t}) for g, t in sorted(drawn.items())),
    ),
    "csv": lambda folder, drawn: answer_csv(folder, drawn, IDS),
    "csv of answers": lambda folder, drawn: answer_csv(folder, drawn, ("id", "answer")),
    "no ids": lambda folder, drawn: answer_csv(folder, drawn, ("prediction",)),
    "null for no answer": lambda folder, drawn: save(
        folder / "p.json",
        json.dumps([{"id": g, "prediction": t or None} for g, t in drawn.items()]),
    ),
    "a question is missing": lambda folder, drawn: save(
        folder / "p.json", json.dumps(dict(list(drawn.items())[1:]))
    ),
}


@pytest.mark.parametrize("layout", ANSWER_LAYOUTS)
@pytest.mark.parametrize("file", ["parashoot/dev.json", "heq/val v1.1.json"])
@pytest.mark.parametrize("form", ["as shipped", "references", "offsets"])
def test_answers_in_any_layout_score_as_by_the_official_script_or_are_refused(
    tmp_path, file, layout, form
):
    asked = questions(file)
    drawn = answers_to(asked)
    gold = DATA / file
    golds = {guid: answers for guid, (_, answers) in asked.items()}
    if form == "references":
        rows = [
            {"id": g, "answers": {"text": texts, "answer_start": [7] * len(texts)}}
            for g, texts in golds.items()
        ]
        gold = save(tmp_path / "references.json", json.dumps(rows))
    elif form == "offsets":
        text = gold.read_text(encoding="utf-8")
        moved = re.sub(r'("answer_start": \[?)(\d+)', lambda m: f"{m[1]}{int(m[2]) + 1}", text)
        gold = save(tmp_path / "gold.json.gz", moved)
    found = scored("qa", gold, ANSWER_LAYOUTS[layout](tmp_path, drawn))
    refused = layout in ("no ids", "a question is missing")
    assert (found is None) == refused
    if found is not None:
        expected = official(drawn, golds, squad_2=not all(golds.values()))
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_questions_without_an_answer_can_be_left_out(tmp_path):
    asked = questions("heq/val v1.1.json")
    drawn = answers_to(asked)
    answerable = {guid: golds for guid, (_, golds) in asked.items() if golds}
    assert len(answerable) == 1058
    expected = official(drawn, answerable, squad_2=False)
    words = ("data=heq", "data.qa.no_answer=drop")
    predictions = save(tmp_path / "p.json", json.dumps(drawn))
    found = scored("qa", DATA / "heq/val v1.1.json", predictions, *words)
    assert found is not None
    assert "no_answer_accuracy" not in found
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
