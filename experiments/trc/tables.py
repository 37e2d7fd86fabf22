"""TRC's tables that need no training: `heron reproduce trc:T3`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from heron.base.cells import Row, Table
from heron.base.errors import DataError, Problem, raise_all
from heron.base.files import sha256_file
from heron.base.tables import cell_text
from heron.data.markers import with_markers
from heron.reports.pages import cut_text
from heron_tools.annotation.labels import Layout, read_labels
from heron_tools.annotation.measures import agreements
from heron_tools.annotation.sheets import read_from_people
from heron_tools.reproduction.examples import shortest_of_classes
from heron_tools.reproduction.targets import Estimate, Filled, Names, TargetRequest

HOMEPAGE = "https://github.com/shahafp/TRC-Hebrew"
# The files of annotations, below paths.data, with their hashes in the authors' repository.
ROUNDS = {
    "first round": (
        "trc/inception_round_1/multi_tagger_round_1.csv",
        "f821ba9638621e693a68a53a004d865330f0b03973cafb677f7ba4f986f2bc01",
    ),
    "second round": (
        "trc/inception_round_2/multi_tagger_round_2.csv",
        "f787bda5d4a3e829a2a57cd60be99c307a8ff02dd43094136887da45c015d51c",
    ),
    "combined": (
        "trc/multi_round_1_2.csv",
        "10fce3daad10c005db57dbb5598e93d39ce042b6c77792e7f776da6b0dcffe58",
    ),
}
LAYOUT = Layout(key="id", raters=["hadar", "shir"], ignore=["NONE"])
# Table 1: the answers to "could the first event begin before the second?", and the reverse.
LABELS = {
    ("yes", "no"): "BEFORE",
    ("no", "yes"): "AFTER",
    ("no", "no"): "EQUAL",
    ("yes", "yes"): "VAGUE",
}
MATRES = ("timebank", "aquaint", "platinum")  # files of relations, below paths.data/matres
_LONGEST = 300  # characters of an example in a table


def label_of(first: str, second: str) -> str:
    """Map the answers to the two questions to a label.

    Args:
        first: whether the first event could begin before the second: `yes` or `no`.
        second: whether the second could begin before the first.

    Raises:
        ValueError: another answer.

    Source: TRC, Table 1.
    """
    answers = first.strip().lower(), second.strip().lower()
    if answers not in LABELS:
        raise ValueError(f"answers {first!r} and {second!r}: each is yes or no")
    return LABELS[answers]


def label_map(request: TargetRequest) -> Filled:
    """Show how answers become labels (Table 1), and apply it to a file with columns q1 and q2."""
    rows = []
    for (first, second), label in LABELS.items():
        rows.append((first, second, label))
    columns = ("could n begin before m?", "could m begin before n?", "label")
    tables = [Table("Table 1: from answers to a label", columns, rows)]

    for path in request.files:
        tables.append(_labelled(path))
    return Filled(tables=tables)


def _labelled(path: Path) -> Table:
    """Count the labels of a file; a DataError names each row without an answer."""
    table = read_from_people(path)
    table.require("q1", "q2")
    counts = dict.fromkeys(LABELS.values(), 0)
    problems = []
    for index, row in enumerate(table.rows):
        first = cell_text(row["q1"])
        second = cell_text(row["q2"])
        try:
            label = label_of(first, second)
        except ValueError as error:
            problems.append(Problem(table.where(index), str(error), "q1 and q2: yes or no"))
            continue
        counts[label] += 1

    raise_all(problems)
    return Table(f"Labels of {path.name}", ("label", "rows"), tuple(counts.items()))


def labels(request: TargetRequest) -> Filled:
    """Count the labels, beside MATRES's if its files exist (Table 2).

    Source: TRC, Table 2; MATRES's shares are those of its three files together.
    """
    shipped = request.read("trc")
    names = shipped.config.label_order
    mark = ""
    if shipped.missing:
        present = ", ".join(shipped.splits)
        mark = f"only {present}"

    of_labels = Counter(example.label for example in shipped.all_examples())
    total = sum(of_labels[name] for name in names)

    estimates: dict[Names, Estimate] = {("total", "count"): Estimate(total, mark=mark)}
    for name in names:
        count = of_labels[name]
        share = count / total
        estimates[name, "count"] = Estimate(count, mark=mark)
        estimates[name, "share"] = Estimate(share, n=total, of="pairs", mark=mark)

    paths = [request.data_dir / "matres" / f"{name}.txt" for name in MATRES]
    if not all(path.is_file() for path in paths):
        missing = ", ".join(map(str, paths))
        return Filled({"table2": estimates}, notes=[f"MATRES is not here: {missing}."])

    of_relations = Counter[str]()
    for path in paths:
        of_relations.update(line[-1] for line in read_relations(path))

    relations = of_relations.total()
    for name in names:
        share = of_relations[name] / relations
        estimates[name, "MATRES"] = Estimate(share, n=relations, of="relations")
    return Filled({"table2": estimates})


def read_relations(path: Path) -> list[list[str]]:
    """Read MATRES's relations: document, both words, both instances and label of each line.

    Raises:
        DataError: the file is missing, or lines have another format; names each.
    """
    try:
        lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(str(path), f"cannot be read: {error}", "MATRES's file") from error

    labels = list(LABELS.values())
    problems = []
    for number, line in enumerate(lines, 1):
        if len(line) != 6 or line[5] not in labels:
            problem = "not document, 2 words, 2 numbers, label"
            problems.append(Problem(f"{path}:{number}", problem, ", ".join(labels)))

    raise_all(problems)
    return lines


def agreement(request: TargetRequest) -> Filled:
    """Measure the agreement of the two annotators (Table 3).

    Relaxed: one annotator's VAGUE counts as the other's label, EQUAL included.

    Source: TRC, section 3.4; the rule is that of the authors' code.
    Deviates: the text excludes only disagreements of VAGUE with BEFORE or AFTER.
    """
    measure_of = {"standard": "Cohen's kappa", "relaxed": "relaxed Cohen's kappa"}
    estimates: dict[Names, Estimate] = {}
    for name, path in _annotations(request).items():
        labels = read_labels([path], LAYOUT)
        measured = agreements(labels, "VAGUE", seed=request.seed)
        by_measure = {agreement.measure: agreement for agreement in measured}

        for column, measure in measure_of.items():
            kappa = by_measure[measure]
            assert kappa.value is not None
            estimate = Estimate(kappa.value, kappa.low, kappa.high, kappa.n, "pairs")
            estimates[name, column] = estimate
    return Filled({"table3": estimates}, notes=("Intervals: bootstrap over pairs.",))


def _annotations(request: TargetRequest) -> dict[str, Path]:
    """Find the files of annotations; a DataError names each missing or different file."""
    paths = {}
    problems = []
    for name, (file, sha256) in ROUNDS.items():
        path = request.data_dir / file
        paths[name] = path
        if not path.is_file():
            problems.append(Problem(str(path), "missing", f"from {HOMEPAGE}, misc/"))
        elif sha256_file(path) != sha256:
            problems.append(Problem(str(path), "has been changed", f"use the file of {HOMEPAGE}"))

    raise_all(problems)
    return paths


def examples(request: TargetRequest) -> Filled:
    """Show the shortest pair of each label in all splits (Table 6), from the user's files."""
    shipped = request.read("trc")
    rows: list[Row] = []
    for name, pair in shortest_of_classes(shipped).items():
        text = with_markers(pair, shipped.config)
        rows.append((name, cut_text(text, _LONGEST), pair.guid))

    title = "Table 6: the shortest pair of each label"
    table = Table(title, ("label", "text", "guid"), rows)
    return Filled(tables=[table])
