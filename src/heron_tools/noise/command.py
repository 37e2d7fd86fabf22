"""`heron noise`: rank training examples by how suspicious their labels are."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from heron.base.cells import Formatted, Row, Table
from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.run_folder import folder_inside, open_run
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count, OneOf
from heron.config.parsing import DataFolders, parse_options
from heron.data.config import TRAIN
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.dynamics.cartography import rank, statistics
from heron.dynamics.difficulty import COLUMNS, SCORES, difficulty
from heron.dynamics.files import read_dynamics
from heron.reports.pages import cut_text
from heron.training.stored import read_stored
from heron_tools.noise.grading import TRUTH, Detection, grade, suspicion_scores, wrong_labels

_SHOWN = 5  # suspects that are printed; the file has all


@dataclass
class NoiseOptions(DataFolders):
    """Options of `heron noise`."""

    run: Path  # a run folder with dynamics
    # the score that ranks labels by suspicion
    score: Annotated[str, OneOf(*SCORES)] = "confidence"
    top: Count = 100  # number of examples to list
    out: Path | None = None  # default `<run>/noise`
    burn_out: Count | None = None  # number of records to use, from the first; default all


def run(arguments: Sequence[str]) -> int:
    """List the most suspicious labels; evaluate the scores if true labels are known.

    Args:
        arguments: `key=value` words of the command line; see `NoiseOptions`.

    Returns:
        The exit code.

    Raises:
        ConfigError: a wrong option, or dynamics of examples that the train split does not have.
    """
    options = parse_options(NoiseOptions, arguments)
    config = read_stored(open_run(options.run).config)
    config.paths.data = str(options.paths_data or config.paths.data)
    config.paths.cache = str(options.paths_cache or config.paths.cache)

    dynamics = read_dynamics(options.run)
    measured = statistics(dynamics, burn_out=options.burn_out)
    guids = measured.guids

    train = load_run_data(config).examples[TRAIN]
    examples = {example.guid: example for example in train}
    absent = [guid for guid in guids if guid not in examples]
    if absent:
        raise ConfigError(
            f"{options.run}: {len(absent)} examples of its dynamics are not in the train split of "
            f"{config.data.name} as it is now, first {absent[0]}"
        )

    difficulty_N = difficulty(options.score, measured)
    ranked = rank(-difficulty_N, guids)[: options.top]
    suspects = [examples[guids[row]] for row in ranked]
    columns: dict[str, list[Any]] = {
        "rank": list(range(1, len(suspects) + 1)),
        "guid": [example.guid for example in suspects],
        "label": [example.label for example in suspects],
    }
    for name in (options.score, "confidence", "variability"):
        values_N = COLUMNS[name].values(measured)
        columns[name] = values_N[ranked].tolist()

    columns["text"] = [example.text for example in suspects]
    columns["text_pair"] = [example.text_pair or "" for example in suspects]
    has_truth = any(example.side.get(TRUTH) for example in examples.values())
    if has_truth:
        columns["truth"] = [example.side.get(TRUTH) for example in suspects]

    out = options.out or folder_inside(options.run, "noise")
    suspects_path = out / "suspects.csv"
    write_table(suspects_path, columns)
    _show_suspects(options.score, suspects, columns[options.score], len(guids))

    wrong_N = wrong_labels(examples, guids)
    if wrong_N.any():
        lengths = []
        for guid in guids:
            example = examples[guid]
            lengths.append(len(example.text) + len(example.text_pair or ""))

        scores = suspicion_scores(measured, np.asarray(lengths), config.seed)
        graded = grade(scores, wrong_N, measured.gold_N)

        stored = {}
        for name, (detection, auroc_within_classes) in graded.items():
            stored[name] = {**asdict(detection), "auroc_within_classes": auroc_within_classes}

        detection_path = out / "detection.json"
        write_json(detection_path, stored)
        _show_detection(graded, len(dynamics.epochs_E))
        print_lines(detection_path)
    elif has_truth:
        print_lines("no training label is known to be wrong: the scores cannot be evaluated")

    print_lines(suspects_path)
    return 0


def _show_suspects(
    name: str, suspects: Sequence[Example], values: Sequence[float], total: int
) -> None:
    """Print the first suspects.

    Args:
        name: name of the score that ranks labels.
        suspects: the examples, the most suspicious first.
        values: the score of each.
        total: number of labels that were ranked.
    """
    rows = []
    for example, value in zip(suspects[:_SHOWN], values, strict=False):
        text = cut_text(example.text, 60)
        rows.append((example.guid, example.label, value, text))

    score = COLUMNS[name]
    unit = f" ({score.unit})" if score.unit else ""
    table = Table(
        title=f"the {len(suspects)} most suspicious of {total} labels, the first of them",
        columns=("guid", "label", name, "text"),
        rows=rows,
        note=f"{name}: {score.formula}{unit}; the {score.hardest} values are suspicious.",
    )
    print_tables([table])


def _show_detection(graded: Mapping[str, tuple[Detection, float]], records: int) -> None:
    """Print how well each score finds the wrong labels.

    Args:
        graded: by the name of the score; see `grade`.
        records: number of records in the run's dynamics.
    """
    rows: list[Row] = []
    for name, (detection, auroc_within_classes) in graded.items():
        lift = float("nan")
        if detection.base_rate:
            lift = detection.decile_rate / detection.base_rate

        values = [detection.auroc, auroc_within_classes, *detection.precision.values(), lift]
        cells = [Formatted(value, ".3f") for value in values]
        rows.append((name, *cells))

    # All scores are of the same examples, so the counts and the k of precision are equal.
    first, _ = next(iter(graded.values()))
    precisions = [f"P@{k}" for k in first.precision]
    columns = ("score", "AUROC", "in class", *precisions, "tenth / base")

    note = (
        f"{first.examples} examples, {first.base_rate:.1%} with a wrong label; {records} records. "
        "AUROC: probability that a wrong label ranks above a right one; in class: within one "
        "label; P@k: precision among the k most suspicious; tenth / base: share of wrong labels in "
        "the hardest tenth / share overall. class: an oracle that ranks by the share of wrong "
        "labels in each class."
    )
    print_tables([Table("wrong labels found", columns, rows, note)])
