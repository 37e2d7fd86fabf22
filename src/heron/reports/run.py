"""The report of one run: its tables, and a page that holds its predictions and provenance."""

import base64
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Cell, Formatted, Interval, Table, show
from heron.base.files import write_file
from heron.base.secrets import redact
from heron.base.terminal import print_lines, print_tables
from heron.data.config import own_table_name
from heron.languages import LANGUAGES
from heron.metrics.classification import score_task
from heron.metrics.names import COPIED_NOTE, COPIES, is_copied
from heron.reports.artefacts import Artefacts, read_artefacts
from heron.reports.pages import clean_text, cut_text, escape_json, render
from heron.results.collect import SPLITS, RunRecord, cell_of, headline_metrics, is_whole
from heron.tasks import BASELINES
from heron.tasks.task import CLASSES

SPENT = ("steps", "planned", "batches", "samples", "tokens (M)", "padding", "different examples")

_CALIBRATION = ("ece", "mce", "brier")
_PER_CLASS = ("precision", "recall", "f1", "support", "predicted")
_ROWS = 2_000  # more predictions than this make a page slow to open
_LONGEST = 400  # characters of a text on the page, where they are articles or contexts
_PROVENANCE = ("seed", "started", "seconds", "peak_rss_mb", "overrides", "git", "versions")


class ReportFiles(NamedTuple):
    """The files of a report, and the reasons why parts of it are missing."""

    html: Path
    figure: Path
    tables: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()


def write_run_report(run: RunRecord, target: Path, quiet: bool = False) -> ReportFiles:
    """Write the report of one run.

    Args:
        run: whose files are read.
        target: the folder for `report.html` and `report.png`.
        quiet: whether to leave the tables out of the terminal.
    """
    from heron.reports.figures import run_figure, run_panels  # start-up time: matplotlib

    artefacts = read_artefacts(run)
    scores = score_table(run)
    classes = class_table(run, artefacts.split)
    if not quiet:
        print_tables([scores, classes])

    panels = data_urls(run_panels(run, artefacts))
    page = run_page(run, artefacts, [scores, classes, stage_table(run)], panels)
    html = write_file(target / "report.html", page)
    image = write_file(target / "report.png", run_figure(run, artefacts))
    if not quiet:
        print_lines(*(f"missing: {line}" for line in artefacts.missing))

    return ReportFiles(html, image, missing=artefacts.missing)


def score_table(run: RunRecord) -> Table:
    """Show one run's headline scores, with 95 % intervals where stored.

    Returns:
        A row for each score and a column for each split, as fractions; then columns of systems that
        copy sentences, or that read exchanged articles.
    """
    # Splits named after the last stage repeat the run's own scores.
    stages = run.setting("stages") or []
    last_stage = f"{len(stages)}-"
    splits = []
    for split in dict.fromkeys((*SPLITS, *run.scores)):
        if split in run.scores and not split.startswith(last_stage):
            splits.append(split)

    present = dict.fromkeys(name for scores in run.scores.values() for name in scores)
    calibration = [name for name in _CALIBRATION if name in present]
    metrics = [*headline_metrics([run]), *calibration]
    if "rouge1" in present:  # other ROUGE scores, lengths, the share of new n-grams
        metrics += filter(is_whole, present)

    # Scores of other systems are columns: of extractive ones, and of the run on exchanged articles.
    prefixes = {name.partition("_")[0] for name in metrics}
    systems = [system for system in (*COPIES, "exchanged") if system in prefixes]
    first_scores = run.scores[splits[0]] if splits else {}

    rows = []
    for name in dict.fromkeys(metrics):
        if name.partition("_")[0] in systems:
            continue
        cells = [cell_of(run.scores[split], name) for split in splits]
        cells += [first_scores.get(f"{system}_{name}") for system in systems]
        rows.append((name, *cells))

    columns = ("metric", *splits, *systems)
    return Table("Scores", columns, rows, " ".join(_score_notes(run, rows, columns)))


def _score_notes(
    run: RunRecord, rows: Sequence[Sequence[Cell]], columns: Sequence[str]
) -> list[str]:
    """Explain what stands in `score_table`."""
    notes = []
    if run.synthetic:
        notes.append(f"{SYNTHETIC.capitalize()}.")
    if {*COPIES, "exchanged"} & set(columns):
        notes.append(f"{COPIED_NOTE} Their scores are of {columns[1]}.")

    notes += caveats([run])
    if any(isinstance(cell, Interval) for cells in rows for cell in cells):
        by_row = run.setting("task.resample") == "row"
        unit = "rows" if by_row else "whole documents (or texts)"
        notes.append(f"[low, high]: 95 % bootstrap interval, resampling {unit}.")

    if any(cells[0] in _CALIBRATION for cells in rows):
        notes.append("ece, mce, brier: distance from calibration; 0 is best, brier goes to 2.")

    return notes


def headline_facts(run: RunRecord, artefacts: Artefacts) -> list[tuple[str, str, str]]:
    """Say how good a run is, in a few facts: a name, its value, and an explanation.

    The first score with its interval stands beside that of a system that reads nothing: of classes
    one that always predicts the most frequent gold class, of summaries the article's first three
    sentences.

    Returns:
        `("test macro_f1", "0.612", "[0.581, 0.640]")` and so on; empty without scores.
    """
    split = artefacts.split
    predictions = artefacts.predictions
    scores = run.scores.get(split, {})
    present = [name for name in headline_metrics([run]) if name in scores]
    names = [name for name in present if not is_copied(name)]
    if not names:
        return []

    metric = names[0]
    _, _, explanation = show(cell_of(scores, metric)).partition(" ")
    if not explanation:
        of_one_document = "group" in predictions and len(set(predictions["group"])) == 1
        explanation = "no interval was computed"
        if of_one_document:
            explanation = "no interval: all rows are of one document"

    facts = [(f"{split} {metric}", show(scores[metric]), explanation)]

    copied = f"{COPIES[0]}_{metric}"
    golds = [str(gold) for gold in predictions["gold"]]
    if copied in scores:
        name = f"{COPIES[0]} {metric}"
        facts.append((name, show(scores[copied]), "the article's first three sentences"))
    elif any(gold in artefacts.classes for gold in golds):
        facts += _most_frequent_class(run, golds, artefacts.classes, metric)
    elif len(names) > 1:
        second = names[1]
        facts.append((f"{split} {second}", show(scores[second]), ""))

    validation = SPLITS[1]
    score = run.score(validation, metric)
    if split != validation and score is not None:
        chose_epoch = run.setting("trainer.select") == "best"
        explanation = "chose the epoch" if chose_epoch else ""
        facts.append((f"{validation} {metric}", show(score), explanation))

    seconds = run.status.get("seconds")
    spent = ""
    if seconds is not None:
        spent = f"{seconds / 60:,.1f} minutes of training and scoring"

    facts.append((f"{split} rows", f"{len(predictions):,}", spent))
    return facts


def _most_frequent_class(
    run: RunRecord, golds: Sequence[str], classes: Sequence[str], metric: str
) -> list[tuple[str, str, str]]:
    """Score the system that always predicts the most frequent gold class, as a fact.

    Empty where the metric is not computed from classes alone.
    """
    golds = [gold for gold in golds if gold in classes]
    ((label, count),) = Counter(golds).most_common(1)
    task = str(run.setting("task.name", CLASSES))
    scores = score_task(task, golds, [label] * len(golds), classes)
    if metric not in scores:
        return []

    name = f"always {label}: {metric}"
    share = count / len(golds)
    return [(name, show(scores[metric]), f"the class of {share:.0%} of rows")]


def class_table(run: RunRecord, split: str = "test") -> Table:
    """Show each class: precision, recall, F1, support (rows), predicted share (of all rows).

    Args:
        run: with scores such as `f1/BEFORE`.
        split: whose scores are shown.

    Returns:
        A row for each class; none where there are no such scores.
    """
    names: dict[str, None] = {}
    labels: dict[str, None] = {}
    for score_name in run.scores.get(split, {}):
        name, slash, label = score_name.partition("/")
        if slash:
            names[name] = labels[label] = None

    columns = [column for column in _PER_CLASS if column in names]
    rows = []
    for label in labels:
        cells = []
        for column in columns:
            score = run.score(split, f"{column}/{label}")
            if column == "support" and score is not None:
                score = int(score)
            cells.append(score)

        rows.append((label, *cells))

    return Table(f"{split}: classes", ("class", *columns), rows)


def stage_table(run: RunRecord) -> Table:
    """Show the budget that a run has spent, by stage; without rows where there is no ledger."""
    columns = ("stage", *(name for name in SPENT if name != "planned"))
    if not run.ledger:
        return Table("Spent", columns, ())

    rows = []
    for number, stage in enumerate(run.ledger["stages"]):
        name = stage.get("stage", number)
        rows.append((str(name), *spent_cells([stage])))

    if len(rows) > 1:
        rows.append(("all", *spent_cells([run.ledger["total"]])))

    planned = run.ledger["planned_steps"]
    note = f"{planned} optimizer steps were planned." if rows else ""
    return Table("Spent", columns, rows, note)


def spent_cells(totals: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Average ledgers into the columns of `SPENT`.

    A count is shown as it is where all runs have the same, else as their mean. `planned` is a
    column only where the ledgers have it.
    """

    def mean(name: str) -> Cell:
        counts = [total[name] for total in totals if total[name] is not None]
        if len(set(counts)) > 1:
            return Formatted(fmean(counts), ",.1f")
        return counts[0] if counts else None

    cells = []
    for name in ("steps", "planned", "batches", "samples"):
        if name in totals[0]:
            cells.append(mean(name))

    millions = [total["tokens"] / 1e6 for total in totals]
    padding = [1 - total["tokens"] / max(total["padded"], 1) for total in totals]
    cells.append(Formatted(fmean(millions), ",.3f"))
    cells.append(Formatted(fmean(padding), ".1%"))
    cells.append(mean("unique"))

    return cells


def caveats(runs: Iterable[RunRecord]) -> list[str]:
    """Collect what to print beside baselines' scores, without repeats (`Baseline.caveat`)."""
    notes: dict[str, None] = {}
    for run in runs:
        caveat = caveat_of(run)
        if caveat:
            notes[f"{run.baseline}: {caveat}."] = None
    return list(notes)


def caveat_of(run: RunRecord) -> str:
    """Find the caveat of a baseline's run; empty for none."""
    if run.baseline == "none":
        return ""
    baseline = BASELINES.find(run.baseline)
    return baseline.caveat(run.setting) if baseline else ""


def run_page(
    run: RunRecord,
    artefacts: Artefacts,
    tables: Sequence[Table],
    panels: Sequence[tuple[str, str]],
) -> str:
    """Build the HTML page of one run.

    Args:
        run: its name, settings and status.
        artefacts: its predictions, of which a page shows at most 2,000.
        tables: those without rows are left out.
        panels: see `data_urls`.
    """
    right = artefacts.right
    rows = list(range(len(right)))  # in file order; of too many, the wrong ones first
    if len(rows) > _ROWS:
        rows = sorted(rows, key=right.__getitem__)[:_ROWS]

    texts = artefacts.texts
    first_column = "text and question" if texts else "premise and hypothesis"
    if not any(artefacts.predictions.texts("text_pair")):
        first_column = "text"

    last_column = texts.metric if texts else "probability"

    language = LANGUAGES.find(str(run.setting("data.language", "")))
    markers = run.setting("data.markers") or (language.event_markers if language else ())
    content = {
        "language": language.code if language else "",
        "direction": language.direction if language else "auto",
        "markers": list(markers),
        "rows": _cards(artefacts, rows),
    }

    path = run.path / "config.yaml"
    config = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return render(
        "run.html.j2",
        title=_describe(run) or run.job,
        synthetic=SYNTHETIC if run.synthetic else "",
        run=run,
        missing=artefacts.missing,
        warnings=run.warnings,
        tables=[table for table in tables if table.rows],
        headline=headline_facts(run, artefacts),
        panels=panels,
        split=artefacts.split,
        # Summaries are not right or wrong.
        summaries=texts is not None and texts.right is None,
        rows=rows,
        columns=(first_column, last_column),
        total=len(right),
        wrong=right.count(False),
        labels=artefacts.classes,
        data=Markup(escape_json(content)),
        provenance=_provenance(run.status),
        config=config,
    )


def data_url(image: bytes) -> str:
    """Write a PNG or SVG image as an address that holds it."""
    kind = "svg+xml" if image.startswith(b"<?xml") else "png"
    return f"data:image/{kind};base64," + base64.b64encode(image).decode()


def data_urls(panels: Iterable[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Write images as addresses, each with its title."""
    return [(title, data_url(image)) for title, image in panels]


def _cards(artefacts: Artefacts, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Lay out predictions for the page, in JSON's types.

    `value` is a text's own score, or the probability of the predicted class.
    """
    rows = artefacts.predictions.take(numbers)
    texts = artefacts.texts
    longest = None if texts is None else _LONGEST
    values: Sequence[float | None] = rows.probabilities
    if artefacts.row_scores is not None:
        values = artefacts.row_scores[list(numbers)].tolist()

    columns = {
        "text": rows.texts("text"),
        "pair": rows.texts("text_pair"),
        "gold": [str(gold) for gold in rows["gold"]],
        "guid": rows["guid"],
        "prediction": rows["prediction"],
    }

    cards = []
    for row, number in enumerate(numbers):
        card: dict[str, Any] = {}
        for name, cells in columns.items():
            card[name] = cut_text(clean_text(cells[row]), longest)

        value = values[row]
        card["value"] = None if value is None or math.isnan(value) else round(value, 4)
        # Nothing is wrong about a summary.
        card["right"] = artefacts.right[number] or (texts is not None and texts.right is None)
        cards.append(card)

    return cards


def _describe(run: RunRecord) -> str:
    """Name a run by its data, head, encoder and seed; empty where its configuration is gone."""
    data = own_table_name(run.setting("data", {})) or run.setting("data.name")
    if not data:
        return ""

    parts = [str(data)]
    if run.baseline == "none":
        encoder = str(run.setting("encoder.name", ""))
        if Path(encoder).is_absolute():
            encoder = Path(encoder).name
        parts += [f"head {run.setting('head.name', '')}", f"encoder {encoder}"]
    else:
        parts.append(f"baseline {run.baseline}")

    if run.curriculum != "none":
        parts.append(f"curriculum {run.curriculum}")

    parts.append(f"seed {run.setting('seed')}")
    return ", ".join(parts)


def _provenance(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List a run's origin, by name: code, data, versions, the machine's time and memory."""
    facts = []
    for name in dict.fromkeys((*_PROVENANCE, *status)):
        value = status.get(name)
        if value is not None and name not in ("state", "error", "warnings"):
            facts.append((name.replace("_", " "), redact(_flat(value))))
    return facts


def _flat(value: Any) -> str:
    """Write a value of `status.json` in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_flat, value))
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
