"""`heron map`: draw the training dynamics of each example, as figures and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from heron.base.cells import Cell, Row, Table
from heron.base.files import write_file
from heron.base.run_folder import folder_inside
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count, OneOf, Positive
from heron.config.parsing import DataFolders, parse_options
from heron.dynamics.cartography import Groups, class_counts
from heron.dynamics.files import export_jsonl
from heron.reports.map import FORMATS, map_figure, map_page, save_figure
from heron.reports.map_data import (
    MapData,
    Mapped,
    build_map,
    find_colour,
    group_examples,
    map_table,
    read_mapped,
)
from heron.results.collect import collect, is_run
from heron.tasks import FORK_ANALYSES

Published = tuple[str, dict[str, dict[str, int]]]  # a paper's title, and counts by group and class


@dataclass
class MapOptions(DataFolders):
    """Options of `heron map`."""

    run: Path  # a run folder with dynamics, or a folder of other cartography tools' dynamics
    # A second run on the same data, to compare.
    other: Path | None = field(default=None, metadata={"option": "with"})
    out: Path | None = None  # default `<run>/map`, or `<run>/map-with-<other>`
    # Colour of the figure's points: `correctness`, `label`, `group`, or any statistic or column.
    colour: str = "correctness"
    columns: Path | None = None  # a table with `guid` and further columns to colour by
    burn_out: Count | None = None  # use only this many first records
    include_ci: bool = False  # widen variability by its confidence interval
    # The figure's formats; `jsonl` adds the records in the layout of other cartography tools.
    format: list[Annotated[str, OneOf(*FORMATS, "jsonl")]] | None = None
    # `allenai` (extremes of each kind; overlapping) or `tercile_partition` (thirds of difficulty)
    group: Annotated[str, OneOf("allenai", "tercile_partition")] = "allenai"
    texts: bool = True  # whether the page holds the texts; false for data that must not be shared
    # Largest size of the page, default 24, of a sample 6; texts are cut to fit.
    megabytes: Positive | None = None


def run(arguments: Sequence[str]) -> int:
    """Map a run's dynamics; prints a summary and the files written; returns the exit code."""
    options = parse_options(MapOptions, arguments)
    files = _write_map(options)
    print_lines(*files)
    return 0


def _write_map(options: MapOptions) -> list[Path]:
    """Draw the map, print a summary, and write the figures, the page and the tables."""
    mapped = read_mapped(options.run, options.burn_out, options.include_ci)
    place = "map"
    other = None
    if options.other is not None:
        other = read_mapped(options.other, options.burn_out, options.include_ci)
        if other.name == mapped.name:  # told apart by their sweeps
            sweep = other.folder.resolve().parent.name
            other = replace(other, name=f"{sweep}/{other.name}")
        place = "map-with-" + other.name.replace("/", "-")

    groups = group_examples(mapped, options.group)
    folders = (options.paths_data, options.paths_cache) if options.texts else None
    data = build_map(mapped, other, groups, options.columns, folders)
    colour = find_colour(data, options.colour)
    _print_summary(mapped, groups, options.group, data)
    target = options.out or folder_inside(mapped.folder, place)

    title = mapped.name
    if data.synthetic:
        title += f"  ·  {data.synthetic}"
    figure = map_figure(title, data.runs[0], colour)

    files = []
    for form in options.format or FORMATS:
        if form == "jsonl":
            files += export_jsonl(mapped.folder, target)
            has_repeats = (mapped.dynamics.count_EN > 1).any()
            if has_repeats:
                print_lines(
                    "note: training_dynamics/ has the mean logits of examples that a record visits "
                    "several times: other tools find another confidence for them"
                )
        else:
            content = save_figure(figure, form)
            files.append(write_file(target / f"map.{form}", content))

    page = map_page(data, options.megabytes)
    files.append(write_file(target / "map.html", page))
    return files + _write_tables(mapped, groups, target)


def _write_tables(mapped: Mapped, groups: Groups, folder: Path) -> list[Path]:
    """Write the statistics and groups of each example as CSV and Parquet."""
    table = map_table(mapped, groups)
    # Empty cells for what is not known, which every reader of CSV understands.
    cells: dict[str, Sequence[Any]] = {}
    for name, values in table.items():
        if isinstance(values, list):
            cells[name] = values
        else:
            numbers = values.tolist()
            cells[name] = [None if number != number else number for number in numbers]

    csv = folder / "map.csv"
    write_table(csv, cells)
    parquet = folder / "map.parquet"
    write_table(parquet, table)

    return [csv, parquet]


def _print_summary(mapped: Mapped, groups: Groups, grouping: str, data: MapData) -> None:
    """Print means, group sizes and notes, and the classes of each group."""
    statistics = mapped.statistics
    dynamics = mapped.dynamics
    visited_N = statistics.visits_N > 0
    visited = int(visited_N.sum())
    never_right = 0.0
    if visited:
        correctness_N = statistics.correctness_N[visited_N]
        never_right = float((correctness_N == 0).mean())

    numbers: dict[str, Cell] = {
        "examples": visited,
        "not visited": len(visited_N) - visited,
        "records": mapped.records,
        "mean confidence": float(np.nanmean(statistics.confidence_N)),
        "mean variability": float(np.nanmean(statistics.variability_N)),
        "never right": never_right,
    }
    for name, mask_N in groups.items():
        numbers[f"group {name}"] = int(mask_N.sum())

    last_epoch = dynamics.epochs_E[mapped.records - 1]
    note = f"records: {dynamics.mode}, up to epoch {last_epoch:g}; groups: {grouping}"
    print_tables([Table(mapped.name, ("what", "value"), tuple(numbers.items()), note)])
    print_lines(*(f"note: {note}" for note in data.notes))
    if dynamics.labels:
        print_tables([_class_table(mapped, groups, grouping)])


def _class_table(mapped: Mapped, groups: Groups, grouping: str) -> Table:
    """Count the classes of each group, beside those that the data set's paper printed."""
    labels = mapped.dynamics.labels
    counts_of = class_counts(groups, mapped.dynamics.gold_N, labels)
    published = None
    if grouping == "allenai":
        published = _published_counts(mapped.folder)

    rows: list[Row] = []
    if published is None:
        for name, counts in counts_of.items():
            rows.append((name, *counts.values(), sum(counts.values())))

        return Table("Classes by group", ("group", *labels, "all"), rows)

    title, printed_of = published
    columns = ["group"]
    for label in (*labels, "all"):
        columns += [label, "paper"]

    for name, counts in counts_of.items():
        printed = printed_of[name]
        row: list[Cell] = [name]
        for label, count in counts.items():
            row += [count, printed.get(label)]

        row += [sum(counts.values()), sum(printed.values())]
        rows.append(row)

    return Table("Classes by group", columns, rows, f"paper: {title}.")


def _published_counts(folder: Path) -> Published | None:
    """Find a paper's title and its counts of classes by group, for the data set of a run."""
    if not is_run(folder):
        return None

    run = collect(folder)[0]
    data_set = str(run.setting("data.name", ""))
    find = FORK_ANALYSES.find("published_groups")
    if run.synthetic or not data_set or not find:
        return None

    counts: Published | None = find(data_set)
    return counts
