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
_SHOWN = ("study", "rater", "item", "article", "summary")  # filled columns of a CSV form


def write_forms(
    folder: Path, study: Study, articles: Mapping[str, str], summaries: Summaries
) -> list[Path]:
    """Write `<rater>.html` and `<rater>.csv` for each rater, and `instructions.txt`.

    Args:
        folder: only for files that raters may see.
        study: with the summaries of each form.
        articles: texts by guid.
        summaries: texts by system and guid.

    Returns:
        The files.
    """
    wording = get_wording(study.wording)
    paths = []
    for rater in study.items:
        content = payload(study, rater, articles, summaries, wording)
        page = _page(content, study.wording, wording)
        paths.append(write_file(folder / f"{rater}.html", page))
        table = folder / f"{rater}.csv"
        _write_csv(table, study, content)
        paths.append(table)

    paths.append(write_file(folder / "instructions.txt", _instructions(study, wording)))
    return paths


def payload(
    study: Study,
    rater: str,
    articles: Mapping[str, str],
    summaries: Summaries,
    wording: Wording,
) -> dict[str, Any]:
    """Collect the content of a form, in JSON types.

    Args:
        study: with the summaries of each form.
        rater: whose form it is.
        articles: texts by guid.
        summaries: texts by system and guid.
        wording: of the form.

    Returns:
        Texts, questions and items; neither guids nor names of systems.
    """
    language = get_language(study.language)
    shown: dict[str, dict[str, Any]] = {}  # articles with their summaries, by guid
    for item, judged in study.items[rater].items():
        guid = judged.guid
        if guid not in shown:
            shown[guid] = {"text": clean_text(articles[guid]), "summaries": []}
        text = clean_text(summaries[judged.system][guid])
        shown[guid]["summaries"].append({"item": item, "text": text})

    return {
        "kind": ANSWERS,
        "study": study.id,
        "rater": rater,
        "language": language.code,
        "direction": language.direction,
        "highest": max(RATINGS),
        "words": dataclasses.asdict(wording.interface),
        "criteria": [dataclasses.asdict(question) for question in study.criteria],
        "errors": [dataclasses.asdict(question) for question in study.errors],
        "articles": list(shown.values()),
    }


def _page(content: Mapping[str, Any], code: str, wording: Wording) -> str:
    """Render the HTML form in the language `code`."""
    return render(
        "judge.html.j2",
        TEMPLATES,
        words=wording.interface,
        language=code,
        direction=get_language(code).direction,
        rater=content["rater"],
        data=Markup(escape_json(content)),
    )


def csv_columns(study: Study) -> list[str]:
    """Name the columns of a CSV form."""
    columns = [*_SHOWN, *[question.name for question in study.criteria]]
    if study.errors:
        columns += [question.name for question in study.errors]
        columns.append(NO_ERROR)
    return [*columns, "comment"]


def _write_csv(path: Path, study: Study, content: Mapping[str, Any]) -> None:
    """Write one row per summary; an article is in the row of its first summary only."""
    rows: list[tuple[str, ...]] = []
    for article in content["articles"]:
        text = article["text"]
        for summary in article["summaries"]:
            rows.append((study.id, content["rater"], summary["item"], text, summary["text"]))
            text = ""

    columns = dict.fromkeys(csv_columns(study), [""] * len(rows))
    for index, name in enumerate(_SHOWN):
        columns[name] = [row[index] for row in rows]
    write_for_people(path, columns)


def _instructions(study: Study, wording: Wording) -> str:
    """Explain how to fill a CSV form; the HTML form explains itself."""
    words = wording.interface
    lines = [words.title, "", *words.instructions, ""]

    highest = max(RATINGS)
    for criterion in study.criteria:
        lines.append(f"{criterion.name}: {criterion.title}. {criterion.description}")
        if criterion.lowest:
            lines.append(f"    1 = {criterion.lowest}, {highest} = {criterion.highest}")

    if study.errors:
        lines.append("")
        lines.append(f"{words.errors}: x")
        for kind in study.errors:
            lines.append(f"{kind.name}: {kind.title} – {kind.description}")
        lines.append(f"{NO_ERROR}: {words.none}")

    lines += ["", f"comment: {words.comment}", ""]
    return "\n".join(lines)
