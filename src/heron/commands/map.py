"""`heron map`: draw what training dynamics say about each example, as figures and as a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heron.base.cells import SYNTHETIC, Cell, Table
from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import write_file
from heron.base.tables import table_stem, write_table
from heron.base.terminal import print_tables
from heron.config.options import DataFolders, parse_options
from heron.dynamics.cartography import NEVER_LEARNT, difficulty, forgetting
from heron.dynamics.groups import allenai, class_counts, tercile_partition
from heron.dynamics.jsonl import export_jsonl
from heron.reports.map import map_figure, save_figure
from heron.reports.map_data import Column, MapData, Numbers, Texts, categories, rows_of
from heron.reports.map_page import map_page
from heron.reports.map_sources import (
    SCORE,
    Mapped,
    find_texts,
    group_names,
    labels_of,
    map_run,
    read_columns,
    read_mapped,
    shown_statistics,
)
from heron.results.collect import collect, is_run
from heron.results.published import published_groups

FORMATS = ("png", "pdf")
EXPORTS = (*FORMATS, "jsonl")
GROUPINGS = ("allenai", "tercile_partition")


@dataclass
class MapOptions(DataFolders):
    """Options of `heron map`.

    Args:
        run: a run folder with dynamics, or a folder of other cartography tools' dynamics.
        other: `with=`: a second run on the same data, to compare.
        out: where the files go; default `<run>/map`, or `<run>/map-with-<other>`.
        colour: what colours the figure's points: `correctness`, `label`, `group`, or any statistic
            or column. The page offers all of them.
        columns: a table with `guid` and further columns to colour by.
        burn_out: use this many records, the first ones.
        include_ci: widen variability by its confidence interval, as the published tool can.
        format: the figure's formats; `jsonl` adds the records in the layout that other cartography
            tools read, `training_dynamics/dynamics_epoch_<n>.jsonl`.
        group: how examples are put into groups: `allenai` (the most of each kind; overlapping) or
            `tercile_partition` (thirds of difficulty).
        texts: whether the page holds the texts; `false` for data that must not be passed on.
        megabytes: largest size of the page; texts are cut to fit.
    """

    run: Path
    other: Path | None = field(default=None, metadata={"option": "with"})
    out: Path | None = None
    colour: str = "correctness"
    columns: Path | None = None
    burn_out: int | None = None
    include_ci: bool = False
    format: list[str] | None = None
    group: str = "allenai"
    texts: bool = True
    megabytes: float = 24


def run(arguments: Sequence[str]) -> int:
    """Map a run's dynamics; prints a summary and the files written; returns the exit code."""
    options = _parse(arguments)
    files = write_map(options)
    print(*files, sep="\n")
    return 0


def _parse(arguments: Sequence[str]) -> MapOptions:
    options = parse_options(MapOptions, arguments)
    for form in options.format or ():
        if form not in EXPORTS:
            raise ConfigError(f"format={form}: unknown.{nearest(form, EXPORTS)}")
    if options.group not in GROUPINGS:
        raise ConfigError(f"group={options.group}: unknown.{nearest(options.group, GROUPINGS)}")
    if options.megabytes <= 0:
        raise ConfigError(f"megabytes={options.megabytes:g}: must be above 0")
    return options


def write_map(options: MapOptions) -> list[Path]:
    """Draw the map and write its files; prints a summary.

    Returns:
        `map.<format>`, `map.html`, `map.csv` and `map.parquet`.

    Raises:
        ConfigError: an unknown column to colour by.
        DataError: a run without dynamics, two runs without a common example, a bad table.
    """
    mapped = read_mapped(options.run, options.burn_out, options.include_ci)
    other = None
    if options.other is not None:
        other = _rename(read_mapped(options.other, options.burn_out, options.include_ci), mapped)
    groups = _groups(mapped, options.group)
    data = build(mapped, other, groups, options)
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
            continue
        files.append(write_file(target / f"map.{form}", save_figure(figure, form)))
    files.append(write_file(target / "map.html", map_page(data, options.megabytes)))
    table = map_table(mapped, groups)
    for suffix in ("csv", "parquet"):
        files.append(target / f"map.{suffix}")
        write_table(files[-1], _plain(table) if suffix == "csv" else table)
    return files


def _rename(other: Mapped, mapped: Mapped) -> Mapped:
    """Tell two runs of the same name apart by the sweeps that they are of."""
    if other.name != mapped.name:
        return other
    return dataclasses.replace(other, name=f"{other.folder.resolve().parent.name}/{other.name}")


def build(
    mapped: Mapped, other: Mapped | None, groups: dict[str, NDArray[np.bool_]], options: MapOptions
) -> MapData:
    """Put together what the page shows.

    Raises:
        DataError: the two runs have no example in common, or `options.columns` cannot be used.
    """
    guids = mapped.dynamics.guids
    label = labels_of(mapped)
    columns: list[Column] = [] if label is None else [label]
    named = [name or None for name in group_names(groups, len(guids))]
    columns.append(categories("group", named))
    notes = _warnings(mapped)
    runs = [map_run(mapped)]
    if other is not None:
        notes += _compare(mapped, other)
        runs.append(map_run(other, guids))
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
    names = " and ".join(run.name for run in runs)
    folders = [each.folder for each in (mapped, other) if each is not None]
    return MapData(
        f"Data map: {names}",
        guids,
        tuple(runs),
        tuple(columns),
        texts,
        tuple(notes),
        SYNTHETIC if any(map(_is_synthetic, folders)) else "",
    )


def _is_synthetic(folder: Path) -> bool:

    return is_run(folder) and collect(folder)[0].synthetic


def map_table(mapped: Mapped, groups: dict[str, NDArray[np.bool_]]) -> dict[str, Any]:
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


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """Empty cells for what is not known, which every reader of CSV understands."""
    return {
        name: values
        if isinstance(values, list)
        else [None if value != value else value for value in values.tolist()]
        for name, values in table.items()
    }


def _groups(mapped: Mapped, grouping: str) -> dict[str, NDArray[np.bool_]]:

    if grouping == "allenai":
        return allenai(mapped.statistics)
    return tercile_partition(difficulty(SCORE, mapped.statistics), mapped.statistics.guids)


def _warnings(mapped: Mapped) -> list[str]:
    if mapped.records > 1:
        return []
    return [
        "one record only: variability is 0 for every example, and correctness is 0 or 1; "
        "train for more epochs, or record several times an epoch"
    ]


def _compare(mapped: Mapped, other: Mapped) -> list[str]:
    """Say how far two runs are about the same examples.

    Raises:
        DataError: they have none in common.
    """
    rows_N = rows_of(other.dynamics.guids, mapped.dynamics.guids)
    common_N = rows_N >= 0
    common = int(common_N.sum())
    if not common:
        mine, theirs = mapped.dynamics.guids[:1], other.dynamics.guids[:1]
        what = f"no example in common with {mapped.folder}: guids like {theirs} and {mine}"
        raise DataError(Problem(str(other.folder), what, "compare two runs over the same data"))
    notes = []
    only_a, only_b = len(common_N) - common, len(other.dynamics.guids) - common
    if only_a or only_b:
        notes.append(
            f"{common:,} examples are in both runs; {only_a:,} are only in A ({mapped.name}), "
            f"{only_b:,} only in B ({other.name}), which the map leaves out"
        )
    if mapped.dynamics.labels != other.dynamics.labels:
        notes.append("the two runs have different classes: predictions cannot be compared")
    elif changed := int(
        (other.dynamics.gold_N[rows_N[common_N]] != mapped.dynamics.gold_N[common_N]).sum()
    ):
        notes.append(f"{changed:,} examples have another gold label in B; those of A are shown")
    return notes


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


def _print_summary(
    mapped: Mapped, groups: dict[str, NDArray[np.bool_]], grouping: str, data: MapData
) -> None:

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


def _class_table(mapped: Mapped, groups: dict[str, NDArray[np.bool_]], grouping: str) -> Table:
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
