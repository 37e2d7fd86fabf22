"""A made-up run of summaries: its data, its configuration and what it wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heron.base.tables import write_table
from heron.data.config import Columns, DataConfig, FileConfig
from heron.models.config import HeadConfig
from heron.tasks.config import Config, PathsConfig, TaskConfig
from heron.training.stored import to_yaml

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='broken=1'>"
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
    run = folder / name
    run.mkdir()
    (run / "config.yaml").write_text(to_yaml(_config(folder)), encoding="utf-8")
    predictions = {
        "guid": guids,
        "gold": table["summary"],
        "prediction": [written_for(row) for row in range(articles)],
        "text": table["article"],
        "group": table["site"],
    }
    write_table(run / "predictions" / "test.parquet", {**predictions, **columns})
    return run


def _config(folder: Path) -> Config:
    data = DataConfig(
        name="articles",
        language="he",
        task="summarization",
        format="article_table",
        label_order=["summary"],
        columns=Columns(text="article", target="summary", guid="guid", group="site", side=["desk"]),
        files={split: FileConfig(f"{split}.jsonl") for split in ("train", "test")},
    )
    paths = PathsConfig(data=str(folder / "data"), cache=str(folder / "cache"), runs="runs")
    head = HeadConfig(name="warm_start", input="article", pooling="tokens", classifier="warm_start")
    return Config(data=data, task=TaskConfig(name="summarization"), head=head, paths=paths)
