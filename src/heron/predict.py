"""`heron predict`: label the rows of a file with a trained run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.errors import DataError, Problem
from heron.options import parse_options
from heron.runtime.run_folder import open_run


@dataclass
class PredictOptions:
    """Options of `heron predict`.

    Args:
        run: a finished run folder.
        input: CSV, JSONL or Parquet with a `text` column in the run's marked form.
        out: where predictions go; default `<input>.predictions.csv` beside the input.
        cache: folder for tokenized features.
    """

    run: Path
    input: Path
    out: Path | None = None
    cache: Path | None = None


def run(arguments: Sequence[str]) -> int:
    """Predict; returns 0, or 1 when some rows could not be used (all others are written)."""
    options = parse_options(PredictOptions, arguments)
    folder = open_run(options.run)
    folder.require_model()
    from heron.data.readers import read_rows
    from heron.data.tables import write_table
    from heron.inference import TrainedRun
    from heron.runtime.evaluation import prediction_columns

    trained = TrainedRun(folder, {"cache": str(options.cache)} if options.cache else None)
    rows = read_rows(options.input, trained.config.data, labels="ignored", bad_rows="report")
    data = trained.data({"input": rows.examples})
    predictions = trained.predict(data, "input")
    columns = prediction_columns(predictions, rows.examples, trained.config)
    columns.pop("gold")
    columns.pop("text")
    columns["label"] = columns.pop("prediction")
    out = options.out or options.input.with_suffix(".predictions.csv")
    write_table(out, {name: columns[name] for name in ("guid", "label", *columns)})
    lines = {e.guid: f"{options.input}:{e.side['line']}" for e in rows.examples}
    cut = [Problem(lines[p.where], p.what, p.fix) for p in data.features["input"].refused]
    problems = [*rows.problems, *cut]
    print(f"{len(predictions.guids)} rows predicted: {out}")
    if problems:
        print(f"{len(problems)} rows could not be used:", file=sys.stderr)
        print(DataError(problems, limit=50), file=sys.stderr)
    return 1 if problems else 0
