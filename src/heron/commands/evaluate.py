"""`heron evaluate`: score a trained run on a split or on another labelled file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.cells import Cell, Interval, Table
from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import write_json
from heron.base.run_folder import RunFolder, open_run
from heron.base.tables import table_stem
from heron.base.terminal import print_tables
from heron.config.bertscore import BertScoreOptions
from heron.config.options import parse_options
from heron.config.overrides import (
    PLACES,
    RUN_CODE,
    SETTINGS,
    TAKES,
    advising,
    override,
    read_points,
    sort_words,
)
from heron.config.schema import BertScoreConfig
from heron.data.readers import of_split
from heron.data.user_files import read_rows
from heron.metrics.names import further_scores
from heron.results.collect import headline_of
from heron.tasks.summarization.bertscore import require_asked, sign_asked, write_scores
from heron.tasks.task import text_scores

if TYPE_CHECKING:
    from heron.data.examples import Example
    from heron.training.inference import Trained

Scores = dict[str, float]

# Keys for scoring a run's own splits, and for scoring a file.
_OF_SPLITS = (*SETTINGS, RUN_CODE, *PLACES)
_OF_FILES = TAKES["evaluate"]


@dataclass
class EvaluateOptions(BertScoreOptions):
    """Options of `heron evaluate`; it also takes the keys of `heron.config.overrides`.

    Args:
        run: a finished run folder, or several with commas between: the mean of their logits.
        split: a split of the run's own data.
        input: a labelled file to score on instead.
        data: folder of the run's data sets; default: as in training.
        out: a JSON file for the scores.
    """

    run: list[Path]
    split: str = "test"
    input: Path | None = None
    data: Path | None = None
    out: Path | None = None


def run(arguments: Sequence[str]) -> int:
    """Evaluate, print the scores and perhaps write them; returns the exit code."""
    words = sort_words(arguments, _OF_FILES)
    options = parse_options(EvaluateOptions, words.options)
    asked, points = options.bertscore_config(), read_points(words.settings)
    if options.input is None:
        _refuse_of_files(words.data)
    if len(points) > 1 and options.input is None and options.split == "test":
        raise ConfigError(
            "several values are compared to choose one, and nothing is chosen on test: say "
            "split=validation, then score the chosen value alone"
        )
    folders = [open_run(path) for path in options.run]
    with advising(_OF_SPLITS if options.input is None else _OF_FILES):
        systems = _open(folders, options, asked, points, words.run_code)
        require_asked(systems[0].config.task.bertscore)  # before minutes of predictions
        split, examples = _examples(systems[0], options, words.data)
        found, signature = _score(systems, examples, "" if options.input else split)
    title = f"{', '.join(str(folder.path) for folder in folders)} on {split}"
    if len(points) == 1:
        _show(title, found[0], signature)
    else:
        _compare(title, points, found)
    if options.out and len(points) == 1:
        write_scores(options.out, split, found[0], signature)
    elif options.out:
        named = [", ".join(f"{key}={value}" for key, value in point.items()) for point in points]
        each = zip(named, found, strict=True)
        write_json(options.out, {name: {split: scores} for name, scores in each})
    return 0


def _refuse_of_files(words: Sequence[str]) -> None:
    """Refuse keys that would change the rows of a split of the run."""
    for key in (word.partition("=")[0] for word in words):
        if key not in _OF_SPLITS:
            raise ConfigError(
                f"{key}: applies to the file of input=FILE; a run's own splits are read as in "
                "training"
            )


def _open(
    folders: Sequence[RunFolder],
    options: EvaluateOptions,
    asked: BertScoreConfig | None,
    points: Sequence[Mapping[str, int]],
    run_code: bool,
) -> list[Trained]:
    """Open the runs once, as one system for each setting."""
    from heron.training.inference import open_with_settings  # start-up time

    paths = {"data": str(options.data)} if options.data else None
    systems = open_with_settings(folders, paths, points, run_code)
    if asked:
        for config in (system.config for system in systems):
            scores = text_scores(config.task.name)
            if scores is None or not scores.by_encoder:
                raise ConfigError(f"bertscore= scores summaries, not task={config.task.name}")
            config.task.bertscore = asked
    return systems


def _score(
    systems: Sequence[Trained], examples: Sequence[Example], split: str
) -> tuple[list[Scores], str | None]:
    """Score every system on the same rows; also returns BERTScore's signature."""
    from heron.tasks.summarization.predictions import SummaryPredictions  # start-up time
    from heron.training.inference import predict_each

    each = predict_each(systems, examples)
    found = []
    for system, (predictions, refused) in zip(systems, each, strict=True):
        task = system.config.task
        scores = predictions.scores(of_split(system.config, split))
        if task.metrics:
            columns = predictions.columns(examples, system.config)
            scores |= further_scores(task.metrics, columns, task.name)
        found.append({**scores, "refused": len(refused)})
    first, _ = each[0]
    weighed = first.references() if isinstance(first, SummaryPredictions) else ()
    return found, sign_asked(systems[0].config.task.bertscore, weighed)


def _examples(
    trained: Trained, options: EvaluateOptions, words: Sequence[str]
) -> tuple[str, list[Example]]:
    """Read the examples to score; returns the split's or file's name, too."""
    from heron.training.inference import read_splits, require_unseen  # start-up time

    if options.input is not None:
        return table_stem(options.input), _read_file(trained, options.input, words)
    split, splits = options.split, read_splits(trained, words)
    if split not in splits:
        raise ConfigError(f"split={split}: no such split.{nearest(split, splits)}")
    require_unseen(trained, split, splits[split], words)
    return split, splits[split]


def _read_file(trained: Trained, path: Path, words: Sequence[str]) -> list[Example]:
    """Read a labelled file, and say how many of its rows are left out and why.

    Raises:
        DataError: rows that cannot be used, or none that can be scored.
    """
    paths, data = trained.config.paths, override(trained.config.data, words)
    rows = read_rows(path, data, "required", "raise", Path(paths.data), Path(paths.cache))
    left_out = Counter(reason for reason, _ in rows.dropped)
    left_out["without a gold label"] += sum(rows.unlabelled.values())
    for reason, count in (+left_out).items():
        print(f"{path}: rows left out: {count} ({reason})")
    if not rows.examples:
        raise DataError(Problem(str(path), "no row can be scored: all are left out"))
    return rows.examples


def _show(title: str, scores: Scores, signature: str | None) -> None:
    print(title)
    for name, value in scores.items():
        count = "support" in name or isinstance(value, int)
        print(f"  {name:<36} {value:.{0 if count else 4}f}")
    if signature:
        print(f"BERTScore: {signature}")


def _compare(title: str, points: Sequence[Mapping[str, int]], found: Sequence[Scores]) -> None:
    """Print one line for each setting."""

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
