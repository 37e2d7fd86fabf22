"""`heron judge collect`: read filled forms, join them with the key, compute tables."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import SYNTHETIC, Table, to_csv, to_markdown
from heron.base.errors import DataError, Problem, nearest, raise_all
from heron.base.files import write_file
from heron.base.tables import cell_text, read_table, write_table
from heron.config.constraints import Seed
from heron.reports.pages import render

from . import tables
from .reading import find_forms, read_forms
from .study import NO_ERROR, TEMPLATES, Metrics, Study, read_key
from .systems import numbers
from .tables import Ratings, unblind

_KEYS = ("guid", "system")  # columns of a table of metrics that name the summary


@dataclass
class CollectRatingsOptions:
    """Options of `heron judge collect`.

    Args:
        forms: filled forms: files, globs, or folders with .json and .csv files.
        key: the study's `key.json`.
        out: folder for the results; default `results` beside the key.
        metrics: further automatic scores: tables with guid, system and numeric columns.
        seed: of the bootstrap.
    """

    forms: list[str]
    key: Path
    out: Path | None = None
    metrics: list[Path] = field(default_factory=list)
    seed: Seed = 0


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The non-empty tables, the unusable answers, and the written files."""

    tables: tuple[Table, ...]
    problems: tuple[Problem, ...]
    files: tuple[Path, ...]


def collect_study(options: CollectRatingsOptions) -> StudyReport:
    """Read forms, compute and write everything.

    Raises:
        ConfigError: missing files.
        DataError: an unusable key or table of metrics, or no usable answer in any form.
    """
    study = read_key(options.key)
    paths = find_forms(options.forms, options.key)
    answers, problems = read_forms(paths, study)
    if not answers:
        where = ", ".join(options.forms)
        problem = f"no answer in {len(paths)} files"
        raise DataError([*problems, Problem(where, problem, "is any form filled?")])

    ratings = unblind(study, answers)
    metrics = _add_metrics(study, options.metrics)
    results = _tables(ratings, metrics, options.seed)

    out = options.out or options.key.parent / "results"
    files = _write_rows(out, ratings)
    files += _write_report(out, ratings, results, problems, paths)
    return StudyReport(tuple(results), tuple(problems), tuple(files))


def _add_metrics(study: Study, paths: Sequence[Path]) -> Metrics:
    """Join the key's metrics with further tables, which take precedence."""
    metrics = copy.deepcopy(study.metrics)
    for path in paths:
        by_summary = _read_metrics(path, study)
        for system in study.systems:
            of_system = metrics.setdefault(system, {})
            for guid in study.guids:
                scores = by_summary.get(_summary_key(system, guid), {})
                of_system.setdefault(guid, {}).update(scores)
    return metrics


def _summary_key(system: str, guid: str) -> str:
    """Name a summary: a guid occurs once for each system."""
    return f"{system}\0{guid}"


def _read_metrics(path: Path, study: Study) -> dict[str, dict[str, float]]:
    """Read the scores of a table of metrics.

    Returns:
        Numbers by the key of their summary, and by column.

    Raises:
        DataError: missing columns, an unknown system, or no row of a judged article.
    """
    table = read_table(path, own=True)
    table.require("guid", "system")

    problems = []
    for index, row in enumerate(table.rows):
        system = cell_text(row["system"])
        if system not in study.systems:
            hint = nearest(system, study.systems)
            problems.append(table.problem(index, f"no system {system} in the study.{hint}"))
        guid = cell_text(row["guid"])
        row["guid"] = _summary_key(system, guid)
    raise_all([*problems, *table.duplicates("guid")])

    keys = table.values("guid")
    columns = {name: table.values(name) for name in table.columns if name not in _KEYS}
    scores = numbers(path, keys, columns)

    judged: set[str] = set()
    for system in study.systems:
        judged.update(_summary_key(system, guid) for guid in study.guids)
    if judged.isdisjoint(keys) or not any(scores.values()):
        raise DataError(str(path), "no numbers for any summary that was judged")
    return scores


def _tables(ratings: Ratings, metrics: Metrics, seed: int) -> list[Table]:
    """Compute the tables that have rows."""
    results = [
        tables.means_table(ratings, seed),
        tables.differences_table(ratings, seed),
        tables.agreement_table(ratings, seed),
        tables.pairs_table(ratings),
        tables.correlations_table(ratings, metrics, seed),
        *tables.errors_tables(ratings),
        tables.raters_table(ratings),
        tables.places_table(ratings),
    ]
    return [table for table in results if table.rows]


def _write_rows(folder: Path, ratings: Ratings) -> list[Path]:
    """Write every answer with its rater, guid and system.

    Returns:
        `ratings.csv`, `errors.csv` and `comments.csv`.
    """
    rated: tables.Rows = []
    errors: tables.Rows = []
    comments: tables.Rows = []
    for answer in ratings.answers:
        judged = ratings.judged(answer)
        summary = (answer.rater, judged.guid, judged.system)

        for name, rating in answer.ratings.items():
            rated.append((*summary, name, rating))
        ticked = [NO_ERROR] if answer.none else sorted(answer.errors)
        for name in ticked:
            errors.append((*summary, name))
        if answer.comment:
            comments.append((*summary, answer.comment))

    return [
        _write_csv(folder / "ratings.csv", rated, "criterion", "value"),
        _write_csv(folder / "errors.csv", errors, "error"),
        _write_csv(folder / "comments.csv", comments, "comment"),
    ]


def _write_csv(path: Path, rows: tables.Rows, *columns: str) -> Path:
    """Write rows that begin with rater, guid and system; returns the path."""
    cells = {}
    for index, name in enumerate(("rater", "guid", "system", *columns)):
        cells[name] = [row[index] for row in rows]
    write_table(path, cells)
    return path


def _write_report(
    folder: Path,
    ratings: Ratings,
    results: Sequence[Table],
    problems: Sequence[Problem],
    paths: Sequence[Path],
) -> list[Path]:
    """Write the tables as report.html, as report.md, and each as CSV."""
    study = ratings.study
    title = f"Human evaluation, study {study.id}"
    banner = SYNTHETIC if study.synthetic else ""
    facts = _facts(ratings, paths)
    reported = [str(problem) for problem in problems]
    page = render(
        "judged.html.j2",
        TEMPLATES,
        title=title,
        synthetic=banner,
        facts=facts,
        problems=reported,
        tables=results,
    )

    lines = [f"# {title}", ""]
    if banner:
        lines += [banner, ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", *map(to_markdown, results)]
    if problems:
        lines += ["### Answers that could not be used", ""]
        lines += [f"- {problem}" for problem in reported]
        lines.append("")

    contents = {"report.html": page, "report.md": "\n".join(lines)}
    for table in results:
        name = table.title.lower().replace(" ", "-")
        contents[f"tables/{name}.csv"] = to_csv(table)
    return [write_file(folder / name, content) for name, content in contents.items()]


def _facts(ratings: Ratings, paths: Sequence[Path]) -> Mapping[str, str]:
    """Describe the study and its answers: texts by name, in the report's order."""
    study = ratings.study
    on_forms = sum(map(len, study.items.values()))
    rated = sum(1 for answer in ratings.answers if answer.ratings)
    active = {answer.rater for answer in ratings.answers}

    facts = {
        "articles": str(len(study.guids)),
        "systems": ", ".join(study.systems),
        "raters": f"{len(active)} of {len(study.items)} have answered",
        "rated": f"{rated} of {on_forms} summaries given to raters",
        "forms": ", ".join(path.name for path in paths),
    }
    if len(active) == 1:
        facts["agreement"] = "one rater only: nothing shows how far others would agree"
    return facts
