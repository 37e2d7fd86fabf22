"""`heron analyze` on questions and answers: a run's answers, a data set, a sheet of judgements."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.analysis.options import AnalyzeOptions, refuse_others
from heron.analysis.writing import write, write_tables
from heron.base.cells import Table, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_json

if TYPE_CHECKING:
    from heron.analysis.answered import AnsweredSplit
    from heron.config.schema import Config
    from heron.results.shipped import Shipped

PAGE = "answers"  # the page of all answers, as a value of by=
OTHER_TASKS = ("types", "bins", "words", "morphology", "published", "texts")
WHY = "not for questions, whose words are those of spaces"


def analyze_answers(
    options: AnalyzeOptions, overrides: Sequence[str], config: Config, folder: Path
) -> list[Path]:
    """Slice a run's answers and show each beside its gold answer; the model is not needed.

    Args:
        options: of the command.
        overrides: `data.<key>=` words.
        config: the run's.
        folder: the run's.

    Returns:
        The files written: for each analysis `<split>-<by>.json` and `.png`, and the page.
    """
    from heron.analysis.span_breakdown import BY, span_breakdown
    from heron.base.cells import SYNTHETIC
    from heron.base.terminal import print_tables

    refuse_others(options, OTHER_TASKS, WHY)
    name = options.split or "test"
    split = _read(options, overrides, config, folder, name)
    if not split.rows:
        raise ConfigError(f"split={name}: none of its answers has a gold answer to compare with")
    target = options.out or folder / "analysis"
    title = f"{folder.resolve().name}: {name}, {len(split.rows):,} questions"
    sheet = f"{title}  ·  {SYNTHETIC}" if config.data.synthetic else title
    files = []
    for by in options.by or (*BY, PAGE):
        if by == PAGE:
            files.append(_write_page(target, name, title, split, config.data.synthetic))
            continue
        found = span_breakdown(by, split, options.seed)
        print_tables(found.tables)
        facts = {"split": name, "by": by, **found.facts}
        facts |= {"questions": len(split.rows), "unlabelled": split.unlabelled}
        files += _write_breakdown(target / f"{name}-{by.replace('/', '_')}", found, facts, sheet)
    return files


def _read(
    options: AnalyzeOptions, overrides: Sequence[str], config: Config, folder: Path, name: str
) -> AnsweredSplit:
    from heron.analysis.answered import read_answered
    from heron.base.run_folder import RunFolder
    from heron.config.settings import override
    from heron.results.reading import data_of

    data, inner = data_of(config, name)
    return read_answered(
        RunFolder(folder).predictions(name),
        inner,
        override(data, overrides),
        options.paths_data or Path(config.paths.data),
        options.paths_cache or Path(config.paths.cache),
    )


def _write_page(target: Path, name: str, title: str, split: AnsweredSplit, synthetic: bool) -> Path:
    from heron.analysis.answers_page import answers_page

    file = "answers.html" if name == "test" else f"{name}-answers.html"
    return write(target / file, answers_page(title, split, synthetic))


def _write_breakdown(stem: Path, found: Any, facts: dict[str, Any], title: str) -> list[Path]:
    from heron.analysis.span_figures import scores_figure

    overall = found.tables[-1].rows[-1]
    f1 = overall[found.tables[-1].columns.index("f1")]
    value = f1 if isinstance(f1, float) else f1.value
    image = scores_figure(found, f"{title}, F1 {value:.3f}", value)
    # Names of analyses hold dots where a further data set is meant: no with_suffix here.
    json_path, png_path = (stem.parent / f"{stem.name}.{kind}" for kind in ("json", "png"))
    return [write_tables(json_path, facts, found.tables), write(png_path, image)]


def describe_questions(
    options: AnalyzeOptions, overrides: Sequence[str], shipped: Shipped
) -> list[Path]:
    """Describe every split file that is there: sizes, question words, lengths.

    Returns:
        The files written: `statistics.md` and `.json`, `lengths.csv` and `.png`.
    """
    from heron.analysis.question_statistics import (
        ALL,
        length_counts,
        length_table,
        question_statistics,
        size_table,
        word_tables,
    )
    from heron.analysis.span_figures import lengths_figure
    from heron.base.cells import SYNTHETIC
    from heron.base.tables import write_table
    from heron.base.terminal import print_tables

    config = shipped.config
    described = question_statistics(shipped.splits, config.language)
    tables: list[Table] = [size_table(described), length_table(described), *word_tables(described)]
    print_tables(tables)
    for name, path in shipped.missing.items():
        print(f"missing: {name} ({path})")
    target = options.out or Path("runs") / "analysis" / config.name
    facts = {
        "data": config.name,
        "overrides": list(overrides),
        "sha256": shipped.sha256,
        "missing": sorted(shipped.missing),
        "splits": {name: _counts(one) for name, one in described.items()},
    }
    write_json(target / "statistics.json", facts)
    text = f"# {config.name}\n\n" + "\n".join(map(to_markdown, tables))
    files = [write(target / "statistics.md", text), target / "statistics.json"]
    write_table(target / "lengths.csv", length_counts(described))
    shown = described.get(ALL) or next(iter(described.values()))
    lacking = f" (missing: {', '.join(sorted(shipped.missing))})" if shipped.missing else ""
    title = f"{config.name}: {', '.join(shipped.splits)}{lacking}"
    if config.synthetic:
        title += f"  ·  {SYNTHETIC}"
    return [
        *files,
        target / "lengths.csv",
        write(target / "lengths.png", lengths_figure(shown, title)),
    ]


def _counts(one: Any) -> dict[str, Any]:
    """Turn a split's statistics into JSON's own types; lengths are in `lengths.csv`."""
    plain = dataclasses.asdict(one)
    return {key: value for key, value in plain.items() if not isinstance(value, list)} | {
        "complex": one.complex
    }


def draw_sheet(options: AnalyzeOptions, shipped: Shipped) -> list[Path]:
    """Draw answers for people to judge.

    Returns:
        The sheet.
    """
    from heron.analysis.answer_sheet import write_sheet
    from heron.config.data import VALIDATION

    name = options.split or VALIDATION
    if name not in shipped.splits:
        raise ConfigError(f"split={name}: not there.{nearest(name, shipped.splits)}")
    assert options.sheet is not None
    total = write_sheet(options.sheet, shipped.splits[name], options.sample, options.seed)
    print(
        f"{options.sample} of {total} answered questions of {shipped.config.name}, {name}. Mark "
        "one of minimal, too_long, too_short for each (x), correct=no where it does not answer, "
        "and copy the minimal answer into corrected_answer; then: "
        f"heron analyze sheet={options.sheet}"
    )
    return [options.sheet]


def score_sheet(options: AnalyzeOptions) -> list[Path]:
    """Add up a filled sheet: the quality of the answers and the ceiling that follows from it.

    Returns:
        The file written: the sheet's name with `.json`.
    """
    from heron.analysis.answer_sheet import measure_ceiling, quality_table, read_sheet
    from heron.analysis.ceiling import ceiling_table
    from heron.base.terminal import print_tables

    assert options.sheet is not None
    judged, empty = read_sheet(options.sheet)
    tables = (quality_table(judged, empty), ceiling_table(measure_ceiling(judged, options.seed)))
    print_tables(tables)
    target = options.out or options.sheet.parent
    facts = {"sheet": options.sheet.name, "judged": len(judged), "not_judged": empty}
    return [write_tables(target / f"{options.sheet.stem}.json", facts, tables)]
