"""`heron evaluate`: score a trained run on a split or on another labelled file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.errors import ConfigError, nearest
from heron.options import parse_options
from heron.runtime.run_folder import open_run


@dataclass
class EvaluateOptions:
    """Options of `heron evaluate`.

    Args:
        run: a finished run folder.
        split: which of the run's own splits.
        input: a labelled file to score on instead.
        data: where the run's data sets lie now; default: where they lay in training.
        out: a JSON file for the scores.
    """

    run: Path
    split: str = "test"
    input: Path | None = None
    data: Path | None = None
    out: Path | None = None


def run(arguments: Sequence[str]) -> int:
    """Evaluate, print the scores and perhaps write them; returns the exit code."""
    options = parse_options(EvaluateOptions, arguments)
    folder = open_run(options.run)
    folder.require_model()
    from heron.data.readers import read_rows
    from heron.files import write_json
    from heron.inference import TrainedRun
    from heron.runtime.evaluation import score_predictions

    trained = TrainedRun(folder, {"data": str(options.data)} if options.data else None)
    if options.input:
        rows = read_rows(options.input, trained.config.data, labels="required")
        split, data = options.input.stem, trained.data({options.input.stem: rows.examples})
    else:
        split, data = options.split, trained.data()
        if split not in data.features:
            raise ConfigError(f"split={split}: no such split.{nearest(split, data.features)}")
    scores = score_predictions(trained.predict(data, split), trained.config)
    print(f"{folder.path} on {split}")
    for name, value in scores.items():
        print(f"  {name:<36} {value:.4f}" if "support" not in name else f"  {name:<36} {value:.0f}")
    if options.out:
        write_json(options.out, {split: scores})
    return 0
