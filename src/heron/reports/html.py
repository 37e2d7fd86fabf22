"""Self-contained HTML pages: styles, script and images are inside, nothing is fetched.

Everything is escaped by the templates; only `highlight` builds markup, out of escaped parts. What
scripts show goes in as JSON and comes out as text.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from heron.base.cells import SYNTHETIC, Table
from heron.base.pages import clean_text, escape_json, render
from heron.base.secrets import redact
from heron.languages import LANGUAGES
from heron.results.artefacts import Artefacts, confusion_counts
from heron.results.collect import RunRecord
from heron.results.groups import count_states
from heron.results.predictions import Prediction
from heron.tasks.scores import text_scores

_ROWS = 2_000  # more predictions than this make a page slow to open
_PROVENANCE = ("seed", "started", "seconds", "peak_rss_mb", "overrides", "git", "versions")


def run_page(run: RunRecord, artefacts: Artefacts, tables: Sequence[Table], figure: bytes) -> str:
    """Build the page of one run.

    Args:
        run: its configuration, status and scores.
        artefacts: its predictions, and what is missing.
        tables: scores, classes, what was spent; those without rows are left out.
        figure: PNG bytes.
    """
    # Summaries are not right or wrong, and their articles are long: they have a page of their own.
    texts = text_scores(run.setting("task.name"))
    summaries = texts is not None and texts.right is None
    rows = [] if summaries else _choose_rows(artefacts)
    language = LANGUAGES.find(str(run.setting("data.language", "")))
    markers = run.setting("data.markers") or (language.event_markers if language else ())
    content = {
        "language": language.code if language else "",
        "direction": language.direction if language else "auto",
        "markers": list(markers),
        "rows": [_prediction(row, right) for row, right in rows],
    }
    return render(
        "run.html.j2",
        title=_describe(run) or run.job,
        synthetic=SYNTHETIC if run.synthetic else "",
        run=run,
        missing=artefacts.missing,
        tables=[table for table in tables if table.rows],
        confusion=_confusion(artefacts),
        figure=_data_url(figure),
        split=artefacts.split,
        summaries=summaries,
        rows=rows,
        pairs=any(row.text("text_pair") for row, _ in rows),
        total=len(artefacts.predictions),
        wrong=artefacts.right.count(False),
        labels=artefacts.classes,
        data=Markup(escape_json(content)),
        provenance=_provenance(run.status),
        config=_config_text(run.path),
    )


def sweep_page(
    name: str,
    runs: Sequence[RunRecord],
    tables: Sequence[Table],
    figure: bytes,
    missing: Sequence[str],
    folder: Path,
) -> str:
    """Build the page of a sweep, with links from `folder` to the pages of its runs."""
    return render(
        "sweep.html.j2",
        title=name,
        synthetic=SYNTHETIC if any(run.synthetic for run in runs) else "",
        states=count_states(runs),
        missing=missing,
        tables=tables,
        links=page_links(runs, folder),
        figure=_data_url(figure),
    )


def _data_url(image: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(image).decode()


def _choose_rows(artefacts: Artefacts) -> list[tuple[Prediction, bool]]:
    """All predictions in file order, and whether they are right; of too many, the wrong first."""
    rows = list(zip(artefacts.predictions, artefacts.right, strict=True))
    return rows if len(rows) <= _ROWS else sorted(rows, key=lambda pair: pair[1])[:_ROWS]


def _prediction(row: Prediction, right: bool) -> dict[str, Any]:
    texts = {"text": row.text("text"), "pair": row.text("text_pair"), "gold": str(row.gold)}
    texts |= {"guid": row.guid, "prediction": row.prediction}
    probability = row.probability
    shown = None if probability is None else round(probability, 4)
    return {name: clean_text(text) for name, text in texts.items()} | {
        "probability": shown,
        "right": right,
    }


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
    """Classes, and for each gold class (predicted class, count, share of the gold class)."""
    if not artefacts.classes or not artefacts.predictions:
        return None
    counts_CC = confusion_counts(artefacts.predictions, artefacts.classes)
    rows = []
    for gold, counts_C in zip(artefacts.classes, counts_CC.tolist(), strict=True):
        total = max(sum(counts_C), 1)
        cells = zip(artefacts.classes, counts_C, strict=True)
        rows.append((gold, [(name, count, count / total) for name, count in cells]))
    return {"classes": artefacts.classes, "rows": rows}


def _provenance(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Flatten what is known of a run's origin: code, data, versions, machine's time and memory."""
    names = [name for name in _PROVENANCE if name in status]
    names += [name for name in status if name not in (*_PROVENANCE, "state", "error")]
    return [
        (name.replace("_", " "), redact(_flat(status[name])))
        for name in names
        if status[name] is not None
    ]


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(_flat, value))
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def _config_text(folder: Path) -> str:
    path = folder / "config.yaml"
    # Written without secrets; runs of older versions may have some.
    return redact(path.read_text(encoding="utf-8", errors="replace")) if path.is_file() else ""


def page_links(runs: Sequence[RunRecord], folder: Path) -> dict[str, str]:
    """Relative links to the run pages that exist; job names hold `=` and `,`, so quoted."""
    pages = {run.job: run.path / "report.html" for run in runs}
    return {
        job: quote(Path(os.path.relpath(page, folder)).as_posix())
        for job, page in pages.items()
        if page.is_file()
    }
