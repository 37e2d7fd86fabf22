"""Forms for raters: one HTML file that works offline, or a CSV file for a spreadsheet.

Neither names a system or a guid.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heron.base.files import write_file
from heron.languages import get_language
from heron.reports.pages import clean_text, escape_json, render
from heron_tools.annotation.sheets import write_for_people

from .study import NO_ERROR, RATINGS, TEMPLATES, Study, get_wording
from .wording import Wording

Summaries = Mapping[str, Mapping[str, str]]  # by system and guid
ANSWERS = "heron judgements"  # identifies files saved by the HTML form


def write_forms(
    folder: Path, study: Study, articles: Mapping[str, str], summaries: Summaries
) -> list[Path]:
    """Write `<rater>.html`, `<rater>.csv` and `instructions.txt`; returns their paths.

    `folder` may only have files for raters. Articles are by guid, summaries by system and guid.
    """
    wording = get_wording(study.wording)
    paths = []
    for rater in study.items:
        content = payload(study, rater, articles, summaries, wording)
        paths.append(write_file(folder / f"{rater}.html", _page(content, study.wording)))
        paths.append(folder / f"{rater}.csv")
        _write_csv(paths[-1], study, rater, content)
    return [*paths, write_file(folder / "instructions.txt", _instructions(study, wording))]


def payload(
    study: Study,
    rater: str,
    articles: Mapping[str, str],
    summaries: Summaries,
    wording: Wording,
) -> dict[str, Any]:
    """Collect the content of a form, in JSON types."""
    language = get_language(study.language)
    shown: dict[str, dict[str, Any]] = {}
    for item, one in study.items[rater].items():
        article = shown.setdefault(
            one.guid, {"text": clean_text(articles[one.guid]), "summaries": []}
        )
        text = clean_text(summaries[one.system][one.guid])
        article["summaries"].append({"item": item, "text": text})
    return {
        "kind": ANSWERS,
        "study": study.id,
        "rater": rater,
        "language": language.code,
        "direction": language.direction,
        "highest": max(RATINGS),
        "words": dataclasses.asdict(wording.interface),
        "criteria": [dataclasses.asdict(one) for one in study.criteria],
        "errors": [dataclasses.asdict(one) for one in study.errors],
        "articles": list(shown.values()),
    }


def _page(content: Mapping[str, Any], code: str) -> str:
    return render(
        "judge.html.j2",
        TEMPLATES,
        words=get_wording(code).interface,
        language=code,
        direction=get_language(code).direction,
        rater=content["rater"],
        data=Markup(escape_json(content)),
    )


def csv_columns(study: Study) -> list[str]:
    """Name the columns of a CSV form."""
    criteria = [one.name for one in study.criteria]
    errors = [*(one.name for one in study.errors), NO_ERROR] if study.errors else []
    return ["study", "rater", "item", "article", "summary", *criteria, *errors, "comment"]


def _write_csv(path: Path, study: Study, rater: str, content: Mapping[str, Any]) -> None:
    """Write one row per summary; an article is in the row of its first summary only."""
    columns = csv_columns(study)
    rows: list[list[str]] = []
    for article in content["articles"]:
        text = article["text"]
        for one in article["summaries"]:
            rows.append([study.id, rater, one["item"], text, one["text"]])
            text = ""
    given = {name: [row[n] for row in rows] for n, name in enumerate(columns[:5])}
    write_for_people(path, given | {name: [""] * len(rows) for name in columns[5:]})


def _instructions(study: Study, wording: Wording) -> str:
    """Explain how to fill a CSV form; the HTML form explains itself."""
    words = wording.interface
    lines = [words.title, "", *words.instructions, ""]
    for one in study.criteria:
        lines += [f"{one.name}: {one.title}. {one.description}"]
        lines += [f"    1 = {one.lowest}, {max(RATINGS)} = {one.highest}"] if one.lowest else []
    if study.errors:
        lines += ["", f"{words.errors}: x"]
        lines += [f"{one.name}: {one.title} – {one.description}" for one in study.errors]
        lines += [f"{NO_ERROR}: {words.none}"]
    return "\n".join([*lines, "", f"comment: {words.comment}", ""])
