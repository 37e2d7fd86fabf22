"""`heron noise`: rank training examples by how suspicious their labels are."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.run_folder import folder_inside, open_run
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count, OneOf
from heron.config.parsing import DataFolders, parse_options
from heron.data.config import TRAIN
from heron.data.readers import load_run_data
from heron.dynamics.cartography import rank, statistics
from heron.dynamics.difficulty import COLUMNS, SCORES, difficulty
from heron.dynamics.files import read_dynamics
from heron.reports.pages import cut_text
from heron.training.stored import read_stored
from heron_tools.noise.grading import TRUTH, Detection, grade, scores_of, wrong_labels

_SHOWN = 5  # suspects that are printed; the file has all


@dataclass
class NoiseOptions(DataFolders):
    """Options of `heron noise`."""

    run: Path  # a run folder with dynamics
    # the score that ranks labels by suspicion
    score: Annotated[str, OneOf(*SCORES)] = "confidence"
    top: Count = 100  # number of examples to list
    out: Path | None = None  # default `<run>/noise`
    burn_out: Count | None = None  # use only the first records, so many


def run(arguments: Sequence[str]) -> int:
    """List the most suspicious labels; evaluate the scores if true labels are known."""
    options = parse_options(NoiseOptions, arguments)
    config = read_stored(open_run(options.run).config)
    config.paths.data = str(options.paths_data or config.paths.data)
    config.paths.cache = str(options.paths_cache or config.paths.cache)
    dynamics = read_dynamics(options.run)
    found = statistics(dynamics, burn_out=options.burn_out)
    examples = {example.guid: example for example in load_run_data(config).examples[TRAIN]}
    absent = [guid for guid in found.guids if guid not in examples]
    if absent:
        raise ConfigError(
            f"{options.run}: {len(absent)} examples of its dynamics are not in the train split of "
            f"{config.data.name} as it is now, first {absent[0]}"
        )
    ranked = rank(-difficulty(options.score, found), found.guids)[: options.top]
    chosen = [examples[found.guids[index]] for index in ranked]
    out = options.out or folder_inside(options.run, "noise")
    shown = dict.fromkeys((options.score, "confidence", "variability"))
    columns = {
        "rank": list(range(1, len(ranked) + 1)),
        "guid": [example.guid for example in chosen],
        "label": [example.label for example in chosen],
        **{name: COLUMNS[name].values(found)[ranked].tolist() for name in shown},
        "text": [example.text for example in chosen],
        "text_pair": [example.text_pair or "" for example in chosen],
    }
    if any(example.side.get(TRUTH) for example in examples.values()):
        columns["truth"] = [example.side.get(TRUTH) for example in chosen]
    write_table(out / "suspects.csv", columns)
    printed = ("guid", "label", options.score, "text")
    first = {name: columns[name][:_SHOWN] for name in printed}
    first["text"] = [cut_text(text, 60) for text in first["text"]]
    title = f"the {len(ranked)} most suspicious of {len(found.guids)} labels, the first of them"
    column = COLUMNS[options.score]
    unit = f" ({column.unit})" if column.unit else ""
    note = f"{options.score}: {column.formula}{unit}; the {column.hardest} values are suspicious."
    print_tables([Table(title, printed, tuple(zip(*first.values(), strict=True)), note)])
    wrong_N = wrong_labels(examples, found.guids)
    if wrong_N.any():
        texts = ((examples[guid].text, examples[guid].text_pair or "") for guid in found.guids)
        lengths_N = np.asarray([len(text) + len(pair) for text, pair in texts])
        graded = grade(scores_of(found, lengths_N, config.seed), wrong_N, found.gold_N)
        stored = {}
        for name, (of, within) in graded.items():
            first = {"examples": of.examples, "base_rate": of.base_rate, "auroc": of.auroc}
            stored[name] = {**first, "auroc_within_classes": within, **asdict(of)}
        write_json(out / "detection.json", stored)
        _show(graded, len(dynamics.epochs_E))
        print_lines(out / "detection.json")
    elif "truth" in columns:
        print_lines("no training label is known to be wrong: the scores cannot be evaluated")
    print_lines(out / "suspects.csv")
    return 0


def _show(graded: dict[str, tuple[Detection, float]], records: int) -> None:
    first, _ = next(iter(graded.values()))
    rows: list[tuple[Cell, ...]] = []
    for name, (found, within) in graded.items():
        values = [found.auroc, within, *found.precision.values()]
        values.append(found.decile_rate / found.base_rate if found.base_rate else float("nan"))
        rows.append((name, *(Formatted(value, ".3f") for value in values)))
    columns = ("score", "AUROC", "in class", *(f"P@{k}" for k in first.precision), "tenth / base")
    note = (
        f"{first.examples} examples, {first.base_rate:.1%} with a wrong label; {records} records. "
        "AUROC: probability that a wrong label ranks above a right one; in class: within one "
        "label; P@k: precision among the k most suspicious; tenth / base: share of wrong labels in "
        "the hardest tenth / share overall. class: an oracle that ranks by the share of wrong "
        "labels in each class."
    )
    print_tables([Table("wrong labels found", columns, tuple(rows), note)])
