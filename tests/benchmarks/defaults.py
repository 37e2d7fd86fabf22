"""heron with nothing but `data=` and `encoder=`, beside the Trainer as a script sets it up.

Same encoder, rows, tokens and splits; scores are those on validation, test splits are not read.
Both sides leave a run folder, so a training that is there is not run again, and `heron compare`
tests the difference: paired, over documents where the data have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from heron.base.errors import HeronError
from heron.base.files import read_json, write_json
from heron.base.run_folder import RunFolder
from heron.base.terminal import tracked
from heron.config.constraints import Count, OneOf, Share
from heron.results.comparison import AgainstBaseline
from heron.results.run_comparison import CompareOptions, compare
from heron.results.systems import find_systems

from .apart import adopt_orphans, call, needed, processor_seconds
from .frame import Found, Out, Row, Times, ratios

# The Trainer's settings: batch, learning rate, epochs. Those of TrainingArguments, and those of
# the commands in the README files of transformers' examples.
ARGUMENTS = (8, 5e-5, 3)
QUESTIONS = (12, 3e-5, 2)
SUMMARIES = (4, 5e-5, 3)
SIDES = ("trainer", "heron")


@dataclass(frozen=True)
class Work:
    """A training: the words of the command, the rival's settings, and the share of train rows."""

    words: Sequence[str]
    settings: tuple[int, float, int]
    metric: str = "macro_f1"
    share: float = 1.0
    encoder: str = ""  # a folder beside `HERON_ENCODER`


_INDONLI = (
    "data=own_nli",
    "data.name=indonli",
    "data.language=id",
    "data.files.train.path=forks/indonli/val.jsonl",
)
WORKS = {
    "sentiment": Work(["data=hebrew_sentiment"], ARGUMENTS, share=0.34),
    "indonli": Work(_INDONLI, ARGUMENTS),
    "ronli": Work(["data=ronli_dev"], ARGUMENTS),
    "trc": Work(["data=trc"], ARGUMENTS, share=0.35),
    "parashoot": Work(["data=parashoot_dev"], QUESTIONS, "f1"),
    "xquad": Work(["data=xquad_ro_train"], QUESTIONS, "f1"),
    "hesum": Work(
        ["data=hesum_subset", "head=seq2seq"], SUMMARIES, "rouge1", encoder="tiny-longt5-he-ro"
    ),
}


@dataclass
class Options(Out):
    """Options of the benchmark."""

    only: list[Annotated[str, OneOf(*WORKS)]] = field(default_factory=lambda: list(WORKS))
    sides: list[Annotated[str, OneOf(*SIDES)]] = field(default_factory=lambda: list(SIDES))
    seeds: Count = 3
    share: Share = 1.0  # of the train rows of each set, beside the set's own
    overrides: list[str] = field(default_factory=list)  # heron's, to try other defaults
    name: str = "heron"  # folder of heron's runs, one for each choice of overrides


def run(options: Options) -> Found:
    """Train what is missing, and set the sides beside each other."""
    encoder, data = needed(HERON_ENCODER="config.json", HERON_DATA="README.md")
    adopt_orphans()
    plan = []
    for seed in range(options.seeds):
        for work in options.only:
            plan += [(work, side, seed) for side in options.sides]
    for work, side, seed in tracked(plan, "training"):
        _train(options, work, side, seed, encoder, data)

    rows = []
    if len(options.sides) == len(SIDES):
        for work in options.only:
            rows += _compare(options, work)
    return Found(rows)


def _folder(options: Options, work: str, side: str) -> Path:
    name = side if side == "trainer" else options.name
    return options.out.resolve() / "defaults" / f"{work}-{options.share}" / name


def _train(options: Options, name: str, side: str, seed: int, encoder: Path, data: Path) -> None:
    """Train one run in a process of its own, and note its processor seconds beside it."""
    work = WORKS[name]
    folder = _folder(options, name, side) / f"seed={seed}"
    if RunFolder(folder).state() == "done":
        return

    words = [
        *work.words,
        f"paths.data={data}",
        f"encoder={encoder.parent / work.encoder if work.encoder else encoder}",
        f"data.sample.fraction={work.share * options.share}",
        f"seed={seed}",
    ]
    before = processor_seconds()
    if side == "trainer":
        settings = map(str, work.settings)
        call("tests.benchmarks.hf_defaults", folder, *settings, *words)
    else:
        place = (f"paths.runs={folder.parent}", "run.sweep=.", f"run.job={folder.name}")
        no_test = "trainer.limit_test_batches=0"
        call("heron", "train", *words, *place, no_test, *options.overrides)
    write_json(folder / "processor.json", {"seconds": processor_seconds() - before})


def _compare(options: Options, name: str) -> list[Row]:
    """Compare processor time, peak memory and validation score of one set."""
    work = WORKS[name]
    folders = {side: _folder(options, name, side) for side in SIDES}
    seconds: Times = {}
    peaks: Times = {}
    for side, folder in folders.items():
        runs = sorted(folder.glob("seed=*"))[: options.seeds]
        statuses: list[dict[str, Any]] = [read_json(run / "status.json") for run in runs]
        seconds[side] = [read_json(run / "processor.json")["seconds"] for run in runs]
        peaks[side] = [status["peak_rss_mb"] for status in statuses]

    options_of_test = CompareOptions(
        split="validation", metric=work.metric, against="trainer", draws=10_000
    )
    systems = find_systems([str(folders[side]) for side in SIDES])
    if len(systems) != len(SIDES):
        raise HeronError(f"{name}: {len(systems)} systems, not {len(SIDES)}")
    own, rival = sorted(compare(systems, options_of_test).systems, key=lambda s: s.against is None)
    test = own.against
    assert isinstance(test, AgainstBaseline)
    difference = [test.bootstrap.low, test.bootstrap.difference, test.bootstrap.high]
    scores = f"{work.metric} {mean(own.scores):.3f} beside {mean(rival.scores):.3f}"
    return [
        Row(f"{name}: {scores}", "Trainer", difference, "", "≥ 0"),
        Row(f"{name}: processor time", "Trainer", ratios(seconds, *SIDES), limit="≥ 2"),
        Row(f"{name}: peak memory", "Trainer", ratios(peaks, *SIDES), "times as small", "≥ 3"),
    ]
