"""`heron map`: draw what training dynamics say about each example, as figures and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heron.base.cells import SYNTHETIC, Cell, Table
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file
from heron.base.tables import table_stem, write_table
from heron.base.terminal import print_tables
from heron.config.options import DataFolders, parse_options
from heron.dynamics.cartography import NEVER_LEARNT, difficulty, forgetting
from heron.dynamics.groups import allenai, class_counts, tercile_partition
from heron.dynamics.jsonl import export_jsonl
from heron.reports.map import FORMATS, map_figure, save_figure
from heron.reports.map_data import (
    SCORE,
    Column,
    MapData,
    Mapped,
    Numbers,
    Texts,
    categories,
    compare_examples,
    find_texts,
    group_names,
    labels_of,
    map_run,
    read_columns,
    read_mapped,
    shown_statistics,
)
from heron.reports.map_page import map_page
from heron.results.collect import collect, is_run
from heron.results.published import published_groups

EXPORTS = (*FORMATS, "jsonl")
GROUPINGS = ("allenai", "tercile_partition")

Groups = dict[str, NDArray[np.bool_]]


@dataclass
class MapOptions(DataFolders):
    """Options of `heron map`."""

    run: Path  # a run folder with dynamics, or a folder of other cartography tools' dynamics
    # A second run on the same data, to compare.
    other: Path | None = field(default=None, metadata={"option": "with"})
    out: Path | None = None  # default `<run>/map`, or `<run>/map-with-<other>`
    # What colours the figure's points: `correctness`, `label`, `group`, or any statistic or column.
    colour: str = "correctness"
    columns: Path | None = None  # a table with `guid` and further columns to colour by
    burn_out: int | None = None  # use this many records, the first ones
    include_ci: bool = False  # widen variability by its confidence interval
    # The figure's formats; `jsonl` adds the records in the layout of other cartography tools.
    format: list[str] | None = None
    # `allenai` (the most of each kind; overlapping) or `tercile_partition` (thirds of difficulty)
    group: str = "allenai"
    texts: bool = True  # whether the page holds them; not for data that must not be passed on
    megabytes: float = 24  # largest size of the page; texts are cut to fit


def run(arguments: Sequence[str]) -> int:
    """Map a run's dynamics; prints a summary and the files written; returns the exit code.

    Raises:
        ConfigError: an option that is refused, an unknown column to colour by.
        DataError: a run without dynamics, two runs without a common example, a bad table.
    """
    options = parse_options(MapOptions, arguments)
    for form in options.format or ():
        if form not in EXPORTS:
            raise ConfigError(f"format={form}: unknown.{nearest(form, EXPORTS)}")
    if options.group not in GROUPINGS:
        raise ConfigError(f"group={options.group}: unknown.{nearest(options.group, GROUPINGS)}")
    if options.megabytes <= 0:
        raise ConfigError(f"megabytes={options.megabytes:g}: must be above 0")
    print(*_write_map(options), sep="\n")
    return 0


def _write_map(options: MapOptions) -> list[Path]:
    """Draw the map, print a summary, and write the figures, the page and the tables."""
    mapped, other = read_mapped(options.run, options.burn_out, options.include_ci), None
    if options.other is not None:
        other = read_mapped(options.other, options.burn_out, options.include_ci)
        if other.name == mapped.name:  # told apart by their sweeps
            other = replace(other, name=f"{other.folder.resolve().parent.name}/{other.name}")
    if options.group == "allenai":
        groups = allenai(mapped.statistics)
    else:
        score_N = difficulty(SCORE, mapped.statistics)
        groups = tercile_partition(score_N, mapped.statistics.guids)
    data = _build(mapped, other, groups, options)
    colour = _find_colour(data, options.colour)
    _print_summary(mapped, groups, options.group, data)
    place = "map" if other is None else f"map-with-{other.name.replace('/', '-')}"
    target = options.out or mapped.folder / place
    files = []
    name = f"{mapped.name}  ·  {data.synthetic}" if data.synthetic else mapped.name
    figure = map_figure(name, data.runs[0], colour)
    for form in options.format or FORMATS:
        if form == "jsonl":
            files += export_jsonl(mapped.folder, target)
        else:
            files.append(write_file(target / f"map.{form}", save_figure(figure, form)))
    files.append(write_file(target / "map.html", map_page(data, options.megabytes)))
    table = _map_table(mapped, groups)
    # Empty cells for what is not known, which every reader of CSV understands.
    plain = {
        column: cells
        if isinstance(cells, list)
        else [None if cell != cell else cell for cell in cells.tolist()]
        for column, cells in table.items()
    }
    for suffix, written in (("csv", plain), ("parquet", table)):
        files.append(target / f"map.{suffix}")
        write_table(files[-1], written)
    return files


def _build(mapped: Mapped, other: Mapped | None, groups: Groups, options: MapOptions) -> MapData:
    """Put together what the page shows."""
    guids = mapped.dynamics.guids
    label = labels_of(mapped)
    columns: list[Column] = [] if label is None else [label]
    named = [name or None for name in group_names(groups, len(guids))]
    columns.append(categories("group", named))
    notes = []
    if mapped.records < 2:
        notes.append(
            "one record only: variability is 0 for every example, and correctness is 0 or 1; "
            "train for more epochs, or record several times an epoch"
        )
    runs, folders = [map_run(mapped)], [mapped.folder]
    if other is not None:
        notes += compare_examples(mapped, other)
        runs.append(map_run(other, guids))
        folders.append(other.folder)
    texts: Texts | None = None
    if options.texts:
        places = options.paths_data, options.paths_cache
        texts, own, said = find_texts(mapped.folder, guids, *places)
        columns += own
        notes += [said] if said else []
    if options.columns is not None:
        further, said = read_columns(options.columns, guids)
        taken = {*runs[0].values, "predicted", *(column.name for column in columns)}
        stem = table_stem(options.columns)
        columns += [
            column._replace(name=f"{column.name} ({stem})") if column.name in taken else column
            for column in further
        ]
        notes += [said] if said else []
    title = "Data map: " + " and ".join(run.name for run in runs)
    synthetic = any(is_run(folder) and collect(folder)[0].synthetic for folder in folders)
    shown = SYNTHETIC if synthetic else ""
    return MapData(title, guids, tuple(runs), tuple(columns), texts, tuple(notes), shown)


def _map_table(mapped: Mapped, groups: Groups) -> dict[str, Any]:
    """List each example's statistics, as `map.csv` and `map.parquet` hold them.

    Beside heron's own stand those of the published tool that mean something else: correctness as a
    count, forgetfulness with 1000 for an example that was never right, and threshold closeness.
    """
    label, guids, of = labels_of(mapped), mapped.dynamics.guids, mapped.statistics
    correct_EN = mapped.dynamics.correct_EN[: mapped.records]
    return {
        "guid": guids,
        "label": [label.name_at(row) if label else "" for row in range(len(guids))],
        **shown_statistics(of),
        "correctness_count": of.correctness_N,
        "forgetfulness": forgetting(correct_EN, NEVER_LEARNT),
        "threshold_closeness": of.closeness_N,
        "groups": group_names(groups, len(guids)),
    }


def _find_colour(data: MapData, name: str) -> Column:
    shown = data.runs[0]
    found: dict[str, Column] = {
        statistic: Numbers(statistic, values_N) for statistic, values_N in shown.values.items()
    }
    found |= {column.name: column for column in (*data.columns, shown.predicted) if column}
    if name in found:
        return found[name]
    if name == "label":
        raise ConfigError("colour=label: this run's task has no classes")
    raise ConfigError(f"colour={name}: there is no such column.{nearest(name, found)}")


def _print_summary(mapped: Mapped, groups: Groups, grouping: str, data: MapData) -> None:
    of, dynamics = mapped.statistics, mapped.dynamics
    seen_N = of.visits_N > 0
    never = float((of.correctness_N[seen_N] == 0).mean()) if seen_N.any() else 0.0
    ends = dynamics.epochs_E[: mapped.records]
    unseen = len(seen_N) - int(seen_N.sum())
    left_out = f" ({unseen:,} more were not visited)" if unseen else ""
    sizes = ", ".join(f"{name} {int(mask_N.sum()):,}" for name, mask_N in groups.items())
    lines = {
        "examples": f"{seen_N.sum():,}{left_out}",
        "records": f"{mapped.records} ({dynamics.mode}, up to epoch {ends[-1]:g})",
        "confidence": f"{np.nanmean(of.confidence_N):.3f} (mean)",
        "variability": f"{np.nanmean(of.variability_N):.3f} (mean)",
        "never right": f"{never:.1%} of the examples",
        "groups": f"{sizes} ({grouping})",
    }
    for name, text in lines.items():
        print(f"{name:<12} {text}")
    for note in data.notes:
        print(f"note: {note}")
    if dynamics.labels:
        print_tables([_class_table(mapped, groups, grouping)])


def _class_table(mapped: Mapped, groups: Groups, grouping: str) -> Table:
    """Count the classes of each group, beside those that the data set's paper printed."""
    labels = mapped.dynamics.labels
    counts = class_counts(groups, mapped.dynamics.gold_N, labels)
    counts = {name: {**found, "all": sum(found.values())} for name, found in counts.items()}
    run = collect(mapped.folder)[0] if is_run(mapped.folder) else None
    data = str(run.setting("data.name", "")) if run and not run.synthetic else ""
    published = published_groups(data) if grouping == "allenai" and data else None
    rows: list[tuple[Cell, ...]] = []
    if published is None:
        rows += [(name, *found.values()) for name, found in counts.items()]
        return Table("Classes by group", ("group", *labels, "all"), tuple(rows))
    title, papers = published
    for name, found in counts.items():
        printed = {**papers[name], "all": sum(papers[name].values())}
        pairs = ((count, printed.get(label)) for label, count in found.items())
        rows.append((name, *(cell for pair in pairs for cell in pair)))
    columns = (column for label in (*labels, "all") for column in (label, "paper"))
    return Table("Classes by group", ("group", *columns), tuple(rows), f"paper: {title}.")
