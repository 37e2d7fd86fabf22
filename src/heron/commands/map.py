"""`heron map`: draw the training dynamics of each example, as figures and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from heron.base.cells import Cell, Table
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
    print_lines(*_write_map(options))
    return 0


def _write_map(options: MapOptions) -> list[Path]:
    """Draw the map, print a summary, and write the figures, the page and the tables."""
    mapped, other = read_mapped(options.run, options.burn_out, options.include_ci), None
    if options.other is not None:
        other = read_mapped(options.other, options.burn_out, options.include_ci)
        if other.name == mapped.name:  # told apart by their sweeps
            other = replace(other, name=f"{other.folder.resolve().parent.name}/{other.name}")
    groups = group_examples(mapped, options.group)
    further, folders = options.columns, (options.paths_data, options.paths_cache)
    data = build_map(mapped, other, groups, further, folders if options.texts else None)
    colour = find_colour(data, options.colour)
    _print_summary(mapped, groups, options.group, data)
    place = "map" if other is None else f"map-with-{other.name.replace('/', '-')}"
    target = options.out or folder_inside(mapped.folder, place)
    files = []
    name = f"{mapped.name}  ·  {data.synthetic}" if data.synthetic else mapped.name
    figure = map_figure(name, data.runs[0], colour)
    for form in options.format or FORMATS:
        if form == "jsonl":
            files += export_jsonl(mapped.folder, target)
            if (mapped.dynamics.count_EN > 1).any():
                print_lines(
                    "note: training_dynamics/ has the mean logits of examples that a record visits "
                    "several times: other tools find another confidence for them"
                )
        else:
            files.append(write_file(target / f"map.{form}", save_figure(figure, form)))
    files.append(write_file(target / "map.html", map_page(data, options.megabytes)))
    table = map_table(mapped, groups)
    # Empty cells for what is not known, which every reader of CSV understands.
    arrays = {name: cells.tolist() for name, cells in table.items() if not isinstance(cells, list)}
    known = {name: [None if v != v else v for v in values] for name, values in arrays.items()}
    plain = {**table, **known}
    for suffix, written in (("csv", plain), ("parquet", table)):
        files.append(target / f"map.{suffix}")
        write_table(files[-1], written)
    return files


def _print_summary(mapped: Mapped, groups: Groups, grouping: str, data: MapData) -> None:
    of, dynamics = mapped.statistics, mapped.dynamics
    seen_N = of.visits_N > 0
    ends = dynamics.epochs_E[: mapped.records]
    numbers: dict[str, Cell] = {
        "examples": int(seen_N.sum()),
        "not visited": len(seen_N) - int(seen_N.sum()),
        "records": mapped.records,
        "mean confidence": float(np.nanmean(of.confidence_N)),
        "mean variability": float(np.nanmean(of.variability_N)),
        "never right": float((of.correctness_N[seen_N] == 0).mean()) if seen_N.any() else 0.0,
        **{f"group {name}": int(mask_N.sum()) for name, mask_N in groups.items()},
    }
    note = f"records: {dynamics.mode}, up to epoch {ends[-1]:g}; groups: {grouping}"
    print_tables([Table(mapped.name, ("what", "value"), tuple(numbers.items()), note)])
    print_lines(*(f"note: {note}" for note in data.notes))
    if dynamics.labels:
        print_tables([_class_table(mapped, groups, grouping)])


def _class_table(mapped: Mapped, groups: Groups, grouping: str) -> Table:
    """Count the classes of each group, beside those that the data set's paper printed."""
    labels = mapped.dynamics.labels
    counts = class_counts(groups, mapped.dynamics.gold_N, labels)
    counts = {name: {**found, "all": sum(found.values())} for name, found in counts.items()}
    run = collect(mapped.folder)[0] if is_run(mapped.folder) else None
    data = str(run.setting("data.name", "")) if run and not run.synthetic else ""
    find = FORK_ANALYSES.find("published_groups") if grouping == "allenai" and data else None
    published = find(data) if find else None
    rows: list[tuple[Cell, ...]] = []
    if published is None:
        rows += [(name, *found.values()) for name, found in counts.items()]
        return Table("Classes by group", ("group", *labels, "all"), tuple(rows))
    title, papers = published
    for name, found in counts.items():
        printed = {**papers[name], "all": sum(papers[name].values())}
        rows.append((name, *(n for key, count in found.items() for n in (count, printed.get(key)))))
    columns = (column for label in (*labels, "all") for column in (label, "paper"))
    return Table("Classes by group", ("group", *columns), tuple(rows), f"paper: {title}.")
