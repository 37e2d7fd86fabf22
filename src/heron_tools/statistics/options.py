"""Options of `heron analyze`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.config.constraints import Count, OneOf, Seed
from heron.config.parsing import DataFolders, parse_with_data
from heron.languages.words import TOKENIZERS
from heron.tasks.scoring import BertScoreOptions

ALWAYS = ("file", "line")  # side columns of every data set


@dataclass
class AnalyzeOptions(DataFolders, BertScoreOptions):
    """Options of `heron analyze`; BERTScore compares a data set's summaries with their articles."""

    run: Path | None = None  # a run folder, to slice its predictions
    data: str | None = None  # name of a data set, to describe it
    # A CSV file for people to judge gold answers: drawn with `data`, scored without.
    sheet: Path | None = None
    # Split of the run's predictions: `test` (default), or `hebnli.test` of a further data set; with
    # `sheet`, the data set's split (default `validation`).
    split: str | None = None
    # What to slice by: `reasoning`, `ttr`, `length`, `overlap`, or side columns; for question
    # answering `question_word`, `answer_length`, `question_length`, `overlap_class`, or `answers`
    # (the page); for summaries `article_length`, `summary_length`, `compression`, `novelty`,
    # `statistics`, or `summaries` (the page). Default: all that apply to the run's data. With
    # `data` of summaries: side columns to group by.
    by: list[str] | None = None
    # Run folders or tables of other systems, whose summaries the page shows as well; compared by
    # the run's `data.unicode`.
    beside: list[str] | None = None
    types: Path | None = None  # a table of reasoning types (`guid`, `types`), for `by=reasoning`
    bins: Count = 5  # number of bins of a numeric column
    words: Annotated[str, OneOf(*TOKENIZERS)] = "words"  # tokenization: `words`, or `whitespace`
    # Lemmas by `simplemma`, `stanza` or `surface` (word forms); also morphemes by `stanza`,
    # `conllu:FILE` (output of another parser) or `simplemma-prefixes` (Hebrew).
    morphology: str = "simplemma"
    # A file with a paper's numbers to show beside statistics of summaries; default: those of the
    # data set's paper.
    published: Path | None = None
    # A file to write a data set's articles and summaries to, for another parser.
    texts: Path | None = None
    sample: int = 50  # number of questions of a new sheet
    # Of that sample, and of bootstrap intervals: of sheets, statistics of summaries, and slices of
    # questions and summaries (slices of other tasks use seed 0).
    seed: Seed = 0
    out: Path | None = None  # output folder; default `<run>/analysis`, or `runs/analysis/<data>`

    @property
    def tokenize(self) -> Callable[[str], list[str]]:
        """The tokenization."""
        return TOKENIZERS[self.words]


def parse(arguments: Sequence[str]) -> tuple[AnalyzeOptions, list[str]]:
    """Read the options of the command line, and the overrides `data.<key>=`.

    Raises:
        ConfigError: an unknown option, or options that do not go together.
    """
    options, overrides = parse_with_data(AnalyzeOptions, arguments)
    has_run = options.run is not None
    has_data = options.data is not None or options.sheet is not None
    if has_run == has_data:
        raise ConfigError("name either a run (run=DIR) or a data set (data=NAME)")

    return options, overrides


def say_unused(options: AnalyzeOptions, names: Sequence[str]) -> None:
    """Warn about options that are given but have no effect here."""
    defaults = type(options)()
    unused = [name for name in names if getattr(options, name) != getattr(defaults, name)]
    if unused:
        say(f"{', '.join(unused)}: no effect here")
