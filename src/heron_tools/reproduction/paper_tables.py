"""A paper's tables with a sweep's scores beside the printed ones.

The printed numbers are in `experiments/<paper>/published.yaml`. A run's configuration key `report`
names a view, such as `trc/table4`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from heron.base.cells import Cell, Formatted, Row, Summary, Table, show
from heron.base.errors import ConfigError, nearest
from heron.base.files import read_yaml
from heron.metrics.names import COPIED_NOTE, is_minimised, signed
from heron.results.best import best_of, tie_note
from heron.results.collect import RunRecord, headline_metrics
from heron.results.systems import (
    System,
    copied_scores,
    group_runs,
    settings_line,
    split_systems,
)
from heron_tools.reproduction.deviations import DAGGER, deviations
from heron_tools.reproduction.published import (
    DECIMALS,
    Names,
    PublishedPart,
    find_published,
    flat_rows,
    printed_digits,
    published_value,
)

_NEVER_NAMED = ("report", "experiment")  # in row names
_STAGES = "fine_tuned_on"


class RowName(NamedTuple):
    """A column whose values name the rows of a paper's tables."""

    column: str  # its heading
    # The configuration key with the value, or `fine_tuned_on` for the stages; of several keys,
    # separated by commas, the first that a run has.
    setting: str
    names: Mapping[str, str]  # the paper's name of a value, or of the last part of a path or id

    def of(self, group: System) -> str:
        """Name a group's value: the paper's name, or else the last part of an id or path."""
        run = group.runs[0]
        *first_keys, last_key = self.setting.split(",")
        value = fine_tuned_on(run) if last_key == _STAGES else run.setting(last_key, "–")
        for key in first_keys:
            if run.setting(key) is not None:
                value = run.setting(key)
                break

        last_part = Path(str(value)).name
        return self.names.get(str(value), self.names.get(last_part, last_part))

    @property
    def keys(self) -> set[str]:
        """The override keys that this column shows, such as `encoder` and `encoder.name`."""
        if self.setting == _STAGES:
            return {"stages", "data", "data.name", "encoder.freeze"}
        keys: set[str] = set()
        for key in self.setting.split(","):
            groups = key.split(".")[:-1]  # `model` is a group within `prompting`
            keys.update([key, *groups])
        return keys


def fine_tuned_on(run: RunRecord) -> str:
    """Name the data sets that the run's encoder was trained on, in order, joined by `+`.

    Returns `none` if every stage froze the encoder (a probe).
    """
    frozen = run.setting("encoder.freeze")
    names = []
    for stage in _stages(run):
        frozen_in_stage = stage.get("freeze") or frozen
        if frozen_in_stage != "all":
            names.append(stage["data"])
    return "+".join(names) or "none"


def _stages(run: RunRecord) -> list[Mapping[str, Any]]:
    """List the run's stages as mappings; a run without stages has one, on its own data."""
    stages = []
    for stage in run.setting("stages") or [run.setting("data.name")]:
        if not isinstance(stage, Mapping):
            stage = {"data": str(stage)}
        stages.append(stage)
    return stages


class PaperView(NamedTuple):
    """Tables of the paper's and heron's scores, by file name; curves, if the view is a figure."""

    tables: Mapping[str, Table]
    # By metric and settings: the scores at each share of the training data, ascending.
    curves: Mapping[str, Mapping[float, Summary]] = MappingProxyType({})
    title: str = ""


def report_view(
    report: str, runs: Sequence[RunRecord], path: Path | None
) -> tuple[Mapping[str, Table], bytes | None] | None:
    """Build the tables and the figure (PNG) of a view for a sweep's report; None without a view.

    Args:
        report: as in `paper_view`.
        runs: of the sweep.
        path: file of published numbers; default: the paper's.
    """
    path = path or find_published(report)
    if path is None:
        return None
    view = paper_view(report, runs, path)
    return view.tables, fraction_figure(view) if view.curves else None


def paper_view(report: str, runs: Sequence[RunRecord], path: Path) -> PaperView:
    """Build the view that `report` names from the finished runs.

    Runs on other data than the paper's (such as generated text) are left out, with a note; tables
    of chosen cells include them.

    Args:
        report: `<paper>/<view>`.
        runs: finished or not.
        path: of the paper's `published.yaml`.

    Raises:
        ConfigError: the file of published numbers is not readable, or has no such view.
    """
    published = read_yaml(path)
    views = published.get("views", {}) if isinstance(published, dict) else {}
    view = report.partition("/")[2]
    if view not in views:
        raise ConfigError(
            f"report={report}: {path.name} has no view '{view}'.{nearest(view, views)}"
        )
    row_names = row_names_of(published)
    figure = published.get("figures", {}).get(view)
    tables = {}
    if figure is None:
        tables = {name: ScoreTable(published, published["tables"][name]) for name in views[view]}
    data = set(published["data"])
    for table in tables.values():
        data.update(table.data)

    # If experiments name rows, runs without one (curricula's first runs) get none.
    by_experiment = any(row_name.setting == "experiment" for row_name in row_names)
    named = [run for run in runs if run.setting("experiment") or not by_experiment]
    compared = [run for run in named if run.setting("data.name") in data and not run.synthetic]
    groups = group_runs(compared)
    note = ""
    if left_out := len(named) - len(compared):
        plural = "s" if left_out > 1 else ""
        note = f"{left_out} run{plural} on other data left out."

    if figure is not None:
        return _figure_view(view, figure, groups, row_names, note, published["data"])
    shown = {name: _score_table(table, groups, note) for name, table in tables.items()}
    for name, table in tables.items():
        # Runs on other data are included: the paper's rule applies to them, too.
        if table.rule and (chosen := chosen_table(named, table.rule)):
            shown[f"{name} chosen"] = chosen
    return PaperView(shown)


def row_names_of(part: PublishedPart) -> list[RowName]:
    """Read the columns that name rows, of a paper or of a table with its own."""
    return [
        RowName(entry["column"], entry["setting"], entry.get("names", {}))
        for entry in part.get("row_names", ())
    ]


class ScoreTable:
    """A table of a paper: the names and scores of its rows, and which runs belong to them.

    A table with `classes` has a row for each class, whose name ends the row's key.
    """

    def __init__(self, published: PublishedPart, table: PublishedPart) -> None:
        """Read one table.

        Args:
            published: the paper's `published.yaml`.
            table: one of its tables with scores.
        """
        self.content = table
        self.row_names = row_names_of(table) or row_names_of(published)
        self.classes: Sequence[str] = table.get("classes", ())
        self.data: Sequence[str] = table.get("data") or published["data"]
        self.rule = SelectionRule.read(table)
        self.printed: dict[Names, Sequence[Any]] = dict(flat_rows(table["rows"]))

    @property
    def headings(self) -> list[str]:
        """Headings of the columns that name a row."""
        columns = [row_name.column for row_name in self.row_names]
        return [*columns, "class"] if self.classes else columns

    def chosen(self, groups: Sequence[System]) -> Sequence[System]:
        """Choose a grid's cells by the paper's rule; all groups without a rule."""
        if self.rule is None:
            return groups
        return [choice.group for choice in choose(groups, self.rule) if choice.group]

    def keys_of(self, group: System) -> list[Names]:
        """Name a group's rows, one for each class; the paper may lack them."""
        key = tuple(row_name.of(group) for row_name in self.row_names)
        if not self.classes:
            return [key]
        return [(*key, name) for name in self.classes]

    def deviations(self, group: System) -> str:
        """Describe how a group's runs deviate from the paper; empty if they are comparable."""
        shown: set[str] = set()
        for row_name in self.row_names:
            shown.update(row_name.keys)
        return "; ".join(deviations(group.runs[0], self.data, shown))

    def cells(self, key: Names) -> Iterator[tuple[str, str, Any]]:
        """Yield a row's columns, metrics and printed numbers; None: not printed."""
        scores = self.content["scores"]
        printed = self.printed.get(key, [None] * len(scores))
        for (column, metric), cell in zip(scores.items(), printed, strict=True):
            if self.classes:
                metric = f"{metric}/{key[-1]}"
            yield column, metric, cell

    def split_of(self, group: System) -> str:
        """Name the split: the run's own, or `<data set>.<split>` of the first of `test_sets`.

        The others are versions of it, which runs on them are tested on.
        """
        split = str(self.content.get("split", "test"))
        test_sets = self.content.get("test_sets", [])
        last_data = _stages(group.runs[0])[-1]["data"]
        if not test_sets or last_data in test_sets:
            return split
        return f"{test_sets[0]}.{split}"


def _score_table(table: ScoreTable, groups: Sequence[System], note: str) -> Table:
    """Lay out published scores beside heron's; settings that the table lacks get extra rows.

    Args:
        table: of the paper.
        groups: of runs; of a grid, the paper's rule chooses among them.
        note: the end of the caption.
    """
    groups = table.chosen(groups)
    groups_of_row: dict[Names, list[System]] = {key: [] for key in table.printed}
    marks: dict[str, None] = {}
    for group in groups:
        marks[table.deviations(group)] = None
        for key in table.keys_of(group):
            groups_of_row.setdefault(key, []).append(group)

    rows = []
    baselines: dict[str, None] = {}  # extractive ones with their scores, each once
    for key, row_groups in groups_of_row.items():
        if not row_groups:
            rows.append(_score_row(table, key, None))
        for group in row_groups:
            rows.append(_score_row(table, key, group))
            split = table.split_of(group)
            for _, metric, _ in table.cells(key):
                scores = copied_scores(group.runs, split, metric)
                for name, score in scores.items():
                    baselines[f"{name} {score:.3f}"] = None

    columns = [*table.headings]
    for title in table.content["scores"]:
        columns += [f"{title}, paper", "heron"]
        if table.content.get("best_run"):
            columns.append("best run")
        columns.append("Δ")

    notes = []
    if baselines:
        listed = ", ".join(baselines)
        notes.append(f"Extractive baselines on the same articles: {listed}. {COPIED_NOTE}")
    notes += [f"{DAGGER} {mark}." for mark in marks if mark]
    if table.rule:
        notes.append(f"Cells of the grid are chosen by {table.rule.metric} on validation.")
    notes.append(note)
    caption = _caption(table, notes)
    return Table(table.content["title"], columns, rows, caption)


def _score_row(table: ScoreTable, key: Names, group: System | None) -> tuple[Cell, ...]:
    """Show a row of the paper beside a group's scores; either may be missing.

    Args:
        table: of the paper.
        key: the row's names; the paper may lack the row.
        group: the runs of the row, or None.
    """
    best_metric = table.content.get("best_run")
    decimals = table.content.get("decimals", DECIMALS)
    split = ""
    other_settings = ""
    deviates = False
    best_run = None
    if group:
        split = table.split_of(group)
        other_settings = _other_settings(group, table.row_names)
        deviates = bool(table.deviations(group))
        if best_metric and group.values("validation", best_metric):
            best_run = group.best_run(best_metric)

    cells: list[Cell] = []
    for title, metric, printed in table.cells(key):
        ours = group.summary(split, metric) if group else None
        published = published_value(printed)
        if published is None:
            cells.append(None)
        else:
            digits = printed_digits(decimals, title, published)
            cells.append(Formatted(published, f".{digits}f"))
        cells.append(ours)
        if best_metric:
            cells.append(best_run.score(split, metric) if best_run else None)

        change: Cell = None
        if ours and published is not None:
            change = Formatted(ours.mean - published, "+.3f")
            if deviates:
                change = f"{show(change)} {DAGGER}"
        cells.append(change)

    name = f"{key[0]} {other_settings}".strip()
    return (name, *key[1:], *cells)


def _caption(table: ScoreTable, notes: Sequence[str]) -> str:
    """Explain the columns, and list published numbers that are corrected or in doubt.

    Args:
        table: of the paper.
        notes: the end of the caption; empty ones are left out.
    """
    corrected = []
    doubtful = []
    for key in table.printed:
        for title, _, cell in table.cells(key):
            if not isinstance(cell, Mapping):
                continue
            name = " ".join([*key, title])
            if "corrected" in cell:
                corrected.append(f"{name} {cell['corrected']} (printed {cell['printed']})")
            else:
                doubtful.append(name)

    parts = ["heron: mean ± sample sd (number of runs); Δ: heron - paper."]
    if best_metric := table.content.get("best_run"):
        parts.append(f"best run: the score of the run with the best {best_metric} on validation.")
    if corrected:
        parts.append(f"Corrected: {'; '.join(corrected)}.")
    if doubtful:
        parts.append(f"In conflict with the paper's other numbers: {'; '.join(doubtful)}.")
    parts += [table.content.get("note", ""), *notes]
    return " ".join(filter(None, parts))


def _other_settings(group: System, row_names: Sequence[RowName], but: str = "") -> str:
    """List a group's settings that neither its row's name nor the key `but` shows."""
    settings = dict(group.settings)
    shown = {*_NEVER_NAMED, but}.union(*(row_name.keys for row_name in row_names))
    for key in shown:
        settings.pop(key, None)
    return settings_line(settings)


def _figure_view(
    name: str,
    view: PublishedPart,
    groups: Sequence[System],
    row_names: Sequence[RowName],
    note: str,
    data: Sequence[str],
) -> PaperView:
    """Build a figure's table and curves: each metric by share of the training data.

    Each combination of the other settings has a curve of its own.

    Args:
        name: of the figure.
        view: its part of `published.yaml`.
        groups: of runs on the paper's data.
        row_names: columns whose values name the curves.
        note: the end of the table's note.
        data: the paper's data sets.
    """
    share_key = view["share"]
    differing = []  # columns that tell curves apart
    for row_name in row_names:
        names = {row_name.of(group) for group in groups}
        if len(names) > 1 and share_key not in row_name.keys:
            differing.append(row_name)

    curves: dict[str, dict[float, Summary]] = {}
    all_deviations: dict[str, None] = {}
    for group in groups:
        run = group.runs[0]
        if group.done:
            all_deviations.update(dict.fromkeys(deviations(run, data, ())))
        share = float(run.setting(share_key, 1.0))
        parts = [f"{row_name.column}={row_name.of(group)}" for row_name in differing]
        parts.append(_other_settings(group, row_names, but=share_key))
        settings = ", ".join(filter(None, parts))
        for metric in view["metrics"]:
            summary = group.summary("test", metric)
            if summary:
                label = f"{metric} {settings}".strip()
                curves.setdefault(label, {})[share] = summary
    for label, points in curves.items():
        curves[label] = dict(sorted(points.items()))

    published_sd = {float(share): sd for share, sd in view["published_sd"].items()}
    shares = set(published_sd).union(*curves.values())
    marks = "; ".join(all_deviations)
    rows: list[Row] = []
    for share in sorted(shares):
        row: list[Cell] = [f"{share:.0%}", None]
        if share in published_sd:
            row[1] = Formatted(published_sd[share], ".2f")
        for points in curves.values():
            cell: Cell = points.get(share)
            if cell and marks:
                cell = f"{show(cell)} {DAGGER}"
            row.append(cell)
        rows.append(tuple(row))

    note = f"{view['note']} {note}".strip()
    title = view["title"]
    if marks:
        note += f" {DAGGER} {marks}."
        title += f" ({DAGGER} {marks})"
    columns = ("share of train", "paper's sd", *curves)
    table = Table(view["title"], columns, rows, note)
    return PaperView({name: table}, curves, title)


class SelectionRule(NamedTuple):
    """How a paper chose the best cell of its grid: on validation, never on test."""

    metric: str  # the validation score whose mean over seeds decides
    among: tuple[str, ...]  # keys of the grid; only runs that agree in all others are compared

    @classmethod
    def read(cls, table: PublishedPart) -> SelectionRule | None:
        """Read `choose: {by: f1, among: [optim.lr]}` of a paper's table; None without it."""
        entry = table.get("choose")
        if entry is None:
            return None
        return cls(str(entry["by"]), tuple(entry["among"]))


class Choice(NamedTuple):
    """The chosen cell of a grid, if there is one."""

    group: System | None  # its runs; None if there are several cells and none has a score
    rest: Mapping[str, str]  # settings outside the grid, which all cells of the choice share
    cells: int  # number of cells to choose from
    scored: int  # number of these with a validation score
    tied: Sequence[System] = ()  # other cells with the score of the chosen one


def choose(groups: Sequence[System], rule: SelectionRule) -> list[Choice]:
    """Choose one cell for each combination of settings outside the grid; of a tie, the simplest.

    Cells without a score on validation are never chosen, unless there is only one cell.

    Args:
        groups: the cells of the grid, each with the runs of all its seeds.
        rule: how the paper chose.
    """
    choices = []
    for rest, cells in split_systems(groups, lambda key: key not in rule.among):
        ranks = []
        for cell in cells:
            summary = cell.summary("validation", rule.metric)
            ranks.append(None if summary is None else signed(rule.metric, summary.mean))

        best = cells
        if len(cells) > 1:
            order = best_of(ranks, [cell.complexity for cell in cells])
            best = [cells[index] for index in order]
        chosen = best[0] if best else None
        scored = len(cells) - ranks.count(None)
        choices.append(Choice(chosen, rest, len(cells), scored, best[1:]))
    return choices


def chosen_table(runs: Sequence[RunRecord], rule: SelectionRule) -> Table | None:
    """Show the chosen cells: settings, score on validation, scores on test.

    A choice without scores yet has a row, too.

    Args:
        runs: of the grid, finished or not.
        rule: how the paper chose.

    Returns:
        The table; None if there is nothing to choose from.
    """
    groups = group_runs(runs)
    choices = choose(groups, rule)
    if not any(choice.cells > 1 for choice in choices):
        return None

    keys = tuple(groups[0].settings)
    metrics = headline_metrics(runs)
    grid = ", ".join(key for key in rule.among if key in keys)
    end = "lowest" if is_minimised(rule.metric) else "highest"
    notes = [
        f"Of the cells over {grid}, the one with the {end} {rule.metric} on validation (mean over "
        "the cell's seeds); test scores were not used."
    ]
    rows: list[Row] = []
    for choice in choices:
        group = choice.group or System(choice.rest, ())
        row: list[Cell] = [group.settings.get(key) for key in keys]
        row.append(f"{choice.scored} of {choice.cells} finished")
        row.append(group.summary("validation", rule.metric))
        for metric in metrics:
            row.append(group.summary("test", metric))
        rows.append(tuple(row))
        if choice.tied:
            others = [cell.label for cell in choice.tied]
            notes.append(tie_note(group.label, others))

    columns = [*keys, "cells", f"validation {rule.metric}"]
    columns += [f"test {metric}" for metric in metrics]
    return Table("Chosen on validation", columns, rows, " ".join(notes))


def fraction_figure(view: PaperView) -> bytes:
    """Draw scores by share of the training data, mean ± sd.

    Returns:
        The bytes of a PNG.
    """
    import matplotlib  # start-up time
    from matplotlib.figure import Figure

    from heron.reports.figures import png
    from heron.reports.styles import FAINT, PALETTE, STYLE

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4), layout="constrained")
        axes = figure.subplots()
        for index, (label, points) in enumerate(view.curves.items()):
            shares = [100 * share for share in points]
            means = [summary.mean for summary in points.values()]
            spread = [summary.sd or 0 for summary in points.values()]
            style: Any = {"color": PALETTE[index % len(PALETTE)], "capsize": 3, "ms": 4}
            axes.errorbar(shares, means, spread, fmt="o-", label=label, **style)
        axes.set(title=view.title, xlabel="share of the training data (%)", ylabel="test score")
        axes.set_xlim(0, 104)
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(loc="lower right")
        return png(figure)
