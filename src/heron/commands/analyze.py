"""`heron analyze`: a run's scores slice by slice, or a data set's statistics.

Question answering and summarization have analyses of their own: `question_command`,
`summary_command`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from heron.analysis.options import AnalyzeOptions, parse, refuse_others
from heron.analysis.writing import write, write_tables
from heron.base.cells import to_markdown
from heron.base.errors import ConfigError
from heron.base.files import write_json

if TYPE_CHECKING:
    from heron.analysis.breakdown import Subject
    from heron.config.data import DataConfig
    from heron.config.schema import Config
    from heron.results.reading import Predicted

_OF_OTHER_TASKS = ("published", "texts", "sample")  # of questions and summaries


def run(arguments: Sequence[str]) -> int:
    """Analyse a run, a data set or a sheet; prints tables, writes files; returns the exit code."""
    overrides = [word for word in arguments if word.startswith("data.")]
    options = parse([word for word in arguments if word not in overrides])
    if options.run is not None:
        files = analyze_run(options, overrides)
    elif options.data is None:
        from heron.analysis.question_command import score_sheet

        files = score_sheet(options)
    else:
        files = describe_data(options, overrides)
    print(*files, sep="\n")
    return 0


def analyze_run(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Slice a run's stored predictions; the model is not needed.

    Returns:
        The files written: for each analysis `<split>-<by>.json` and `.png`.
    """
    from heron.analysis.breakdown import breakdown
    from heron.analysis.figures import breakdown_figure
    from heron.base.run_folder import open_run
    from heron.base.terminal import print_tables
    from heron.config.checks import read_stored

    assert options.run is not None
    folder = open_run(options.run)
    config = read_stored(folder.config)
    if options.beside and config.data.task != "summarization":
        raise ConfigError("beside=: only runs of summaries have a page that shows several systems")
    if config.data.task == "qa":
        from heron.analysis.question_command import analyze_answers

        return analyze_answers(options, overrides, config, folder.path)
    if config.data.task == "summarization":
        from heron.analysis.run_summaries import analyze_summaries

        return analyze_summaries(options, overrides, config, folder.path)
    refuse_others(options, _OF_OTHER_TASKS, f"not for a run of task={config.data.task}")
    split = options.split or "test"
    subject, predicted = _subject(options, overrides, config, split)
    overall = float(subject.answers.correct_N.mean()) if predicted.examples else 0.0
    target = options.out or folder.path / "analysis"
    files = []
    for by in options.by or _possible(subject):
        found = breakdown(by, subject)
        print_tables(found.tables)
        stem = f"{split}-{by.replace('/', '_')}"
        rows = f"{split}, {len(predicted.examples):,} rows"
        title = f"{folder.path.resolve().name}: {rows}, accuracy {overall:.3f}"
        facts = {"split": split, "by": by, "words": options.words, **found.facts}
        facts |= {"rows": len(predicted.examples), "unlabelled": predicted.unlabelled}
        files.append(write_tables(target / f"{stem}.json", facts, found.tables))
        files.append(write(target / f"{stem}.png", breakdown_figure(found, title, overall)))
    return files


def _subject(
    options: AnalyzeOptions, overrides: Sequence[str], config: Config, name: str
) -> tuple[Subject, Predicted]:
    """Read predictions and examples, and say what the rows' intervals must keep together."""
    import numpy as np

    from heron.analysis.breakdown import Subject
    from heron.analysis.pairs import find_tokenizer
    from heron.analysis.rates import group_ids
    from heron.analysis.slices import Answers
    from heron.base.run_folder import RunFolder
    from heron.config.settings import override
    from heron.languages import get_language
    from heron.languages.morphology import load_morphology
    from heron.results.reading import data_of, read_predicted, read_types

    tokenize = find_tokenizer(options.words)
    assert options.run is not None
    data, split = data_of(config, name)
    predicted = read_predicted(
        RunFolder(options.run).predictions(name),
        split,
        override(data, overrides),
        options.paths_data or Path(config.paths.data),
        options.paths_cache or Path(config.paths.cache),
    )
    examples = predicted.examples
    groups = group_ids([example.group or example.text for example in examples])
    right = np.asarray(predicted.gold, dtype=object) == np.asarray(predicted.prediction, object)
    guids = [example.guid for example in examples]
    subject = Subject(
        examples,
        Answers(predicted.gold, right.astype(bool), groups),
        config.data.label_order,
        tokenize,
        partial(load_morphology, options.morphology, get_language(data.language)),
        options.bins,
        read_types(options.types, guids) if options.types else None,
        "row" if len(set(groups.tolist())) == len(guids) else "whole document (or premise)",
    )
    return subject, predicted


def _possible(subject: Subject) -> list[str]:
    """Name the analyses that this split can have."""
    pairs = bool(subject.examples) and subject.examples[0].text_pair is not None
    side = bool(subject.examples) and "reasoning" in subject.examples[0].side
    types = side or subject.types is not None
    return [*(["reasoning"] if types else []), "ttr", "length", *(["overlap"] if pairs else [])]


def describe_data(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Describe every split file that is there, as it was shipped.

    Returns:
        The files written: `statistics.md` and `statistics.json`, and those of questions.
    """
    from heron.analysis.diversity import WINDOW
    from heron.analysis.pairs import find_tokenizer
    from heron.analysis.statistics import split_statistics, statistics_table
    from heron.base.folders import default_cache_dir, default_data_dir
    from heron.base.terminal import print_tables
    from heron.config.data_words import configure
    from heron.languages import get_language
    from heron.languages.morphology import load_morphology
    from heron.results.shipped import read_shipped

    tokenize = find_tokenizer(options.words)
    assert options.data is not None
    config = configure(options.data, overrides)
    if options.bertscore and config.task != "summarization":
        raise ConfigError(f"bertscore= compares articles and summaries, not task={config.task}")
    if config.task != "summarization":
        of_runs = ("by", "types", "bins") if options.sheet else ("by", "types", "bins", "split")
        why = f"slices a run (run=DIR); statistics of data={config.name} are of all its rows"
        refuse_others(options, of_runs, why)
    if config.task == "qa" or options.sheet is not None:
        return _describe_questions(options, overrides, config)
    if config.task == "summarization":
        return _describe_summaries(options, overrides, config)
    refuse_others(options, _OF_OTHER_TASKS, f"not for a data set of task={config.task}")
    backend = load_morphology(options.morphology, get_language(config.language))
    places = options.paths_data or default_data_dir(), options.paths_cache or default_cache_dir()
    shipped = read_shipped(config, *places)
    note = f"Means over rows; lengths in words (words={options.words}). Lemmas by {backend.name}."
    found = {
        split: split_statistics(examples, config.label_order, tokenize, backend)
        for split, examples in shipped.splits.items()
    }
    tables = [statistics_table(split, described, note) for split, described in found.items()]
    print_tables(tables)
    for name, path in shipped.missing.items():
        print(f"missing: {name} ({path})")
    facts = {
        "data": config.name,
        "overrides": list(overrides),
        "words": options.words,
        "morphology": backend.name,
        "mattr_window": WINDOW,
        "sha256": shipped.sha256,
        "missing": sorted(shipped.missing),
        "splits": {
            split: {name: dataclasses.asdict(one) for name, one in described.items()}
            for split, described in found.items()
        },
    }
    target = options.out or Path("runs") / "analysis" / config.name
    write_json(target / "statistics.json", facts)
    text = f"# {config.name}\n\n" + "\n".join(map(to_markdown, tables))
    return [write(target / "statistics.md", text), target / "statistics.json"]


def _describe_questions(
    options: AnalyzeOptions, overrides: Sequence[str], config: DataConfig
) -> list[Path]:
    from heron.analysis.question_command import OTHER_TASKS, WHY, describe_questions, draw_sheet
    from heron.base.folders import default_cache_dir, default_data_dir
    from heron.results.shipped import read_shipped

    refuse_others(options, OTHER_TASKS, WHY)
    if config.task != "qa":
        raise ConfigError(f"sheet={options.sheet}: {config.name} has no answers to judge")
    places = options.paths_data or default_data_dir(), options.paths_cache or default_cache_dir()
    shipped = read_shipped(config, *places)
    if options.sheet is not None:
        return draw_sheet(options, shipped)
    return describe_questions(options, overrides, shipped)


def _describe_summaries(
    options: AnalyzeOptions, overrides: Sequence[str], config: DataConfig
) -> list[Path]:
    from heron.analysis.summary_command import describe_summary_data
    from heron.base.folders import default_cache_dir, default_data_dir

    places = options.paths_data or default_data_dir(), options.paths_cache or default_cache_dir()
    return describe_summary_data(options, overrides, config, *places)
