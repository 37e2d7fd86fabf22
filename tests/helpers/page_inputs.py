"""The files that the pages' commands read, and what people fill in between two commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import yaml

from heron.base.folders import data_set_file
from heron.base.tables import read_table
from heron.data.config import read_config
from heron.data.overrides import override
from heron_forks.hesum.judging.study import read_key
from heron_forks.lchaim.shots import PROMPTS
from page_commands import FENCED
from small_heron import ROOT, TEXTS, Row, rows_of, substitute_rows, write_rows
from small_study import answer_csv, knowing_raters

# Keys with a file of rows, and rows of which split.
READ = {
    **dict.fromkeys(("gold", "predictions", "input", "data.files.test.path"), "test"),
    "data.files.train.path": "train",
}
OWN = {"summarization": "summaries", "mlm": "text"}


def write_inputs(place: Path, line: str) -> None:
    """Write the files in `place` that a command reads: by its first words, or rows of its task."""
    for start, write in WRITTEN.items():
        if line.startswith(f"heron {start}"):
            write(place)
    words = shlex.split(line)
    given = dict(word.split("=", 1) for word in words if "=" in word)
    labels = [word for word in words if word.startswith("data.label_order=")]
    task = given.get("task")
    language = given.get("data.language", "")
    if "run" in given and (run := place / given["run"] / "config.yaml").is_file():
        trained_on = yaml.safe_load(run.read_text(encoding="utf-8"))["data"]
        task, language = trained_on["task"], trained_on["language"]
    data = given.get("data", f"own_{OWN.get(task, task)}")
    for key, split in READ.items():
        path = place / given.get(key, "/")
        if path.suffix and path.parent == place:
            config = override(read_config(data_set_file(data)), labels)
            rows = substitute_rows(config, split, language)
            _write_input(path, rows, config.task, key == "predictions")


def _write_input(path: Path, rows: Sequence[Row], task: str, predicted: bool = True) -> None:
    _, text, _, target = TEXTS[task]
    if predicted and path.suffix == ".json":
        path.write_text(json.dumps({row["guid"]: row[target] for row in rows}), encoding="utf-8")
    elif predicted:
        names = {"guid": "guid", "gold": target, "prediction": target, "text": text}
        write_rows(path, [{key: row[name] for key, name in names.items()} for row in rows])
    else:
        write_rows(path, [row | {"body": row[text]} for row in rows])


def _systems(task: str, place: Path) -> None:
    for name in ("a.csv", "b.csv", "mine.csv", "gpt4.jsonl", "train.csv", "test.csv"):
        _write_input(place / name, rows_of(task, "he", "test"), task)


def _labels(place: Path) -> None:
    labels = [row["label"] for row in rows_of("relation")[:21]]
    rows = [
        {"id": number, "hadar": first, "shir": second, "round": number % 2}
        for number, (first, second) in enumerate(pairwise(labels))
    ]
    write_rows(place / "all.csv", rows)
    for name, who in (("anna", "hadar"), ("ben", "shir")):
        write_rows(place / f"{name}.csv", [{"id": row["id"], "label": row[who]} for row in rows])
    both = [(row, who) for row in rows for who in ("hadar", "shir")]
    long = [{"item": row["id"], "who": who, "label": row[who]} for row, who in both]
    write_rows(place / "long.jsonl", long)


def _fill_sheets(place: Path) -> None:
    for number, path in enumerate(sorted((place / "people").glob("*.csv"))):
        rows = read_table(path).rows
        labels = sorted({*json.loads((place / "people/key.json").read_text())["gold"].values()})
        filled = [row | {"label": labels[(n // (1 + number)) % 3]} for n, row in enumerate(rows)]
        write_rows(path, filled)


def _fill_forms(place: Path) -> None:
    (key,) = place.glob("*/key.json")
    study = read_key(key)
    answer_csv(study, knowing_raters(study, 0.8), key.parent / "forms", place / "returned")


def _fill_judgements(place: Path) -> None:
    rows = read_table(place / "judge.csv").rows
    write_rows(place / "judge.csv", [row | {"minimal": "x"} for row in rows])


def _pages(place: Path) -> None:
    (place / "downloaded" / "example.org").mkdir(parents=True)
    for number, row in enumerate(rows_of("summarization")[:40]):
        text = f"<h1>{number}</h1><h2>{row['summary']}</h2><p>{row['article']}</p>"
        page = f"<html><body><article>{text}</article></body></html>"
        (place / "downloaded" / "example.org" / f"{number}.html").write_text(page, encoding="utf-8")
    site = {"domain": "example.org", "start": "https://example.org/", "summary": "h2", "body": "p"}
    (place / "mine.yaml").write_text(yaml.safe_dump({"sites": [site]}), encoding="utf-8")


def _articles(place: Path) -> None:
    texts = [row["article"] for row in rows_of("summarization")]
    rows = [{"title": f"{n}", "paragraphs": [text, text[::-1]]} for n, text in enumerate(texts)]
    write_rows(place / "articles.jsonl", rows)


def _questions(place: Path) -> None:
    tasks = json.loads((place / "shoot" / "tasks.json").read_text(encoding="utf-8"))
    for number in (1, 2):
        exported = [_annotated(task) for task in tasks[number - 1 :: 2]]
        (place / f"project-{number}.json").write_text(json.dumps(exported), encoding="utf-8")


def _annotated(task: Row) -> Row:
    """Mark a word, and ask a question about it, as Label Studio exports them."""
    word = task["data"]["context"].split()[5]
    start = task["data"]["context"].index(word)
    region = {"id": "r", "to_name": "context"}
    place = {"start": start, "end": start + len(word)}
    answer = place | {"text": word, "labels": ["תשובה"]}
    question = place | {"text": [f"מה נאמר כאן במקום {start}?"]}
    results = [
        region | {"from_name": "answer", "type": "labels", "value": answer},
        region | {"from_name": "question", "type": "textarea", "value": question},
    ]
    made = {"id": 1, "completed_by": 7, "was_cancelled": False, "result": results}
    return task | {"annotations": [made]}


def _matres(place: Path) -> None:
    (place / "data" / "matres").mkdir(parents=True)
    events = " ".join(f'We <EVENT eid="e{n}" class="X">go{n}</EVENT>.' for n in range(40))
    made = "".join(f'<MAKEINSTANCE eventID="e{n}" eiid="ei{n}" tense="X"/>' for n in range(40))
    for part, folder in TIMEML.items():
        text = f"<TimeML><DOCID>{part}</DOCID><TEXT>{events}</TEXT>{made}</TimeML>"
        (place / folder).mkdir(exist_ok=True)
        (place / folder / f"{part}.tml").write_text(text, encoding="utf-8")
        lines = [f"{part}\tgo{n}\tgo{n + 1}\t{n}\t{n + 1}\t{LABELS[n % 4]}" for n in range(39)]
        (place / "data" / "matres" / f"{part}.txt").write_text("\n".join(lines) + "\n")


def _curriculum(place: Path) -> None:
    page = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    (text,) = (block for language, block in FENCED.findall(page) if language == "yaml")
    folder = place / "experiments" / "village" / "conf" / "curriculum"
    folder.mkdir(parents=True)
    (folder / "agreement.yaml").write_text(text, encoding="utf-8")
    guids = [row["guid"] for row in rows_of("relation")]
    rows = [{"guid": guid, "disagreement": n % 3} for n, guid in enumerate(guids)]
    write_rows(place / "agreement.csv", rows)


LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
TIMEML = {"timebank": "TBAQ-cleaned", "aquaint": "TBAQ-cleaned", "platinum": "te3-platinum"}


# What is written, or filled in by people, before a command.
def _released_pairs(place: Path) -> None:
    pair = {"uid": "id_0", "premise_id": "text_0", "hypothesis_id": "text_1", "label": "n"}
    names = ("text_translated", "hebrew_text", "origin_text", "text_reverse_translated")
    texts = [{"key": f"text_{n},", **dict.fromkeys(names, "א")} for n in range(2)]
    (place / "mapped_train.json").write_text(json.dumps([pair]))
    lines = "\n".join(map(json.dumps, texts))
    for name in ("unique_texts_aws_translated", "heb2eng_unique_texts_aws_translated"):
        (place / f"{name}.jsonl").write_text(lines)
    row = "Paragraph:\n  p\n  Sentence:\n  h\n  Response:\n  {}\n  "
    prompt = "".join(map(row.format, "enc"))
    source = [f'{name} = """{prompt}"""\n' for name in PROMPTS.values()]
    notebook = {"cells": [{"cell_type": "code", "source": source}]}
    (place / "FILE.csv").write_text(json.dumps(notebook))


WRITTEN: dict[str, Callable[[Path], None]] = {
    "agreement": _labels,
    "train -m curriculum=none,agreement": _curriculum,
    "annotate collect": _fill_sheets,
    "compare a.csv": partial(_systems, "summarization"),
    "compare runs/hesum": partial(_systems, "summarization"),
    "compare runs/lchaim": partial(_systems, "nli"),
    "judge collect": _fill_forms,
    "judge sample": partial(_systems, "summarization"),
    "reproduce hesum:T4": _fill_forms,
    "reproduce parashoot:T2": _fill_judgements,
    "build hesum out=news pages": _pages,
    "build lchaim": _released_pairs,
    "build parashoot sample": _articles,
    "build parashoot collect": _questions,
    "build matres": _matres,
    "count files": partial(_systems, "relation"),
}
