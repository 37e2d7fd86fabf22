"""The report of one run: its tables, and a page that holds its predictions and provenance."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Cell, Formatted, Interval, Table
from heron.base.files import write_file
from heron.base.secrets import redact
from heron.base.terminal import print_lines, print_tables
from heron.languages import LANGUAGES
from heron.metrics.names import COPIED_NOTE, is_copied, with_copied
from heron.reports.artefacts import Artefacts, read_artefacts
from heron.reports.pages import clean_text, escape_json, render
from heron.results.collect import SPLITS, RunRecord, cell_of, headline_metrics, is_whole
from heron.results.frame import Frame
from heron.tasks import BASELINES
from heron.tasks.task import text_scores

SPENT = ("steps", "planned", "batches", "samples", "tokens (M)", "padding", "different examples")

_COUNTS = ("steps", "batches", "samples", "tokens", "padded", "unique")
_CALIBRATION = ("ece", "mce", "brier")
_PER_CLASS = ("precision", "recall", "f1", "support", "predicted")
_ROWS = 2_000  # more predictions than this make a page slow to open
_PROVENANCE = ("seed", "started", "seconds", "peak_rss_mb", "overrides", "git", "versions")


class ReportFiles(NamedTuple):
    """The files of a report, and what is missing in it and why."""

    html: Path
    figure: Path
    tables: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()


def write_run_report(run: RunRecord, target: Path, quiet: bool = False) -> ReportFiles:
    """Write `report.html` and `report.png` into `target`; prints tables unless `quiet`."""
    from heron.reports.figures import run_figure  # start-up time: matplotlib

    artefacts = read_artefacts(run)
    scores, classes = score_table(run), class_table(run, artefacts.split)
    if not quiet:
        print_tables([scores, classes])
    figure = run_figure(run, artefacts)
    page = run_page(run, artefacts, [scores, classes, stage_table(run)], figure)
    html = write_file(target / "report.html", page)
    files = ReportFiles(html, write_file(target / "report.png", figure), (), artefacts.missing)
    if not quiet:
        print_lines(*(f"missing: {line}" for line in files.missing))
    return files


def score_table(run: RunRecord) -> Table:
    """Show one run's headline scores, a column per split, with 95 % intervals where stored."""
    # Splits named after the last stage repeat the run's own scores.
    last = f"{len(run.setting('stages') or [])}-"
    named = dict.fromkeys((*SPLITS, *run.scores))
    splits = [split for split in named if split in run.scores and not split.startswith(last)]
    present = dict.fromkeys(name for split in run.scores.values() for name in split)
    headline = headline_metrics([run])
    calibration = [name for name in _CALIBRATION if name in present]
    whole = [name for name in present if is_whole(name) and not is_copied(name)]
    # Of summaries: the other ROUGE scores, lengths, the share of new n-grams.
    further = [name for name in whole if name not in headline] if "rouge1" in present else []
    metrics = (*headline, *calibration, *with_copied(further, present))
    rows = tuple(
        (name, *(cell_of(run.scores[split], name) for split in splits)) for name in metrics
    )
    notes = [f"{SYNTHETIC.capitalize()}."] if run.synthetic else []
    notes += [COPIED_NOTE] if any(map(is_copied, metrics)) else []
    notes += caveats([run])
    if any(isinstance(cell, Interval) for row in rows for cell in row):
        drawn = "rows" if run.setting("task.resample") == "row" else "whole documents (or texts)"
        notes.append(f"[low, high]: 95 % bootstrap interval, resampling {drawn}.")
    if calibration:
        notes.append("ece, mce, brier: distance from calibration; 0 is best, brier goes to 2.")
    return Table("Scores", ("metric", *splits), rows, " ".join(notes))


def class_table(run: RunRecord, split: str = "test") -> Table:
    """Show each class: precision, recall, F1, support (rows), predicted share (of all rows)."""
    scores = run.scores.get(split, {})
    columns = [part for part in _PER_CLASS if any(name.startswith(f"{part}/") for name in scores)]
    names = dict.fromkeys(name.partition("/")[2] for name in scores if "/" in name)

    def cell(part: str, name: str) -> Cell:
        value = scores.get(f"{part}/{name}")
        return int(value) if part == "support" and value is not None else value

    rows = [(name, *(cell(part, name) for part in columns)) for name in names]
    return Table(f"{split}: classes", ("class", *columns), tuple(rows))


def stage_table(run: RunRecord) -> Table:
    """Show the budget that a run has spent, by stage; without rows where there is no ledger."""
    columns = ("stage", *(name for name in SPENT if name != "planned"))
    stages = [stage for stage in run.ledger.get("stages", ()) if is_complete(stage)]
    rows = [(str(s.get("stage", number)), *spent_cells([s])) for number, s in enumerate(stages)]
    total = run.ledger.get("total", {})
    if len(rows) > 1 and is_complete(total):
        rows.append(("all", *spent_cells([total])))
    note = f"{run.ledger.get('planned_steps', '–')} optimizer steps were planned." if rows else ""
    return Table("Spent", columns, tuple(rows), note)


def is_complete(counts: Any) -> bool:
    """Whether a ledger's entry has all counts."""
    return counts is not None and all(isinstance(counts.get(n), int) for n in _COUNTS)


def spent_cells(totals: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Average ledgers into the columns of `SPENT`; `planned` only where the ledgers name it."""

    def mean(name: str) -> Cell:
        """Show a count as it is where all runs have the same, else their mean."""
        known = [total[name] for total in totals if total[name] is not None]
        return Formatted(fmean(known), ",.1f") if len(set(known)) > 1 else (known or [None])[0]

    return [
        *(mean(name) for name in ("steps", "planned", "batches", "samples") if name in totals[0]),
        Formatted(fmean([t["tokens"] / 1e6 for t in totals]), ",.3f"),
        Formatted(fmean([1 - t["tokens"] / max(t["padded"], 1) for t in totals]), ".1%"),
        mean("unique"),
    ]


def caveats(runs: Iterable[RunRecord]) -> list[str]:
    """Collect what to print beside baselines' scores, without repeats (`Baseline.caveat`)."""
    named = ((str(run.setting("baseline.name")), caveat_of(run)) for run in runs)
    return list(dict.fromkeys(f"{name}: {caveat}." for name, caveat in named if caveat))


def caveat_of(run: RunRecord) -> str:
    """Find the caveat of a baseline's run; empty for none."""
    name = str(run.setting("baseline.name", "none"))
    baseline = BASELINES.find(name) if name != "none" else None
    return baseline.caveat(run.setting) if baseline else ""


def run_page(run: RunRecord, artefacts: Artefacts, tables: Sequence[Table], figure: bytes) -> str:
    """Build the HTML page of one run; tables without rows are left out, `figure` is PNG bytes."""
    # Summaries are not right or wrong, and their articles are long: they have a page of their own.
    texts = text_scores(run.setting("task.name"))
    summaries = texts is not None and texts.right is None
    # In file order, with whether they are right; of too many, the wrong ones first.
    rows = [] if summaries else [*range(len(artefacts.right))]
    rows = rows if len(rows) <= _ROWS else sorted(rows, key=artefacts.right.__getitem__)[:_ROWS]
    shown = artefacts.predictions.take(rows)
    right = [artefacts.right[row] for row in rows]
    language = LANGUAGES.find(str(run.setting("data.language", "")))
    markers = run.setting("data.markers") or (language.event_markers if language else ())
    content = {
        "language": language.code if language else "",
        "direction": language.direction if language else "auto",
        "markers": list(markers),
        "rows": _cards(shown, right),
    }
    config = run.path / "config.yaml"
    text = config.read_text(encoding="utf-8", errors="replace") if config.is_file() else ""
    return render(
        "run.html.j2",
        title=_describe(run) or run.job,
        synthetic=SYNTHETIC if run.synthetic else "",
        run=run,
        missing=artefacts.missing,
        tables=[table for table in tables if table.rows],
        confusion=_confusion(artefacts),
        figure=data_url(figure),
        split=artefacts.split,
        summaries=summaries,
        rows=rows,
        pairs=any(shown.texts("text_pair")),
        total=len(artefacts.right),
        wrong=artefacts.right.count(False),
        labels=artefacts.classes,
        data=Markup(escape_json(content)),
        provenance=_provenance(run.status),
        config=redact(text),  # written without secrets; older versions wrote some
    )


def data_url(image: bytes) -> str:
    """Write a PNG image as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(image).decode()


def _cards(rows: Frame, right: Sequence[bool]) -> list[dict[str, Any]]:
    """Lay out predictions for the page, in JSON's types."""
    texts = {"text": rows.texts("text"), "pair": rows.texts("text_pair")}
    texts |= {"gold": list(map(str, rows["gold"]))}
    texts |= {name: list(rows[name]) for name in ("guid", "prediction")}
    texts = {name: list(map(clean_text, column)) for name, column in texts.items()}
    shares = [None if share is None else round(share, 4) for share in rows.probabilities]
    columns = {**texts, "probability": shares, "right": right}
    return [dict(zip(columns, card, strict=True)) for card in zip(*columns.values(), strict=True)]


def _describe(run: RunRecord) -> str:
    """Name a run by its data, head, encoder and seed; empty where its configuration is gone."""
    if not run.setting("data.name"):
        return ""
    system = [f"baseline {run.setting('baseline.name')}"]
    if run.setting("baseline.name", "none") == "none":
        name = str(run.setting("encoder.name", ""))
        encoder = Path(name).name if Path(name).is_absolute() else name
        system = [f"head {run.setting('head.name', '')}", f"encoder {encoder}"]
    if run.curriculum != "none":
        system.append(f"curriculum {run.curriculum}")
    return ", ".join([str(run.setting("data.name")), *system, f"seed {run.setting('seed')}"])


def _confusion(artefacts: Artefacts) -> dict[str, Any] | None:
    """Lay out, for each gold class, (predicted class, count, share of the gold class)."""
    classes = artefacts.classes
    if not classes or not artefacts.predictions:
        return None
    counts_CC, columns = artefacts.confusion
    share_CC = counts_CC / np.maximum(counts_CC.sum(axis=1, keepdims=True), 1)
    rows = zip(classes, counts_CC.tolist(), share_CC.tolist(), strict=True)
    cells = [(gold, list(zip(columns, *row, strict=True))) for gold, *row in rows]
    return {"classes": columns, "rows": cells}


def _provenance(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Flatten a run's origin: code, data, versions, the machine's time and memory."""
    names = (name for name in dict.fromkeys((*_PROVENANCE, *status)) if name in status)
    known = ((name, status[name]) for name in names if name not in ("state", "error"))
    return [(n.replace("_", " "), redact(_flat(value))) for n, value in known if value is not None]


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_flat, value))
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
