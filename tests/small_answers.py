"""A made-up question answering run: its data, its configuration and its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heron.base.files import write_json
from heron.base.tables import write_table
from heron.data.config import Columns, DataConfig, FileConfig
from heron.models.config import HeadConfig
from heron.tasks.config import Config, PathsConfig, TaskConfig
from heron.training.stored import to_yaml

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='broken=1'>"
CONTEXT = "בשנת 1948 נסע דוד כהן 🦩 מחיפה אל העיר תל אביב ושם פגש את רות, מורה צעירה, פעמיים."
# Question, gold answer, answer given: one of each overlap class, in the order of Table 5.
KINDS = (
    ("מתי נסע דוד?", "1948", "1948"),
    ("לאן נסע דוד?", "העיר תל אביב", "תל אביב"),
    ("על מי מסופר?", "דוד", "דוד כהן"),
    ("את מי פגש דוד כהן בתל אביב בשנה ההיא?", "רות, מורה", "מורה צעירה"),
    ("מאיפה יצא?", "מחיפה", "רות"),
)
CLASSES = ("equal", "inside", "contains", "overlaps", "disjoint")


def write_squad(path: Path, questions: int, contexts: int = 7) -> list[dict[str, Any]]:
    """Write a flat SQuAD file: `questions` over `contexts` articles; returns its rows."""
    rows = []
    for number in range(questions):
        article = number % contexts
        context = f"{CONTEXT} פסקה {article}. {HOSTILE if article == 0 else ''}"
        question, gold, _ = KINDS[number % len(KINDS)]
        answers = {"text": [gold], "answer_start": [context.index(gold)]}
        rows.append(
            {
                "id": f"q{number}",
                "title": f"ערך {article}",
                "context": context,
                "question": question,
                "answers": answers,
            }
        )
    write_json(path, {"version": "v1.1", "data": rows})
    return rows


def make_answered_run(folder: Path, questions: int = 40, split: str = "test") -> Path:
    """Write a run with answers of every kind; returns its folder."""
    rows = write_squad(folder / "data" / "test.json", questions)
    write_squad(folder / "data" / "train.json", 10)
    run = folder / "run"
    run.mkdir()
    (run / "config.yaml").write_text(to_yaml(_config(folder)), encoding="utf-8")
    write_table(run / "predictions" / f"{split}.parquet", _predictions(rows))
    return run


def _config(folder: Path) -> Config:
    data = DataConfig(
        name="questions",
        language="he",
        task="qa",
        format="squad_json",
        label_order=["answer"],
        columns=Columns(text="context", text_pair="question"),
        files={split: FileConfig(f"{split}.json") for split in ("train", "test")},
    )
    paths = PathsConfig(data=str(folder / "data"), cache=str(folder / "cache"), runs="runs")
    head = HeadConfig(name="span", input="question", pooling="tokens", classifier="span")
    return Config(data=data, task=TaskConfig(name="qa"), head=head, paths=paths)


def _predictions(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number, row in enumerate(rows):
        given = KINDS[number % len(KINDS)][2]
        start = row["context"].index(given)
        place = {"start": start, "end": start + len(given)}
        probability = 0.9 - 0.8 * number / len(rows)
        candidate = {"text": given, **place, "probability": probability}
        (gold,) = row["answers"]["text"]
        values = {
            "guid": row["id"],
            "gold": gold,
            "prediction": given,
            **place,
            "probability": probability,
            "no_answer": -1.0,
            "golds": json.dumps([gold], ensure_ascii=False),
            "n_best": json.dumps([candidate], ensure_ascii=False),
            "text_pair": row["question"],
            "text": row["context"],
        }
        for name, value in values.items():
            columns[name].append(value)
    return columns


_COLUMNS = (
    *("guid", "gold", "prediction", "start", "end", "probability", "no_answer", "golds"),
    *("n_best", "text_pair", "text"),
)
