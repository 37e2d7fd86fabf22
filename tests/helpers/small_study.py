"""A made-up human evaluation: summaries of three systems, and raters who fill the forms."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.tables import read_table, write_table
from heron.cli import main
from heron_forks.hesum.judging.study import JudgedSummary, Study, read_key
from made_up_runs import HOSTILE

SYSTEMS = ("nightingale", "sparrow", "wagtail")
Fill = Callable[[str, str, JudgedSummary], Mapping[str, Any] | None]


def write_systems(folder: Path, articles: int = 20) -> str:
    """Write a file for each system; returns the value of `systems=`."""
    guids = [f"guid-{n:02d}" for n in range(articles)]
    for number, system in enumerate(SYSTEMS):
        columns: dict[str, list[Any]] = {
            "guid": guids[::-1] if number else guids,
            "prediction": [f"תקציר {'אבג'[number]} של כתבה. {guid[-2:]}" for guid in guids],
            "rouge1": [(number + n % 7) / 10 for n in range(articles)],
            "kind": ["short"] * articles,
        }
        if number:
            columns["prediction"] = columns["prediction"][::-1]
        else:
            texts = [f"כתבה {guid[-2:]} {HOSTILE}\n" + "מילים רבות. " * 30 for guid in guids]
            columns |= {"text": texts, "gold": [f"כותרת משנה {guid[-2:]}" for guid in guids]}
        write_table(folder / f"{system}.jsonl", columns)
    return ",".join(str(folder / f"{system}.jsonl") for system in SYSTEMS)


def sample(folder: Path, *options: str, articles: int = 20) -> Study:
    """Draw a study into `folder / "study"`."""
    folder.mkdir(parents=True, exist_ok=True)
    systems = write_systems(folder, articles)
    words = [f"systems={systems}", "language=he", f"out={folder / 'study'}", *options]
    assert main(["judge", "sample", *words]) == 0
    return read_key(folder / "study" / "key.json")


def answer_json(study: Study, fill: Fill, folder: Path) -> None:
    """Write for each rater what the HTML form saves.

    Args:
        study: whose raters.
        fill: rater, item and what it is to the rest of the answer; None leaves it out.
        folder: for the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for rater, items in study.items.items():
        filled = [(item, fill(rater, item, one)) for item, one in items.items()]
        answers = [{"item": item, **given} for item, given in filled if given is not None]
        head = {"kind": "heron judgements", "study": study.id, "rater": rater, "saved": ""}
        content = json.dumps({**head, "answers": answers})
        (folder / f"{rater}.json").write_text(content, encoding="utf-8")


def answer_csv(study: Study, fill: Fill, forms: Path, folder: Path) -> None:
    """Fill the CSV forms as a spreadsheet would."""
    folder.mkdir(parents=True, exist_ok=True)
    for rater, items in study.items.items():
        table = read_table(forms / f"{rater}.csv")
        for row in table.rows:
            given = fill(rater, row["item"], items[row["item"]]) or {}
            row.update({name: str(value) for name, value in given.get("ratings", {}).items()})
            row.update(dict.fromkeys(given.get("errors", []), "x"))
            row["no_error"] = "x" if given.get("none") else ""
            row["comment"] = given.get("comment", "")
        with open(folder / f"{rater}.csv", "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, table.columns)
            writer.writeheader()
            writer.writerows(table.rows)


def knowing_raters(study: Study, sure: float, seed: int = 0) -> Fill:
    """Raters who know a summary's true rating with probability `sure`, and toss a die else.

    The die is as the truths are, so alpha is `sure` squared, whatever the distance.
    """
    random = np.random.default_rng(seed)
    truths: dict[tuple[str, str, str], int] = {}

    def fill(rater: str, item: str, one: JudgedSummary) -> dict[str, Any]:
        ratings = {}
        for criterion in study.criteria:
            place = one.guid, one.system, criterion.name
            truth = truths.setdefault(place, int(random.integers(1, 6)))
            known = random.random() < sure
            ratings[criterion.name] = truth if known else int(random.integers(1, 6))
        return {"ratings": ratings}

    return fill


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read a CSV file that `collect` has written; it may have no rows."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def with_ratings(choose: Callable[[str, str, str, int], int]) -> Fill:
    """Raters whose rating is a function of rater, guid, system and the criterion's number."""

    def fill(rater: str, item: str, one: JudgedSummary) -> dict[str, Any]:
        names = ("coherence", "completeness")
        return {"ratings": {n: choose(rater, one.guid, one.system, i) for i, n in enumerate(names)}}

    return fill


def collect(folder: Path, forms: str = "returned", *options: str) -> int:
    """Collect `folder / forms`; returns the exit code."""
    key = folder / "study" / "key.json"
    return main(["judge", "collect", f"forms={folder / forms}", f"key={key}", *options])


def table(folder: Path, name: str, key: int = 0) -> dict[str, dict[str, str]]:
    """Read a table of the report, by what its column number `key` holds."""
    rows = rows_of(folder / "study" / "results" / "tables" / f"{name}.csv")
    return {list(row.values())[key]: row for row in rows}
