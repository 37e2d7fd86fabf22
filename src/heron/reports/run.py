"""The report of one run: its tables, and a page that holds its predictions and provenance."""

import base64
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
    # Of summaries: the other ROUGE scores, lengths, the share of new n-grams.
    further = [name for name in present if is_whole(name)] if "rouge1" in present else []
    metrics = dict.fromkeys((*headline, *calibration, *further))
    # Other systems' scores are columns: extractive ones, and the run's with exchanged articles.
    others = (*COPIES, "exchanged")
    beside = [other for other in others if any(f"{other}_{name}" in metrics for name in metrics)]
    own = [name for name in metrics if name.partition("_")[0] not in beside]
    first = run.scores.get(splits[0], {}) if splits else {}
    rows = tuple(
        (
            name,
            *(cell_of(run.scores[split], name) for split in splits),
            *(first.get(f"{other}_{name}") for other in beside),
        )
        for name in own
    )
    notes = [f"{SYNTHETIC.capitalize()}."] if run.synthetic else []
    notes += [f"{COPIED_NOTE} Their scores are of {splits[0]}."] if beside else []
    notes += caveats([run])
    if any(isinstance(cell, Interval) for row in rows for cell in row):
        drawn = "rows" if run.setting("task.resample") == "row" else "whole documents (or texts)"
        notes.append(f"[low, high]: 95 % bootstrap interval, resampling {drawn}.")
    if calibration:
        notes.append("ece, mce, brier: distance from calibration; 0 is best, brier goes to 2.")
    return Table("Scores", ("metric", *splits, *beside), rows, " ".join(notes))


def headline(run: RunRecord, artefacts: Artefacts) -> list[tuple[str, str, str]]:
    """Say how good a run is, in a few facts: (what, its value, what stands below it).

    The first score with its interval, beside that of a system which reads nothing: of classes one
    that always predicts the most frequent gold class, of summaries the article's first sentences.
    """
    split, shown = artefacts.split, artefacts.predictions
    scores = run.scores.get(split, {})
    names = [name for name in headline_metrics([run]) if name in scores and not is_copied(name)]
    if not names:
        return []
    metric, cell = names[0], cell_of(scores, names[0])
    alone = "group" in shown and len({*shown["group"]}) == 1
    why = "no interval: all rows are of one document" if alone else "no interval was computed"
    interval = show(cell).partition(" ")[2]
    facts = [(f"{split} {metric}", show(scores[metric]), interval or why)]
    if (lead := scores.get(f"{COPIES[0]}_{metric}")) is not None:
        facts.append((f"{COPIES[0]} {metric}", show(lead), "the article's first three sentences"))
    elif golds := [gold for gold in map(str, shown["gold"]) if gold in artefacts.classes]:
        ((most, count),) = Counter(golds).most_common(1)
        task, always = str(run.setting("task.name", CLASSES)), [most] * len(golds)
        value = score_task(task, golds, always, artefacts.classes).get(metric)
        share = f"the class of {count / len(golds):.0%} of rows"
        facts += [] if value is None else [(f"always {most}: {metric}", show(value), share)]
    elif len(names) > 1:
        facts.append((f"{split} {names[1]}", show(scores[names[1]]), ""))
    if split != SPLITS[1] and (other := run.score(SPLITS[1], metric)) is not None:
        chose = "chose the epoch" if run.setting("trainer.select") == "best" else ""
        facts.append((f"{SPLITS[1]} {metric}", show(other), chose))
    seconds = run.status.get("seconds")
    took = "" if seconds is None else f"{seconds / 60:,.1f} minutes of training and scoring"
    return [*facts, (f"{split} rows", f"{len(shown):,}", took)]


def class_table(run: RunRecord, split: str = "test") -> Table:
    """Show each class: precision, recall, F1, support (rows), predicted share (of all rows)."""
    scores = run.scores.get(split, {})
    columns = [part for part in _PER_CLASS if any(name.startswith(f"{part}/") for name in scores)]
    names = dict.fromkeys(name.partition("/")[2] for name in scores if "/" in name)

    def cell(part: str, name: str) -> Cell:
        value = run.score(split, f"{part}/{name}")
        return int(value) if part == "support" and value is not None else value

    rows = [(name, *(cell(part, name) for part in columns)) for name in names]
    return Table(f"{split}: classes", ("class", *columns), tuple(rows))


def stage_table(run: RunRecord) -> Table:
    """Show the budget that a run has spent, by stage; without rows where there is no ledger."""
    columns = ("stage", *(name for name in SPENT if name != "planned"))
    if not run.ledger:
        return Table("Spent", columns, ())
    stages = run.ledger["stages"]
    rows = [(str(s.get("stage", number)), *spent_cells([s])) for number, s in enumerate(stages)]
    if len(rows) > 1:
        rows.append(("all", *spent_cells([run.ledger["total"]])))
    note = f"{run.ledger['planned_steps']} optimizer steps were planned." if rows else ""
    return Table("Spent", columns, tuple(rows), note)


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
    # In file order, with whether they are right; of too many, the wrong ones first.
    rows = [*range(len(artefacts.right))]
    rows = rows if len(rows) <= _ROWS else sorted(rows, key=artefacts.right.__getitem__)[:_ROWS]
    # Summaries are not right or wrong, and their articles are long.
    summaries = artefacts.texts is not None and artefacts.texts.right is None
    columns = ("text and question" if artefacts.texts else "premise and hypothesis"), "probability"
    if artefacts.texts:
        columns = columns[0], artefacts.texts.metric
    language = LANGUAGES.find(str(run.setting("data.language", "")))
    markers = run.setting("data.markers") or (language.event_markers if language else ())
    content = {
        "language": language.code if language else "",
        "direction": language.direction if language else "auto",
        "markers": list(markers),
        "rows": _cards(artefacts, rows),
    }
    config = run.path / "config.yaml"
    text = config.read_text(encoding="utf-8", errors="replace") if config.is_file() else ""
    return render(
        "run.html.j2",
        title=_describe(run) or run.job,
        synthetic=SYNTHETIC if run.synthetic else "",
        run=run,
        missing=artefacts.missing,
        warnings=run.warnings,
        tables=[table for table in tables if table.rows],
        headline=headline(run, artefacts),
        figure=data_url(figure),
        split=artefacts.split,
        summaries=summaries,
        rows=rows,
        columns=columns if any(artefacts.predictions.texts("text_pair")) else ("text", columns[1]),
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


def _cards(artefacts: Artefacts, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Lay out predictions for the page, in JSON's types; a text's own score is its `value`."""
    rows, task = artefacts.predictions.take(numbers), artefacts.texts
    texts = {"text": rows.texts("text"), "pair": rows.texts("text_pair")}
    texts |= {"gold": list(map(str, rows["gold"]))}
    texts |= {name: list(rows[name]) for name in ("guid", "prediction")}
    texts = {
        name: [cut_text(clean_text(each), None if task is None else _LONGEST) for each in column]
        for name, column in texts.items()
    }
    values: Sequence[float | None] = rows.probabilities
    if artefacts.row_scores is not None:
        values = artefacts.row_scores[list(numbers)].tolist()
    known = [None if v is None or v != v else round(v, 4) for v in values]
    # Nothing is wrong about a summary.
    right = [artefacts.right[n] or (task is not None and task.right is None) for n in numbers]
    columns = {**texts, "value": known, "right": right}
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


def _provenance(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Flatten a run's origin: code, data, versions, the machine's time and memory."""
    names = (name for name in dict.fromkeys((*_PROVENANCE, *status)) if name in status)
    known = ((name, status[name]) for name in names if name not in ("state", "error", "warnings"))
    return [(n.replace("_", " "), redact(_flat(value))) for n, value in known if value is not None]


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_flat, value))
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
