"""`heron evaluate`: score a trained run on a split or on another labelled file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from heron.bertscore_options import BertScoreOptions, require_asked, sign_asked, write_scores
from heron.errors import ConfigError, nearest
from heron.files import write_json
from heron.options import parse_options
from heron.runtime.run_folder import RunFolder, open_run
from heron.schema import BertScoreConfig

if TYPE_CHECKING:
    from heron.data.examples import Example
    from heron.inference import Trained

Scores = dict[str, float]

# What a run can be scored under other than it was trained: how answers are looked for. The
# threshold of "no answer" stays the one that training tuned.
SETTINGS = ("task.max_answer_tokens", "encoder.stride")


@dataclass
class EvaluateOptions(BertScoreOptions):
    """Options of `heron evaluate`; `task.max_answer_tokens=` and `encoder.stride=` go to the run.

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
    words = [word for word in arguments if "." in word.partition("=")[0]]
    options = parse_options(EvaluateOptions, [word for word in arguments if word not in words])
    asked, points = options.asked(), _points(words)
    if len(points) > 1 and options.input is None and options.split == "test":
        raise ConfigError(
            "several values are compared to choose one, and nothing is chosen on test: say "
            "split=validation, then score the chosen value alone"
        )
    folders = [open_run(path) for path in options.run]
    found = [_score(folders, options, asked, point) for point in points]
    split, scores, signature = found[0]
    title = f"{', '.join(str(folder.path) for folder in folders)} on {split}"
    if len(points) == 1:
        _show(title, scores, signature)
    else:
        _compare(title, points, [scores for _, scores, _ in found])
    if options.out and len(points) == 1:
        write_scores(options.out, split, scores, signature)
    elif options.out:
        named = [", ".join(f"{key}={value}" for key, value in point.items()) for point in points]
        each = zip(named, found, strict=True)
        write_json(options.out, {name: {split: scores} for name, (_, scores, _) in each})
    return 0


def _points(words: Sequence[str]) -> list[dict[str, int]]:
    """Read which values of which settings to score under; one point without any for none.

    Raises:
        ConfigError: a key that training has decided, or a value that is no whole number.
    """
    values: dict[str, list[int]] = {}
    for word in words:
        key, _, given = word.partition("=")
        if key not in SETTINGS:
            raise ConfigError(
                f"{key}: a finished run can be scored under other values of "
                f"{' and '.join(SETTINGS)} alone"
            )
        if key in values:
            raise ConfigError(f"option '{key}' is given twice")
        parts = [part.strip() for part in given.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise ConfigError(f"{word}: whole numbers are needed, {key}=20 or {key}=10,20,30")
        values[key] = [int(part) for part in dict.fromkeys(parts)]
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def _score(
    folders: Sequence[RunFolder],
    options: EvaluateOptions,
    asked: BertScoreConfig | None,
    settings: Mapping[str, int],
) -> tuple[str, Scores, str | None]:
    """Score under some settings; returns the split's name, its scores, BERTScore's signature."""
    from heron.inference import open_trained
    from heron.tasks.summaries import SummaryPredictions

    paths = {"data": str(options.data)} if options.data else None
    trained = open_trained(folders, paths, settings)
    if asked:
        if trained.config.task.name != "summarization":
            raise ConfigError(f"bertscore= scores summaries, not task={trained.config.task.name}")
        trained.config.task.bertscore = asked
    asked = trained.config.task.bertscore
    require_asked(asked)
    split, examples = _examples(trained, options)
    predictions, refused = trained.predict(examples)
    scores = {**predictions.scores(trained.config), "refused": len(refused)}
    weighed = predictions.references() if isinstance(predictions, SummaryPredictions) else ()
    return split, scores, sign_asked(asked, weighed)


def _examples(trained: Trained, options: EvaluateOptions) -> tuple[str, list[Example]]:
    """Read what is to be scored, and what it is called."""
    from heron.data.readers import read_rows
    from heron.inference import read_splits, require_unseen

    if options.input is None:
        split, splits = options.split, read_splits(trained)
        if split not in splits:
            raise ConfigError(f"split={split}: no such split.{nearest(split, splits)}")
        require_unseen(trained, split, splits[split])
        return split, splits[split]
    paths = trained.config.paths
    places = Path(paths.data), Path(paths.cache)
    rows = read_rows(options.input, trained.config.data, "required", "raise", *places)
    if left_out := sum(rows.unlabelled.values()):
        print(f"{options.input}: {left_out} rows without a gold label are left out")
    return options.input.stem, rows.examples


def _show(title: str, scores: Scores, signature: str | None) -> None:
    print(title)
    for name, value in scores.items():
        count = "support" in name or isinstance(value, int)
        print(f"  {name:<36} {value:.{0 if count else 4}f}")
    if signature:
        print(f"BERTScore: {signature}")


def _compare(title: str, points: Sequence[Mapping[str, int]], found: Sequence[Scores]) -> None:
    """Print one line for each setting."""
    from heron.reporting.cells import Cell, Interval, Table
    from heron.reporting.tables import headline_of
    from heron.reporting.terminal import print_tables

    def cell(scores: Scores, name: str) -> Cell:
        low, high = scores.get(f"{name}_low"), scores.get(f"{name}_high")
        value = scores[name]
        return value if low is None or high is None else Interval(value, low, high)

    names = [*headline_of(found[0]), "refused"]
    rows = [
        (*(str(value) for value in point.values()), *(cell(scores, name) for name in names))
        for point, scores in zip(points, found, strict=True)
    ]
    print_tables([Table(title, (*points[0], *names), tuple(rows))])
