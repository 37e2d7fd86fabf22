"""Options of `heron analyze`, and which of them an analysis refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import ConfigError
from heron.config.bertscore import BertScoreOptions
from heron.config.options import parse_options


@dataclass
class AnalyzeOptions(BertScoreOptions):
    """Options of `heron analyze`; `data.<key>=` overrides go to the data set.

    Args:
        run: a run folder, to slice its predictions.
        data: name of a data set, to describe it.
        sheet: a CSV file for people to judge gold answers: with `data` a new one is drawn, alone
            it is scored.
        split: which of the run's predictions: `test` (default), or `hebnli.test` of a further data
            set; of a sheet the data set's split (default `validation`).
        by: what to slice by: `reasoning`, `ttr`, `length`, `overlap`, or side columns; of question
            answering `question_word`, `answer_length`, `question_length`, `overlap_class`, or
            `answers` for the page; of summaries `article_length`, `summary_length`, `compression`,
            `novelty`, `statistics`, or `summaries` for the page; default all that the run's data
            can be sliced by. With a data set of summaries, side columns to tell them apart by.
        beside: run folders or tables of other systems, whose summaries the page shows as well, in
            the run's own `data.unicode`.
        types: a table of reasoning types (`guid`, `types`), for `by=reasoning`.
        bins: into how many bins numbers are put.
        words: what a word is: `words`, or `whitespace` (what stands between spaces).
        morphology: who finds lemmas: `simplemma`, `surface` (nobody), `stanza`; and morphemes:
            `stanza`, `conllu:FILE` (analyses made elsewhere), `simplemma-prefixes` (Hebrew).
        published: a paper's numbers to stand beside the statistics of summaries; default those of
            the paper that names the data set.
        texts: where to write a data set's articles and summaries for another tool to analyse.
        sample: how many questions a new sheet has.
        seed: of that sample, and of the draws behind intervals: of a sheet, of statistics of
            summaries, and of slices of questions and summaries (slices of other tasks take
            0).
        out: where files go; default `<run>/analysis`, or `runs/analysis/<data>`.
        paths_data: where data sets lie.
        paths_cache: where downloads and generated corpora lie.

    Of a data set of summaries also `bertscore=` and what belongs to it, for summaries beside their
    articles: `heron.config.bertscore`.
    """

    run: Path | None = None
    data: str | None = None
    sheet: Path | None = None
    split: str | None = None
    by: list[str] | None = None
    beside: list[str] | None = None
    types: Path | None = None
    bins: int = 5
    words: str = "words"
    morphology: str = "simplemma"
    published: Path | None = None
    texts: Path | None = None
    sample: int = 50
    seed: int = 0
    out: Path | None = None
    paths_data: Path | None = None
    paths_cache: Path | None = None


def parse(arguments: Sequence[str]) -> AnalyzeOptions:
    """Read the options of the command line.

    Raises:
        ConfigError: an unknown option, or options that do not go together.
    """
    try:
        # `paths.data` is no Python name.
        words = [word.replace("paths.", "paths_", 1) for word in arguments]
        options = parse_options(AnalyzeOptions, words)
    except ConfigError as error:
        raise ConfigError(str(error).replace("paths_", "paths.")) from error
    named = [options.run is not None, options.data is not None or options.sheet is not None]
    if sum(named) != 1:
        raise ConfigError("name either a run (run=DIR) or a data set (data=NAME)")
    if options.beside and options.run is None:
        raise ConfigError("beside= shows summaries beside those of a run: name it with run=DIR")
    if options.asked() and options.data is None:
        raise ConfigError("bertscore= compares a data set's articles and summaries: data=NAME")
    if options.bins < 1:
        raise ConfigError(f"bins={options.bins}: expected 1 or more")
    return options


def refuse(options: AnalyzeOptions, names: Sequence[str], why: str) -> None:
    """Refuse options that mean nothing here.

    Args:
        options: of the command.
        names: of those options.
        why: what the message says.

    Raises:
        ConfigError: one of them is given.
    """
    unset = type(options)()
    for name in names:
        value = getattr(options, name)
        if value != getattr(unset, name):
            value = ",".join(value) if isinstance(value, list) else value
            raise ConfigError(f"{name}={value}: {why}")
