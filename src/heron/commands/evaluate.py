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
from heron.commands.run_settings import read_points, sort_words
from heron.config.parsing import parse_options
from heron.data.examples import Example
from heron.data.readers import of_split, read_rows
from heron.metrics.names import further_scores
from heron.results.collect import cell_of, headline_of
from heron.tasks.summarization.scores import BertScoreOptions, write_scores
from heron.tasks.task import text_scores


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
    asked, points = options.bertscore_config(), read_points(words.settings)
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
    texts = text_scores(task)
    more = {}
    if asked:
        if texts is None or not texts.by_encoder:
            raise ConfigError(f"bertscore= scores summaries, not task={task}")
        more = {"task.bertscore": asdict(asked)}
    systems = [first.with_settings(point | more) for point in points]
    if texts:  # before minutes of predictions
        texts.require(systems[0].config)
    split, examples = _examples(systems[0], options, words.data)
    found, signature = _score(systems, examples, "" if options.input else split)
    title = f"{', '.join(str(folder.path) for folder in folders)} on {split}"
    if len(points) == 1:
        values = {
            name: Formatted(v, ".0f" if "support" in name or isinstance(v, int) else ".4f")
            for name, v in found[0].items()
        }
        table = Table(title, ("score", "value"), tuple(values.items()))
        print_tables([table])
        if signature:
            print_lines(f"BERTScore: {signature}")
        if options.out:
            write_scores(options.out, split, found[0], signature)
        return 0
    pairs = list(zip(points, found, strict=True))
    names = [*headline_of(found[0], [task]), "refused"]
    rows = tuple(
        (*map(str, point.values()), *(cell_of(scores, name) for name in names))
        for point, scores in pairs
    )
    print_tables([Table(title, (*points[0], *names), rows)])
    if options.out:
        named = {", ".join(f"{key}={value}" for key, value in p.items()): s for p, s in pairs}
        write_json(options.out, {name: {split: scores} for name, scores in named.items()})
    return 0


def _score(
    systems: Sequence[Any], examples: Sequence[Example], split: str
) -> tuple[list[Mapping[str, float]], str | None]:
    """Score every system on the same rows; also returns BERTScore's signature."""
    from heron.training.inference import predict_each

    each: Any = predict_each(systems, examples)
    found: list[Mapping[str, float]] = []
    for system, (predictions, refused) in zip(systems, each, strict=True):
        task = system.config.task
        scores = predictions.scores(of_split(system.config, split))
        if task.metrics:
            columns = predictions.columns(system.config)
            scores |= further_scores(task.metrics, columns, task.name)
        found.append({**scores, "refused": len(refused)})
    config = systems[0].config
    texts = text_scores(config.task.name)
    if texts is None:
        return found, None
    references = [gold for gold in each[0][0].golds if gold is not None]
    return found, texts.signature(config, references)


def _examples(
    trained: Any, options: EvaluateOptions, words: Sequence[str]
) -> tuple[str, list[Example]]:
    """Read the examples to score, and name them; says how many rows of a file are left out."""
    split, path = options.split, options.input and received(options.input)
    from heron.training.inference import changed_data, read_splits, require_unseen

    if path is None:
        splits = read_splits(trained, words)
        if split not in splits:
            raise ConfigError(f"split={split}: no such split.{nearest(split, splits)}")
        require_unseen(trained, split, splits[split], words)
        return split, splits[split]
    paths, data = trained.config.paths, changed_data(trained, words)
    rows = read_rows(path, data, "required", "raise", Path(paths.data), Path(paths.cache))
    left_out = Counter(reason for reason, _ in rows.dropped)
    left_out["without a gold label"] += sum(rows.unlabelled.values())
    print_lines(*(f"{path}: rows left out: {n} ({reason})" for reason, n in (+left_out).items()))
    if not rows.examples:
        raise DataError(str(path), "no row can be scored: all are left out")
    return table_stem(path), rows.examples
