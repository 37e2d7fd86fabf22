"""`heron evaluate`: score a trained run on a split or on another labelled file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import MinLen

from heron.base.cells import Formatted, Table
from heron.base.errors import ConfigError, DataError, nearest
from heron.base.files import write_json
from heron.base.run_folder import open_run
from heron.base.tables import received, table_stem
from heron.base.terminal import print_lines, print_tables
from heron.commands.run_settings import Point, read_points, sort_words
from heron.config.parsing import parse_options
from heron.data.examples import Example
from heron.data.readers import of_split, read_rows
from heron.metrics.names import further_scores
from heron.results.collect import cell_of, headline_of
from heron.tasks.scoring import BertScoreOptions, write_scores
from heron.tasks.task import text_scores

Scores = Mapping[str, float]


@dataclass
class EvaluateOptions(BertScoreOptions):
    """Options of `heron evaluate`; it also takes the keys of `heron.commands.run_settings`."""

    run: Annotated[
        list[Path], MinLen(1)
    ]  # a finished run folder, or several: the mean of their logits
    split: str = "test"  # of the run's own data
    input: Path | None = None  # a labelled file to score on instead; `-`: standard input
    data: Path | None = None  # folder of the run's data sets; default: as in training
    out: Path | None = None  # a JSON file for the scores


def run(arguments: Sequence[str]) -> int:
    """Evaluate, print the scores and perhaps write them; returns the exit code."""
    words = sort_words(arguments)
    options = parse_options(EvaluateOptions, words.options)
    bertscore = options.bertscore_config()
    points = read_points(words.settings)  # each combination of values; {} if none is given

    if len(points) > 1 and options.input is None and options.split == "test":
        raise ConfigError(
            "several values are compared to choose one, which must not be done on test: set "
            "split=validation, then score the chosen value alone"
        )

    folders = [open_run(path) for path in options.run]
    from heron.training.inference import open_trained

    paths = {"data": str(options.data)} if options.data else None
    first = open_trained(folders, paths, run_code=words.run_code)

    task = first.config.task.name
    text_scoring = text_scores(task)
    bertscore_settings: dict[str, Any] = {}
    if bertscore:
        if text_scoring is None or not text_scoring.bertscore_key:
            raise ConfigError(f"bertscore= scores summaries, not task={task}")
        bertscore_settings = {text_scoring.bertscore_key: asdict(bertscore)}

    systems = [first.with_settings(point | bertscore_settings) for point in points]
    if text_scoring:  # before minutes of predictions
        text_scoring.require(systems[0].config)

    name, examples = _examples(systems[0], options, words.data)
    scores_of_points, signature = _score(systems, examples, "" if options.input else name)
    runs = ", ".join(str(folder.path) for folder in folders)
    title = f"{runs} on {name}"

    if len(points) > 1:
        print_tables([_point_table(title, task, points, scores_of_points)])
        if options.out:
            _write_points(options.out, name, points, scores_of_points)
        return 0

    (scores,) = scores_of_points
    print_tables([_score_table(title, scores)])
    if signature:
        print_lines(f"BERTScore: {signature}")
    if options.out:
        write_scores(options.out, name, scores, signature)
    return 0


def _score_table(title: str, scores: Mapping[str, float]) -> Table:
    """List the scores of one system; numbers of rows without decimals."""
    rows = []
    for name, value in scores.items():
        is_count = "support" in name or isinstance(value, int)
        decimals = ".0f" if is_count else ".4f"
        rows.append((name, Formatted(value, decimals)))

    return Table(title, ("score", "value"), rows)


def _point_table(title: str, task: str, points: Sequence[Point], scores: Sequence[Scores]) -> Table:
    """Show the headline scores under each combination of settings."""
    names = [*headline_of(scores[0], [task]), "refused"]
    rows = []
    for point, of_point in zip(points, scores, strict=True):
        cells = [cell_of(of_point, name) for name in names]
        rows.append((*map(str, point.values()), *cells))

    return Table(title, (*points[0], *names), rows)


def _write_points(path: Path, name: str, points: Sequence[Point], scores: Sequence[Scores]) -> None:
    """Write the scores under each combination of settings, by its keys and values.

    Args:
        path: the JSON file.
        name: of what was scored (see `_examples`).
        points: the combinations.
        scores: of each combination.
    """
    named = {}
    for point, of_point in zip(points, scores, strict=True):
        settings = ", ".join(f"{key}={value}" for key, value in point.items())
        named[settings] = {name: of_point}

    write_json(path, named)


def _score(
    systems: Sequence[Any], examples: Sequence[Example], split: str
) -> tuple[list[Scores], str | None]:
    """Score every system on the same rows; also returns BERTScore's signature.

    Args:
        systems: copies of one system under different settings.
        examples: the rows.
        split: the split of the run that they are, whose data set then counts; empty: they are a
            file, and the run's own data set counts.
    """
    from heron.training.inference import predict_each

    predicted: Any = predict_each(systems, examples)
    all_scores: list[Scores] = []
    for system, (predictions, refused) in zip(systems, predicted, strict=True):
        config = system.config
        scores = predictions.scores(of_split(config, split))

        if config.task.metrics:
            columns = predictions.columns(config)
            scores |= further_scores(config.task.metrics, columns, config.task.name)

        # Rows that could not be used, such as one whose events the length limit cuts off.
        scores["refused"] = len(refused)
        all_scores.append(scores)

    config = systems[0].config
    text_scoring = text_scores(config.task.name)
    if text_scoring is None:
        return all_scores, None

    predictions, _ = predicted[0]
    references = [gold for gold in predictions.golds if gold is not None]
    return all_scores, text_scoring.signature(config, references)


def _examples(
    trained: Any, options: EvaluateOptions, words: Sequence[str]
) -> tuple[str, list[Example]]:
    """Read the examples to score; prints how many rows of a file are left out.

    Returns:
        A name for their scores (the split, or the file's name without suffixes), and the examples.
    """
    from heron.training.inference import changed_data, read_splits, require_unseen

    if options.input is None:
        split = options.split
        splits = read_splits(trained, words)
        if split not in splits:
            hint = nearest(split, splits)
            raise ConfigError(f"split={split}: no such split.{hint}")

        require_unseen(trained, split, splits[split], words)
        return split, splits[split]

    path = received(options.input)
    data = changed_data(trained, words)
    data_dir, cache_dir = trained.config.paths.folders
    rows = read_rows(path, data, labels="required", data_dir=data_dir, cache_dir=cache_dir)

    left_out = Counter(reason for reason, _ in rows.dropped)
    left_out["without a gold label"] += sum(rows.unlabelled.values())
    for reason, count in left_out.items():
        if count:
            print_lines(f"{path}: rows left out: {count} ({reason})")

    if not rows.examples:
        raise DataError(str(path), "no row can be scored: all are left out")
    return table_stem(path), rows.examples
