"""`heron agreement`: how far people agree, what most of them say, and what is to be decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Natural, OneOf, Seed
from heron.config.options import parse_options
from heron_tools.annotation.agreement import (
    agreement_table,
    agreements,
    confusion_table,
    majority,
    pair_table,
    rating_differences,
    undecided,
)
from heron_tools.annotation.labels import CASES, Labels, Layout, read_labels
from heron_tools.annotation.people import write_for_people


@dataclass
class AgreementOptions:
    """Options of `heron agreement`."""

    files: list[Path]  # one with all labels, or one of each rater
    key: str = ""  # column of the item; empty: guid, id, item, or the position of the row
    label: str = "label"  # column of the label
    rater: str = ""  # column of the rater, where each row is one rater's label of an item
    raters: list[str] = field(default_factory=list)  # columns with a rater's labels each
    by: str = ""  # column of groups to show apart
    text: str = "text"  # column of the text, for the list of items to decide
    ignore: list[str] = field(default_factory=list)  # values that mean "not labelled", as NONE
    # labels that differ only in case or Unicode form
    case: Annotated[str, OneOf("", *CASES)] = ""
    relaxed: str = ""  # a label that counts as the other rater's
    # `mae`: ratings, by their mean absolute difference
    measure: Annotated[str, OneOf("labels", "mae")] = "labels"
    majority: Path | None = None  # a table for the label of most raters
    adjudicate: Path | None = None  # a table for the items on which raters disagree
    resamples: Natural = 1000  # for the intervals; 0: none
    seed: Seed = 0


def run(arguments: Sequence[str]) -> int:
    """Print measures of agreement and write lists; returns the exit code."""
    options = parse_options(AgreementOptions, arguments)
    names = ("key", "label", "rater", "raters", "by", "text", "ignore", "case")
    labels = read_labels(options.files, Layout(**{name: getattr(options, name) for name in names}))
    if all(sum(map(bool, said)) < 2 for said in labels.values):
        raise ConfigError(
            f"no item is labelled by two of {', '.join(labels.raters)}, such as "
            f"'{labels.items[0]}': key=COLUMN says which column names an item"
        )
    given = {label for said in labels.values for label in said if label}
    if options.relaxed and options.relaxed not in given:
        near = nearest(options.relaxed, given)
        raise ConfigError(f"relaxed={options.relaxed}: nobody gave this label.{near}")
    if options.adjudicate and (taken := {"guid", "text", "label"} & {*labels.raters}):
        raise ConfigError(
            f"adjudicate={options.adjudicate}: the table has columns guid, text and label of its "
            f"own; call the rater '{min(taken)}' otherwise"
        )
    parts = [("all", labels)]
    if options.by:
        parts += [(group, labels.of_group(group)) for group in sorted({*labels.groups} - {""})]
    print_tables(_tables(parts, options))
    if options.majority:
        _write_majority(labels, options.majority)
    if options.adjudicate:
        _write_undecided(labels, options.adjudicate)
    return 0


def _tables(parts: Sequence[tuple[str, Labels]], options: AgreementOptions) -> list[Table]:
    if options.measure == "mae":
        found = [(name, [rating_differences(part)]) for name, part in parts]
        return [agreement_table(found, "t-interval (Student)")]
    measured = [
        (name, agreements(part, options.relaxed, options.resamples, options.seed))
        for name, part in parts
    ]
    labels = parts[0][1]
    more = (
        confusion_table(labels) if len(labels.raters) == 2 else pair_table(labels, options.relaxed)
    )
    return [agreement_table(measured), more]


def _write_majority(labels: Labels, path: Path) -> None:
    chosen = majority(labels)
    votes = [
        sum(x == best for x in said if best)
        for said, best in zip(labels.values, chosen, strict=True)
    ]
    write_table(path, {"guid": labels.items, "prediction": chosen, "votes": votes})
    counts = f"{sum(map(bool, chosen))} labels, {chosen.count('')} ties or unlabelled (empty)"
    print_lines(f"{path}: {counts}", files=[path])


def _write_undecided(labels: Labels, path: Path) -> None:
    rows = list(undecided(labels))
    said = {
        rater: [labels.values[row][number] for row in rows]
        for number, rater in enumerate(labels.raters)
    }
    columns = {
        "guid": [labels.items[row] for row in rows],
        "text": [labels.texts[row] for row in rows],
        **said,
        "label": [""] * len(rows),
    }
    write_for_people(path, columns)
    print_lines(f"{path}: {len(rows)} items to decide, in the column 'label'", files=[path])
