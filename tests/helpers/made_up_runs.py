"""Run folders made up: data, configuration, dynamics and predictions of each task; none trained."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.files import dump_yaml, write_json
from heron.base.run_folder import config_text
from heron.base.tables import read_table, write_table
from heron.data.config import Columns, DataConfig, FileConfig, ValidationConfig
from heron.dynamics.files import Meta, dynamics_table, write_dynamics
from heron.models.config import HeadConfig
from heron.tasks.config import Config, PathsConfig, TaskConfig

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='broken=1'>"


@contextmanager
def changed(path: Path) -> Iterator[dict[str, Any]]:
    """Give the columns of a table, and write them back with their changes."""
    table = read_table(path)
    columns = {name: table.values(name) for name in table.columns}
    yield columns
    write_table(path, columns)


def write_run(
    run: Path,
    data: DataConfig,
    head: HeadConfig,
    predictions: Mapping[str, Any] | None = None,
    split: str = "test",
) -> Path:
    """Write a run on the data in `../data`, perhaps with predictions; returns its folder."""
    place = run.parent
    data.files = {
        path.stem: FileConfig(path.name) for path in sorted((place / "data").glob("*.json*"))
    }
    paths = PathsConfig(data=str(place / "data"), cache=str(place / "cache"), runs="runs")
    config = Config(data=data, task=TaskConfig(name=data.task), head=head, paths=paths)
    run.mkdir(parents=True)
    (run / "config.yaml").write_text(config_text(config), encoding="utf-8")
    if predictions:
        write_table(run / "predictions" / f"{split}.parquet", predictions)
    return run


# Sentence pairs, with training dynamics.

CLASSES = ("contradiction", "entailment", "neutral")
WORDS = ("הילדים", "הולכים", "לבית", "הספר", "בבוקר", "וההורים", "אל", "העיר", "עד", "הערב")


def make_records(
    folder: Path,
    guids: Sequence[str],
    records: int = 4,
    labels: Sequence[str] = CLASSES,
    seed: int = 0,
) -> np.ndarray:
    """Write `records` records under `folder/dynamics`; returns the float32 p_gold_EN."""
    random = np.random.default_rng(seed)
    shape = (records, len(guids))
    p_gold_EN = random.uniform(0.02, 0.98, shape).astype(np.float32)
    gold_N = np.arange(len(guids)) % max(len(labels), 1) if labels else np.full(len(guids), -1)
    meta = {"mode": "train", "task": "nli" if labels else "extractive_qa", "labels": tuple(labels)}
    for record, p_gold_N in enumerate(p_gold_EN):
        margin_N = np.full(len(guids), np.nan)
        right_N = p_gold_N > 0.5
        logits_NC = None
        if labels:
            # All other classes have a logit of 0: the gold one is right from p = 1 / C on.
            margin_N = np.log(p_gold_N * (len(labels) - 1) / (1 - p_gold_N))
            right_N = margin_N > 0
            logits_NC = np.zeros((len(guids), len(labels)), np.float32)
            logits_NC[np.arange(len(guids)), gold_N] = margin_N
        table = dynamics_table(
            list(guids),
            gold_N,
            p_gold_N,
            right_N,
            margin_N,
            np.ones(len(guids)),
            logits_NC,
            Meta(record + 1.0, **meta),
        )
        write_dynamics(folder / "dynamics" / f"epoch={record}.parquet", table)
    return p_gold_EN


def make_run(
    place: Path,
    name: str = "seed=0-1a2b",
    rows: int = 60,
    texts: Sequence[str] = (),
    records: int = 4,
    seed: int = 0,
    language: str = "he",
) -> Path:
    """Write a run on sentence pairs, with its data set in `place/data`; returns its folder.

    Args:
        place: a folder.
        name: of the run folder.
        rows: examples, with the guids p0, p1, ...
        texts: the first texts; default: random words. The first of four rows that share one.
        records: of dynamics.
        seed: of the dynamics; the data is always the same.
        language: of the data.
    """
    random = np.random.default_rng(0)
    guids = [f"p{row}" for row in range(rows)]
    premises = list(texts) or [" ".join(random.choice(WORDS, 6)) for _ in range(-(-rows // 4))]
    columns = {
        "guid": guids,
        "premise": [premises[row // 4 % len(premises)] for row in range(rows)],
        "hypothesis": [" ".join(random.choice(WORDS, 2 + row % 5)) for row in range(rows)],
        "label": [CLASSES[row % 3] for row in range(rows)],
        "genre": [("fiction", "travel")[row % 2] for row in range(rows)],
    }
    write_table(place / "data" / "train.jsonl", columns)
    data = DataConfig(
        name="pairs",
        language=language,
        task="nli",
        format="pair_table",
        label_order=list(CLASSES),
        columns=Columns(text="premise", text_pair="hypothesis", label="label", side=["genre"]),
        validation=ValidationConfig(fraction=0.1, by="row"),
    )
    folder = write_run(place / name, data, HeadConfig(name="cross", input="pair", pooling="cls"))
    make_records(folder, guids, records, seed=seed)
    return folder


def read_payload(page: str, name: str = "map-data") -> dict[str, Any]:
    """Read back what a page holds for its script: of a map, or of `cards-data`."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert found is not None
    return dict(json.loads(found.group(1)))


def unpack(block: dict[str, str]) -> np.ndarray:
    """Read one array of a payload."""
    return np.frombuffer(base64.b64decode(block["data"]), f"<{block['type']}")


# Questions.

CONTEXT = "בשנת 1948 נסע דוד כהן 🦩 מחיפה אל העיר תל אביב ושם פגש את רות, מורה צעירה, פעמיים."
# Question, gold answer, answer given: one of each overlap class, in the order of Table 5.
KINDS = (
    ("מתי נסע דוד?", "1948", "1948"),
    ("לאן נסע דוד?", "העיר תל אביב", "תל אביב"),
    ("על מי מסופר?", "דוד", "דוד כהן"),
    ("את מי פגש דוד כהן בתל אביב בשנה ההיא?", "רות, מורה", "מורה צעירה"),
    ("מאיפה יצא?", "מחיפה", "רות"),
)
OVERLAPS = ("equal", "inside", "contains", "overlaps", "disjoint")


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
    data = DataConfig(
        name="questions",
        language="he",
        task="qa",
        format="squad_json",
        label_order=["answer"],
        columns=Columns(text="context", text_pair="question"),
    )
    head = HeadConfig(name="span", input="question", pooling="tokens", classifier="span")
    return write_run(folder / "run", data, head, _answers(rows), split)


def _answers(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    found = []
    for number, row in enumerate(rows):
        given = KINDS[number % len(KINDS)][2]
        start = row["context"].index(given)
        place = {"start": start, "end": start + len(given)}
        probability = 0.9 - 0.8 * number / len(rows)
        candidate = {"text": given, **place, "probability": probability}
        (gold,) = row["answers"]["text"]
        found.append(
            {
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
        )
    return {name: [row[name] for row in found] for name in found[0]}


# Articles.

TOPICS = ("תקציב", "מים", "חינוך", "תחבורה", "בריאות")


def article_of(row: int) -> str:
    """Write an article of 4 to 10 sentences; the first one names its number, behind an emoji."""
    topic = TOPICS[row % len(TOPICS)]
    first = f"🦩 ועדת ה{topic} דנה אתמול בסעיף {row} של ההצעה החדשה. {HOSTILE if row == 0 else ''}"
    more = [f"חבר מספר {n} אמר דברים על {topic} בישיבה הארוכה מאוד." for n in range(3 + row % 7)]
    return " ".join([first, *more])


def gold_of(row: int) -> str:
    """Write its gold summary; some of its words are novel, in every third row all but one."""
    topic = TOPICS[row % len(TOPICS)]
    if row % 3 == 0:
        return f"פוליטיקאים התווכחו שעות סביב {topic}"
    return f"ועדת ה{topic} דנה בסעיף {row}" + " של ההצעה" * (row % 4)


def written_for(row: int, skill: float = 0.5) -> str:
    """Write what a system of some skill made of it."""
    kept = gold_of(row).split()
    return " ".join([*kept[: max(1, round(skill * len(kept)))], "🦩", "בקרוב"])


def make_summary_run(folder: Path, articles: int = 40, name: str = "run", **columns: Any) -> Path:
    """Write a run with summaries; `columns` come beside. Returns its folder."""
    guids = [f"s{row}" for row in range(articles)]
    table = {
        "guid": guids,
        "article": [article_of(row) for row in range(articles)],
        "summary": [gold_of(row) for row in range(articles)],
        "site": [f"site {row % 8}" for row in range(articles)],
        "desk": [("news", "sport")[row % 2] for row in range(articles)],
    }
    for split in ("train", "test"):
        write_table(folder / "data" / f"{split}.jsonl", table)
    data = DataConfig(
        name="articles",
        language="he",
        task="summarization",
        format="article_table",
        label_order=["summary"],
        columns=Columns(text="article", target="summary", guid="guid", group="site", side=["desk"]),
    )
    head = HeadConfig(name="warm_start", input="article", pooling="tokens", classifier="warm_start")
    predictions = {
        "guid": guids,
        "gold": table["summary"],
        "prediction": [written_for(row) for row in range(articles)],
        "text": table["article"],
        "group": table["site"],
    }
    return write_run(folder / name, data, head, {**predictions, **columns})


# A sweep.

HEADS = ("ess", "emp", "עברית מעורבת mix")
RATES = ("1e-5", "3e-5", "1e-4")


def make_sweep(place: Path, seeds: int = 2, seed: int = 0) -> Path:
    """Write `seeds` runs of each head and learning rate; one fails, one is still running.

    On validation `ess` with 1e-4 is best by far, on test `emp` with 1e-5.

    Returns:
        The sweep's folder, `place/grid`.
    """
    random = np.random.default_rng(seed)
    folder = place / "grid"
    settings = [(h, r, s) for h in HEADS for r in RATES for s in range(seeds)]
    for number, (head, rate, run_seed) in enumerate(settings):
        noise = float(random.normal(0, 0.01))
        validation = 0.4 + 0.2 * ((head, rate) == ("ess", "1e-4")) + noise
        test = 0.35 + 0.3 * ((head, rate) == ("emp", "1e-5")) + noise
        words = [f"head={head}", f"optim.lr={rate}", f"seed={run_seed}", "run.sweep=grid"]
        state = {3: "failed", len(settings) - 1: "running"}.get(number, "done")
        scores = {"validation": {"macro_f1": validation}, "test": {"macro_f1": test}}
        job = folder / f"job {number:03d}, seed={run_seed}"
        _write_run(job, state, words, scores, {"name": head}, float(rate), run_seed)
    return folder


def _write_run(
    job: Path,
    state: str,
    words: list[str],
    scores: dict[str, dict[str, float]],
    head: dict[str, Any],
    rate: float,
    seed: int,
) -> None:
    job.mkdir(parents=True)
    config = {"seed": seed, "head": head, "optim": {"lr": rate}}
    config |= {"trainer": {"monitor": "macro_f1"}, "data": {"synthetic": True}}
    (job / "config.yaml").write_text(dump_yaml(config), encoding="utf-8")
    status: dict[str, Any] = {"state": state, "seconds": 61.25, "overrides": words}
    if state == "failed":
        status["error"] = "RuntimeError: </script><script>window.broken = 1</script>\nsecond line"
    (job / "status.json").write_text(json.dumps(status), encoding="utf-8")
    if state != "failed":
        rows = [f"{step // 50},{step},{1.5 - step / 400:.4f}," for step in range(0, 200, 10)]
        final = scores["validation"]["macro_f1"]
        rows += [f"{n},{50 * n + 49},,{final - 0.1 + 0.025 * (n + 1)}" for n in range(4)]
        lines = ["epoch,step,train/loss,validation/macro_f1", *rows]
        (job / "metrics.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if state == "done":
        (job / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
        total = {"steps": 200, "batches": 200, "samples": 6400, "tokens": 90_000}
        total |= {"padded": 120_000, "unique": 1600}
        ledger = {"planned_steps": 200, "total": total, "stages": []}
        (job / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
