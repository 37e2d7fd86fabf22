"""`heron judge collect`: read filled forms, join them with the key, compute tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import SYNTHETIC, Table, to_csv, to_markdown
from heron.base.errors import DataError, Problem, nearest
from heron.base.files import write_file
from heron.base.tables import cell_text, read_table, write_table
from heron.config.constraints import Seed
from heron.reports.pages import render

from . import tables
from .reading import find_forms, read_forms
from .study import NO_ERROR, TEMPLATES, Study, read_key
from .systems import numbers
from .tables import Ratings, unblind


@dataclass
class CollectOptions:
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


def collect_study(options: CollectOptions) -> StudyReport:
    """Read forms, compute and write everything.

    Raises:
        ConfigError: missing files.
        DataError: an unusable key or table of metrics, or no usable answer in any form.
    """
    study = read_key(options.key)
    paths = find_forms(options.forms, options.key)
    answers, problems = read_forms(paths, study)
    if not answers:
        what = f"no answer in {len(paths)} files"
        raise DataError([*problems, Problem(", ".join(options.forms), what, "is any form filled?")])
    ratings = unblind(study, answers)
    found = _tables(ratings, _add_metrics(study, options.metrics), options.seed)
    target = options.out or options.key.parent / "results"
    files = [*_write_rows(target, ratings), *_write_report(target, ratings, found, problems, paths)]
    return StudyReport(tuple(found), tuple(problems), tuple(files))


def _add_metrics(study: Study, paths: Sequence[Path]) -> tables.Metrics:
    """Join the key's metrics with further tables, which take precedence.

    Raises:
        DataError: missing columns, an unknown system, or no row of a judged article.
    """
    merged = {s: {guid: dict(v) for guid, v in by.items()} for s, by in study.metrics.items()}
    for path in paths:
        table = read_table(path, own=True)
        table.require("guid", "system")
        problems = [
            Problem(table.where(i), f"no system {name} in the study.{nearest(name, study.systems)}")
            for i, name in enumerate(map(cell_text, table.values("system")))
            if name not in study.systems
        ]
        # A guid occurs once for each system: together they name a row.
        keys = [f"{cell_text(row['system'])}\0{cell_text(row['guid'])}" for row in table.rows]
        for row, key in zip(table.rows, keys, strict=True):
            row["guid"] = key
        if problems := [*problems, *table.duplicates("guid")]:
            raise DataError(problems)
        others = [name for name in table.columns if name not in ("guid", "system")]
        found = numbers(path, keys, {name: table.values(name) for name in others})
        wanted = {f"{s}\0{guid}": (s, guid) for s in study.systems for guid in study.guids}
        if not wanted.keys() & found.keys() or not any(found.values()):
            raise DataError(str(path), "no numbers for any summary that was judged")
        for key, (system, guid) in wanted.items():
            merged.setdefault(system, {}).setdefault(guid, {}).update(found.get(key, {}))
    return merged


def _tables(ratings: Ratings, metrics: tables.Metrics, seed: int) -> list[Table]:
    found = [
        tables.means_table(ratings, seed),
        tables.differences_table(ratings, seed),
        tables.agreement_table(ratings, seed),
        tables.pairs_table(ratings),
        tables.correlations_table(ratings, metrics, seed),
        *tables.errors_tables(ratings),
        tables.raters_table(ratings),
        tables.places_table(ratings),
    ]
    return [table for table in found if table.rows]


def _write_rows(folder: Path, ratings: Ratings) -> list[Path]:
    """Write every answer with its system: ratings.csv, errors.csv, comments.csv."""
    rows: dict[str, list[tuple[object, ...]]] = {"ratings": [], "errors": [], "comments": []}
    for answer in ratings.answers:
        one = ratings.judged(answer)
        place = answer.rater, one.guid, one.system
        rows["ratings"] += [(*place, name, value) for name, value in answer.ratings.items()]
        ticked = [NO_ERROR] if answer.none else sorted(answer.errors)
        rows["errors"] += [(*place, name) for name in ticked]
        rows["comments"] += [(*place, answer.comment)] if answer.comment else []
    last = {"ratings": ("criterion", "value"), "errors": ("error",), "comments": ("comment",)}
    files = []
    for name, content in rows.items():
        columns = ("rater", "guid", "system", *last[name])
        by_column = list(zip(*content, strict=True)) if content else [()] * len(columns)
        write_table(folder / f"{name}.csv", dict(zip(columns, map(list, by_column), strict=True)))
        files.append(folder / f"{name}.csv")
    return files


def _write_report(
    folder: Path,
    ratings: Ratings,
    found: Sequence[Table],
    problems: Sequence[Problem],
    paths: Sequence[Path],
) -> list[Path]:
    study = ratings.study
    title = f"Human evaluation, study {study.id}"
    facts = _facts(ratings, paths)
    banner = SYNTHETIC if study.synthetic else ""
    page = render(
        "judged.html.j2",
        TEMPLATES,
        title=title,
        synthetic=banner,
        facts=facts,
        problems=[str(problem) for problem in problems],
        tables=found,
    )
    lines = [f"# {title}", "", *([banner, ""] if banner else [])]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", *map(to_markdown, found)]
    if problems:
        lines += ["### Answers that could not be used", "", *(f"- {one}" for one in problems), ""]
    contents = {"report.html": page, "report.md": "\n".join(lines)}
    for table in found:
        name = table.title.lower().replace(" ", "-")
        contents[f"tables/{name}.csv"] = to_csv(table)
    return [write_file(folder / name, content) for name, content in contents.items()]


def _facts(ratings: Ratings, paths: Sequence[Path]) -> Mapping[str, str]:
    study = ratings.study
    given = sum(map(len, study.items.values()))
    judged = sum(1 for answer in ratings.answers if answer.ratings)
    active = {answer.rater for answer in ratings.answers}
    facts = {
        "articles": str(len(study.guids)),
        "systems": ", ".join(study.systems),
        "raters": f"{len(active)} of {len(study.items)} have answered",
        "rated": f"{judged} of {given} summaries given to raters",
        "forms": ", ".join(path.name for path in paths),
    }
    if len(active) == 1:
        facts["agreement"] = "one rater only: nothing shows how far others would agree"
    return facts
