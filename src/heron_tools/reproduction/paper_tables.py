"""A paper's tables with a sweep's scores beside the printed ones.

The printed numbers are in `experiments/<paper>/published.yaml`. A run's configuration key `report`
names a view, such as `trc/table4`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from heron.base.cells import Cell, Formatted, Summary, Table, show
from heron.base.errors import ConfigError, nearest
from heron.base.files import read_yaml
from heron.metrics.names import COPIED_NOTE, is_minimised, signed
from heron.results.best import best_of, tie_note
from heron.results.collect import RunRecord, headline_metrics
from heron.results.systems import System, copied_scores, group_runs, split_systems
from heron_tools.reproduction.deviations import DAGGER, deviations
from heron_tools.reproduction.published import (
    DECIMALS,
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
        *before, last_key = self.setting.split(",")
        known = (value for key in before if (value := run.setting(key)) is not None)
        value = fine_tuned_on(run) if last_key == _STAGES else run.setting(last_key, "–")
        value = next(known, value)
        last = str(value).rstrip("/").rpartition("/")[2]
        return self.names.get(str(value)) or self.names.get(last) or last

    @property
    def keys(self) -> set[str]:
        """The override keys that this column shows, such as `encoder` and `encoder.name`."""
        if self.setting == _STAGES:
            return {"stages", "data", "data.name", "encoder.freeze"}
        keys = self.setting.split(",")
        # `model` and `prompt` are groups within `prompting`.
        return {*keys, *(k.partition(".")[0] for k in keys), *(k.split(".")[-2:][0] for k in keys)}


def fine_tuned_on(run: RunRecord) -> str:
    """Name the data sets that the run's encoder was trained on, in order, joined by `+`.

    Returns `none` if every stage froze the encoder (a probe).
    """
    frozen = run.setting("encoder.freeze")
    names = [stage["data"] for stage in _stages(run) if (stage.get("freeze") or frozen) != "all"]
    return "+".join(names) or "none"


def _stages(run: RunRecord) -> list[Mapping[str, Any]]:
    """List the run's stages as mappings; a run without stages has one, on its own data."""
    stages = run.setting("stages") or [str(run.setting("data.name"))]
    return [stage if isinstance(stage, Mapping) else {"data": str(stage)} for stage in stages]


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
    found = path or find_published(report)
    if found is None:
        return None
    view = paper_view(report, runs, found)
    return view.tables, fraction_figure(view) if view.curves else None


def paper_view(report: str, runs: Sequence[RunRecord], path: Path) -> PaperView:
    """Build the view that `report` (`<paper>/<view>`) names from the finished runs.

    Runs on other data than the paper's (such as generated text) are left out, with a note; tables
    of chosen cells include them.

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
    figures = published.get("figures", {})
    is_figure = view in figures
    names = [] if is_figure else views[view]
    tables = {name: ScoreTable(published, published["tables"][name]) for name in names}
    data = {name for table in tables.values() for name in table.data} | {*published["data"]}
    # If experiments name rows, runs without one (curricula's first runs) get none.
    by_experiment = any(place.setting == "experiment" for place in row_names)
    named = [run for run in runs if run.setting("experiment") or not by_experiment]
    ours = [run for run in named if run.setting("data.name") in data and not run.synthetic]
    left_out = len(named) - len(ours)
    note = f"{left_out} run{'s' * (left_out > 1)} on other data left out." if left_out else ""
    groups = group_runs(ours)
    if is_figure:
        return _figure_view(view, figures[view], groups, row_names, note, published["data"])
    shown = {name: _score_table(table, groups, note) for name, table in tables.items()}
    for name, table in tables.items():
        # Runs on other data are included: the paper's rule applies to them, too.
        if table.rule and (chosen := chosen_table(named, table.rule)):
            shown[f"{name} chosen"] = chosen
    return PaperView(shown)


def row_names_of(part: Mapping[str, Any]) -> list[RowName]:
    """Read the columns that name rows, of a paper or of a table with its own."""
    return [
        RowName(p["column"], p["setting"], p.get("names", {})) for p in part.get("row_names", ())
    ]


class ScoreTable:
    """A table of a paper: the names and scores of its rows, and which runs belong to them.

    A table with `classes` has a row for each class, whose name ends the row's key.
    """

    def __init__(self, published: Mapping[str, Any], table: Mapping[str, Any]) -> None:
        """Read one of the tables of a paper's published numbers."""
        self.content = table
        self.row_names = row_names_of(table) or row_names_of(published)
        self.classes: Sequence[str] = table.get("classes", ())
        self.data: Sequence[str] = table.get("data") or published["data"]
        self.rule = Rule.read(table)
        self.printed: dict[tuple[str, ...], Sequence[Any]] = dict(flat_rows(table["rows"]))

    @property
    def headings(self) -> list[str]:
        """Headings of the columns that name a row."""
        return [place.column for place in self.row_names] + ["class"] * bool(self.classes)

    def chosen(self, groups: Sequence[System]) -> Sequence[System]:
        """Choose a grid's cells by the paper's rule; all groups without a rule."""
        if self.rule is None:
            return groups
        return [choice.group for choice in choose(groups, self.rule) if choice.group]

    def keys_of(self, group: System) -> list[tuple[str, ...]]:
        """Name a group's rows; the paper may lack them."""
        own = tuple(place.of(group) for place in self.row_names)
        return [(*own, name) for name in self.classes] or [own]

    def deviations(self, group: System) -> str:
        """Describe how a group's runs deviate from the paper; empty if they are comparable."""
        shown = {key for place in self.row_names for key in place.keys}
        return "; ".join(deviations(group.runs[0], self.data, shown))

    def cells(self, key: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
        """Yield a row's columns, metrics and printed numbers; None: not printed."""
        scores = self.content["scores"]
        printed = self.printed.get(key, [None] * len(scores))
        for (column, metric), cell in zip(scores.items(), printed, strict=True):
            yield column, f"{metric}/{key[-1]}" if self.classes else metric, cell

    def split_of(self, group: System) -> str:
        """Name the split: the run's own, or `<data set>.<split>` of the first of `test_sets`.

        The others are versions of it, which runs on them are tested on.
        """
        name, test_sets = self.content.get("split", "test"), self.content.get("test_sets", [])
        last = _stages(group.runs[0])[-1]["data"]
        return name if not test_sets or last in test_sets else f"{test_sets[0]}.{name}"


def _score_table(table: ScoreTable, groups: Sequence[System], note: str) -> Table:
    """Lay out published scores beside heron's; settings that the table lacks get extra rows."""
    if table.rule:
        note = f"Cells of the grid are chosen by {table.rule.metric} on validation. {note}".strip()
    groups = table.chosen(groups)
    found: dict[tuple[str, ...], list[System]] = {key: [] for key in table.printed}
    for group in groups:
        for key in table.keys_of(group):
            found.setdefault(key, []).append(group)
    rows = []
    for key, own in found.items():
        beside: list[System | None] = [*own] or [None]
        rows += [_score_row(table, key, group) for group in beside]
    copied = {
        f"{name} {value:.3f}": None
        for key, own in found.items()
        for group in own
        for _, metric, _ in table.cells(key)
        for name, value in copied_scores(group.runs, table.split_of(group), metric).items()
    }
    ours = ("heron", "best run") if table.content.get("best_run") else ("heron",)
    columns = [
        column for title in table.content["scores"] for column in (f"{title}, paper", *ours, "Δ")
    ]
    reached = f"Extractive baselines on the same articles: {', '.join(copied)}. {COPIED_NOTE}"
    marks = dict.fromkeys(filter(None, map(table.deviations, groups)))
    marked = [f"{DAGGER} {mark}." for mark in marks]
    caption = _caption(table, " ".join([*[reached] * bool(copied), *marked, note]).strip())
    return Table(table.content["title"], (*table.headings, *columns), tuple(rows), caption)


def _score_row(table: ScoreTable, key: tuple[str, ...], group: System | None) -> tuple[Cell, ...]:
    """Show a row of the paper beside a group's scores; either may be missing."""
    best, decimals = table.content.get("best_run"), table.content.get("decimals", DECIMALS)
    split = table.split_of(group) if group else ""
    chosen = group.best_run(best) if group and best and group.values("validation", best) else None
    deviates = bool(group and table.deviations(group))
    cells: list[Cell] = []
    for title, metric, cell in table.cells(key):
        mean = group.summary(split, metric) if group else None
        value = published_value(cell)
        paper: Cell = None
        change: Cell = None
        if value is not None:
            paper = Formatted(value, f".{printed_digits(decimals, title, value)}f")
            change = Formatted(mean.mean - value, "+.3f") if mean else None
            if change and deviates:
                change = f"{show(change)} {DAGGER}"
        single = [chosen.scores.get(split, {}).get(metric) if chosen else None] if best else []
        cells += [paper, mean, *single, change]
    others = _other_settings(group, table.row_names) if group else ""
    return (" ".join(filter(None, (key[0], others))), *key[1:], *cells)


def _caption(table: ScoreTable, note: str) -> str:
    """Explain the columns, and list published numbers that are corrected or in doubt."""
    parts = ["heron: mean ± sample sd (number of runs); Δ: heron - paper."]
    if best := table.content.get("best_run"):
        parts.append(f"best run: the score of the run with the best {best} on validation.")
    marked = [
        (f"{' '.join(key)} {title}", cell)
        for key in table.printed
        for title, _, cell in table.cells(key)
        if isinstance(cell, Mapping)
    ]
    changed = [(name, score) for name, score in marked if "corrected" in score]
    doubtful = [name for name, score in marked if "corrected" not in score]
    if changed:
        listed = (f"{name} {s['corrected']} (printed {s['printed']})" for name, s in changed)
        parts.append(f"Corrected: {'; '.join(listed)}.")
    if doubtful:
        parts.append(f"In conflict with the paper's other numbers: {'; '.join(doubtful)}.")
    return " ".join([*parts, *filter(None, (table.content.get("note"), note))])


def _other_settings(group: System, row_names: Sequence[RowName], but: Sequence[str] = ()) -> str:
    placed = {*_NEVER_NAMED, *but}.union(*(place.keys for place in row_names))
    others = {key: value for key, value in group.settings.items() if key not in placed}
    return ", ".join(f"{key}={value}" for key, value in others.items())


def _figure_view(
    name: str,
    view: Mapping[str, Any],
    groups: Sequence[System],
    row_names: Sequence[RowName],
    note: str,
    data: Sequence[str],
) -> PaperView:
    """Build a figure's table and curves: each metric by share of the training data.

    Each combination of the other settings has a curve of its own. `data` are the paper's sets.
    """
    runs = [group.runs[0] for group in groups if group.done]
    marks = "; ".join(dict.fromkeys(mark for run in runs for mark in deviations(run, data, ())))
    mark = f" {DAGGER}" if marks else ""
    share = view["share"]
    others = [place for place in row_names if share not in place.keys]
    differing = [place for place in others if len({place.of(group) for group in groups}) > 1]
    curves: dict[str, dict[float, Summary]] = {}
    for group in groups:
        fraction = float(group.runs[0].setting(share, 1.0))
        for metric in view["metrics"]:
            if summary := group.summary("test", metric):
                named = [f"{place.column}={place.of(group)}" for place in differing]
                named += filter(None, [_other_settings(group, row_names, but=(share,))])
                label = f"{metric} {', '.join(named)}".strip()
                curves.setdefault(label, {})[fraction] = summary
    curves = {label: dict(sorted(points.items())) for label, points in curves.items()}
    note = f"{view['note']} {note}".strip() + (f" {DAGGER} {marks}." if marks else "")
    published_sd = {float(key): value for key, value in view["published_sd"].items()}
    rows: list[tuple[Cell, ...]] = []
    for at in sorted({*published_sd, *(at for points in curves.values() for at in points)}):
        sd = Formatted(published_sd[at], ".2f") if at in published_sd else None
        found = [points.get(at) for points in curves.values()]
        shown = [f"{show(each)}{mark}" if each and mark else each for each in found]
        rows.append((f"{at:.0%}", sd, *shown))
    columns = ("share of train", "paper's sd", *curves)
    table = Table(view["title"], columns, tuple(rows), note)
    title = f"{view['title']} ({DAGGER} {marks})" if marks else view["title"]
    return PaperView({name: table}, curves, title)


class Rule(NamedTuple):
    """How a paper chose the best cell of its grid: on validation, never on test."""

    metric: str  # the validation score whose mean over seeds decides
    among: tuple[str, ...]  # keys of the grid; only runs that agree in all others are compared

    @classmethod
    def read(cls, published: Mapping[str, Any]) -> Rule | None:
        """Read `choose: {by: f1, among: [optim.lr]}` of a paper's table; None without it."""
        found = published.get("choose")
        return cls(str(found["by"]), tuple(found["among"])) if found else None


class Choice(NamedTuple):
    """The chosen cell of a grid, if there is one."""

    group: System | None  # its runs; None if there are several cells and none has a score
    rest: Mapping[str, str]  # settings outside the grid, which all cells of the choice share
    cells: int  # number of cells to choose from
    scored: int  # number of these with a validation score
    tied: Sequence[System] = ()  # other cells with the score of the chosen one


def choose(groups: Sequence[System], rule: Rule) -> list[Choice]:
    """Choose one cell for each combination of settings outside the grid; of a tie, the simplest.

    Cells without a score on validation are never chosen, unless there is only one cell.
    """
    choices = []
    for rest, cells in split_systems(groups, lambda key: key not in rule.among):
        summaries = [cell.summary("validation", rule.metric) for cell in cells]
        means = [None if each is None else signed(rule.metric, each.mean) for each in summaries]
        best = [cells[place] for place in best_of(means, [cell.complexity for cell in cells])]
        best = cells if len(cells) == 1 else best
        scored = len(cells) - means.count(None)
        choices.append(Choice(best[0] if best else None, rest, len(cells), scored, best[1:]))
    return choices


def chosen_table(runs: Sequence[RunRecord], rule: Rule) -> Table | None:
    """Show the chosen cells: settings, score on validation, scores on test.

    A choice without scores yet has a row, too. None if there is nothing to choose from.
    """
    groups = group_runs(runs)
    choices = choose(groups, rule)
    if not any(choice.cells > 1 for choice in choices):
        return None
    keys = tuple(groups[0].settings)
    metrics = headline_metrics(runs)
    rows: list[tuple[Cell, ...]] = []
    for choice in choices:
        group = choice.group or System(choice.rest, ())
        settings = (group.settings.get(key) for key in keys)
        cells = f"{choice.scored} of {choice.cells} finished"
        tested = (group.summary("test", metric) for metric in metrics)
        rows.append((*settings, cells, group.summary("validation", rule.metric), *tested))
    columns = (*keys, "cells", f"validation {rule.metric}", *(f"test {m}" for m in metrics))
    end = "lowest" if is_minimised(rule.metric) else "highest"
    grid = ", ".join(key for key in rule.among if key in keys)
    notes = [
        f"Of the cells over {grid}, the one with the {end} {rule.metric} on validation (mean over "
        "the cell's seeds); test scores were not used."
    ]
    for choice in choices:
        if choice.group and choice.tied:
            notes.append(tie_note(choice.group.label, [cell.label for cell in choice.tied]))
    return Table("Chosen on validation", columns, tuple(rows), " ".join(notes))


def fraction_figure(view: PaperView) -> bytes:
    """Draw scores by share of the training data, mean ± sd. Returns PNG bytes."""
    import matplotlib  # start-up time
    from matplotlib.figure import Figure

    from heron.reports.figures import FAINT, PALETTE, STYLE, png

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
