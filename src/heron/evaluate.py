"""`heron evaluate`: score a trained run on a split or on another labelled file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.bertscore_options import BertScoreOptions, write_scores
from heron.errors import ConfigError, nearest
from heron.options import parse_options
from heron.runtime.run_folder import open_run


@dataclass
class EvaluateOptions(BertScoreOptions):
    """Options of `heron evaluate`.

    Args:
        run: a finished run folder, or several with commas between: the mean of their logits.
        split: which of the run's own splits.
        input: a labelled file to score on instead.
        data: where the run's data sets lie now; default: where they lay in training.
        out: a JSON file for the scores.

    Of summaries also `bertscore=` and what belongs to it: `heron.bertscore_options`.
    """

    run: list[Path]
    split: str = "test"
    input: Path | None = None
    data: Path | None = None
    out: Path | None = None


def run(arguments: Sequence[str]) -> int:
    """Evaluate, print the scores and perhaps write them; returns the exit code."""
    options = parse_options(EvaluateOptions, arguments)
    asked = options.asked()
    folders = [open_run(path) for path in options.run]
    from heron.data.readers import read_rows
    from heron.inference import open_trained, read_splits

    trained = open_trained(folders, {"data": str(options.data)} if options.data else None)
    if asked:
        if trained.config.task.name != "summarization":
            raise ConfigError(f"bertscore= scores summaries, not task={trained.config.task.name}")
        trained.config.task.bertscore = asked
    signature = None
    if trained.config.task.bertscore.model:
        from heron.metrics.bertscore import sign

        signature = sign(trained.config.task.bertscore)  # what is missing is missing now
    if options.input:
        paths = trained.config.paths
        places = Path(paths.data), Path(paths.cache)
        rows = read_rows(options.input, trained.config.data, "required", "raise", *places)
        split, examples = options.input.stem, rows.examples
        if left_out := sum(rows.unlabelled.values()):
            print(f"{options.input}: {left_out} rows without a gold label are left out")
    else:
        split, splits = options.split, read_splits(trained)
        if split not in splits:
            raise ConfigError(f"split={split}: no such split.{nearest(split, splits)}")
        examples = splits[split]
    predictions, refused = trained.predict(examples)
    scores = predictions.scores(trained.config)
    scores["refused"] = len(refused)
    print(f"{', '.join(str(folder.path) for folder in folders)} on {split}")
    for name, value in scores.items():
        count = "support" in name or isinstance(value, int)
        print(f"  {name:<36} {value:.{0 if count else 4}f}")
    if signature:
        print(f"BERTScore: {signature}")
    if options.out:
        write_scores(options.out, split, scores, signature)
    return 0
