"""`heron agreement`: inter-annotator agreement, majority labels, and items to adjudicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heron.base.cells import Table
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Natural, OneOf, Seed
from heron.config.parsing import parse_options
from heron_tools.annotation.labels import Labels, Layout, read_labels
from heron_tools.annotation.measures import (
    agreement_table,
    agreements,
    confusion_table,
    majority,
    pair_table,
    rating_differences,
    undecided,
)
from heron_tools.annotation.sheets import write_for_people


@dataclass
class AgreementOptions(Layout):
    """Options of `heron agreement`."""

    files: list[Path]  # one file with all labels, or one file per rater
    relaxed: str = ""  # a label (VAGUE) that agrees with any label of the other rater
    # `labels`: kappas and alpha; `mae`: mean absolute difference of ratings
    measure: Annotated[str, OneOf("labels", "mae")] = "labels"
    majority: Path | None = None  # a table to write majority labels to
    adjudicate: Path | None = None  # a table to write items to on which raters disagree
    resamples: Natural = 1000  # bootstrap resamples; 0: no intervals
    seed: Seed = 0  # the same seed gives the same intervals


def run(arguments: Sequence[str]) -> int:
    """Print measures of agreement and write lists; returns the exit code."""
    options = parse_options(AgreementOptions, arguments)
    labels = read_labels(options.files, options)

    parts = [("all", labels)]
    if options.by:
        for group in sorted({*labels.groups} - {""}):
            parts.append((group, labels.of_group(group)))

    print_tables(_tables(parts, options))

    if options.majority:
        _write_majority(labels, options.majority)
    if options.adjudicate:
        _write_undecided(labels, options.adjudicate)

    return 0


def _tables(parts: Sequence[tuple[str, Labels]], options: AgreementOptions) -> list[Table]:
    """Lay out the measures of each part; the first part has all items."""
    measures = []
    if options.measure == "mae":
        for name, part in parts:
            measures.append((name, [rating_differences(part)]))
        return [agreement_table(measures, "t-interval (Student)")]

    for name, part in parts:
        agreement = agreements(part, options.relaxed, options.resamples, options.seed)
        measures.append((name, agreement))

    _, labels = parts[0]
    if len(labels.raters) == 2:
        raters_table = confusion_table(labels)
    else:
        raters_table = pair_table(labels, options.relaxed)

    return [agreement_table(measures), raters_table]


def _write_majority(labels: Labels, path: Path) -> None:
    """Write the label that most raters gave to each item, and how many gave it."""
    chosen = majority(labels)

    votes = []
    for item_labels, label in zip(labels.values, chosen, strict=True):
        count = list(item_labels).count(label) if label else 0
        votes.append(count)

    write_table(path, {"guid": labels.items, "prediction": chosen, "votes": votes})

    undecided_count = chosen.count("")
    decided_count = len(chosen) - undecided_count
    counts = f"{decided_count} labels, {undecided_count} ties or unlabelled (empty)"
    print_lines(f"{path}: {counts}", files=[path])


def _write_undecided(labels: Labels, path: Path) -> None:
    """Write a sheet of the items on which raters disagree, with an empty column to decide in."""
    rows = list(undecided(labels))
    columns = {
        "guid": [labels.items[row] for row in rows],
        "text": [labels.texts[row] for row in rows],
    }

    for number, rater in enumerate(labels.raters):
        # Raters may be named like the sheet's own columns.
        name = rater
        if rater in columns or rater == "label":
            name = f"rater {rater}"

        columns[name] = [labels.values[row][number] for row in rows]

    columns["label"] = [""] * len(rows)  # the last column, to be filled in
    write_for_people(path, columns)
    print_lines(f"{path}: {len(rows)} items to decide, in the column 'label'", files=[path])
