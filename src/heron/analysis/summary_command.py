"""`heron analyze` on articles and summaries: a data set's statistics, and a run's beside gold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heron.analysis.options import AnalyzeOptions, refuse_others
from heron.analysis.summary_checks import Tools, check_columns, no_column, open_tools
from heron.analysis.writing import write, write_tables
from heron.base.cells import Interval, Table, to_markdown
from heron.tasks.summarization.bertscore import compute_asked, require_asked

if TYPE_CHECKING:
    from heron.analysis.summary_measures import Definition, Shares
    from heron.analysis.summary_profile import Pair, Profile
    from heron.config.data import DataConfig
    from heron.config.schema import Config
    from heron.data.examples import Example
    from heron.languages.morphology import Morphology
    from heron.languages.spelling import Spell

STATISTICS = "statistics"  # stem of the files
ALL = "all"
_OTHER_TASKS = ("split", "types", "bins", "words", "sheet", "sample")
_WHY = "not for statistics of summaries"


def describe_summary_data(
    options: AnalyzeOptions,
    overrides: Sequence[str],
    config: DataConfig,
    data_dir: Path,
    cache_dir: Path,
) -> list[Path]:
    """Describe every split file that is there, and a column's values in it (`by=COLUMN`).

    Args:
        options: of the command; what is wrong with them is said before any data is read.
        overrides: `data.<key>=` words, for the record.
        config: the data set.
        data_dir: where data sets lie.
        cache_dir: where downloads and generated corpora lie.

    Returns:
        The files written: `statistics.md`, `.json` and `.csv`, `lengths.png`; with `texts=FILE`
        that file alone, the texts for another tool to analyse.
    """
    from heron.analysis.summary_measures import definitions, measure
    from heron.analysis.summary_tables import (
        morphology_table,
        nearest_table,
        share_table,
        text_table,
    )
    from heron.results.shipped import read_shipped

    refuse_others(options, _OTHER_TASKS, _WHY)
    check_columns(options.by or (), config)
    require_asked(options.asked())
    tools = None if options.texts else open_tools(options, config)
    shipped = read_shipped(config, data_dir, cache_dir)
    sets = _sets(shipped.splits, options.by)
    if tools is None:
        assert options.texts is not None
        return [_write_texts(options.texts, sets)]
    morphology, published = tools
    found = _profiles(sets, morphology)
    measured = {name: measure(one, options.seed) for name, one in found.items()}
    ways = {name: definitions(one, published) for name, one in found.items()}
    similarity = _similarity(sets, options)
    tables = [
        text_table(found, published, similarity.means, similarity.note()),
        morphology_table(found, morphology),
        share_table(measured, {n: len(one) for n, one in found.items()}, published, morphology),
        *([nearest_table(ways)] if published else []),
    ]
    facts = {
        "data": config.name,
        "overrides": list(overrides),
        "morphology": morphology.name,
        "note": morphology.note,
        "paper": published.paper if published else None,
        "sha256": shipped.sha256,
        "missing": sorted(shipped.missing),
        "bertscore": similarity._asdict() if similarity.signature else None,
        "sets": {name: _counts(one, ways[name]) for name, one in found.items()},
    }
    target = options.out or Path("runs") / "analysis" / config.name
    for name, path in shipped.missing.items():
        print(f"missing: {name} ({path})")
    return _write(target, STATISTICS, config.name, config, facts, tables, found, measured, ways)


def run_statistics(
    options: AnalyzeOptions, config: Config, folder: Path, tools: Tools
) -> list[Path]:
    """Set a run's summaries beside the gold ones: novelty, compression, repetition.

    Neither the model nor the data set is needed: the predictions hold the articles.

    Args:
        options: of the command.
        config: the run's.
        folder: the run's.
        tools: see `open_tools`.

    Returns:
        The files written: `<split>-statistics.md`, `.json`, `.csv` and `.png`.
    """
    from heron.analysis.summary_measures import compare_profiles, definitions, measure
    from heron.analysis.summary_tables import morphology_table, system_table
    from heron.languages.spelling import speller
    from heron.results.reading import data_of

    name = options.split or "test"
    data, _ = data_of(config, name)
    gold, system = _predicted(folder, name, speller(data.language, data.unicode))
    morphology, published = tools
    found = _profiles({"gold": gold, "system": system}, morphology)
    measured = {each: measure(one, options.seed) for each, one in found.items()}
    compared = compare_profiles(found["system"], found["gold"], options.seed)
    tables = [
        system_table(compared, len(gold), published),
        morphology_table(found, morphology),
    ]
    ways = {each: definitions(one, None) for each, one in found.items()}
    facts = {
        "split": name,
        "by": STATISTICS,
        "morphology": morphology.name,
        "note": morphology.note,
        "empty": compared.empty,
        "sets": {each: _counts(one, ways[each]) for each, one in found.items()},
    }
    target = options.out or folder / "analysis"
    title = f"{folder.resolve().name}: {name}"
    stem = f"{name}-{STATISTICS}"
    return _write(target, stem, title, data, facts, tables, found, measured, ways)


class _Similarity(NamedTuple):
    """How like summaries are to their articles, by set of pairs; empty where nobody asked."""

    means: dict[str, float]
    left_out: dict[str, int]  # pairs with a text that is longer than the encoder reads
    signature: str | None

    def note(self) -> str:
        """Say what was compared, for the table."""
        if self.signature is None:
            return ""
        left_out = f"{self.left_out[ALL]:,} pairs left out as too long"
        return f"BERTScore: F1 of summary and article, {self.signature}; {left_out}."


def _similarity(sets: Mapping[str, Sequence[Pair]], options: AnalyzeOptions) -> _Similarity:
    """Compute BERTScore of summaries beside their articles, as the paper's Table 1.

    Summaries are the references, whose states are kept: F1 is the same either way, and articles
    are long.
    """
    config = options.asked()
    if config is None:
        return _Similarity({}, {}, None)
    every = [pair for pairs in sets.values() for pair in pairs]
    texts = [pair.article for pair in every], [pair.summary for pair in every]
    found = compute_asked(*texts, config, options.paths_cache)
    f1_N = found.items["bertscore_f1"]
    ends = np.cumsum([len(pairs) for pairs in sets.values()])
    parts = dict(zip(sets, np.split(f1_N, ends[:-1]), strict=True)) | {ALL: f1_N}
    scored = {name: part_N[np.isfinite(part_N)] for name, part_N in parts.items()}
    means = {name: float(part_N.mean()) for name, part_N in scored.items() if part_N.size}
    left_out = {name: part_N.size - scored[name].size for name, part_N in parts.items()}
    return _Similarity(means, left_out, found.signature)


def _sets(
    splits: Mapping[str, Sequence[Example]], by: Sequence[str] | None
) -> dict[str, list[Pair]]:
    """Name the sets of pairs to describe: splits, or in each of them a column's values."""
    from heron.analysis.summary_profile import Pair

    sets: dict[str, list[Pair]] = {}
    for split, examples in splits.items():
        for example in examples:
            if example.target is not None:
                name = ", ".join([split, *(_side(example, column) for column in by or ())])
                pair = Pair(example.text, example.target, example.group)
                sets.setdefault(name, []).append(pair)
    return sets


def _side(example: Example, column: str) -> str:
    if column not in example.side:
        raise no_column(column, list(example.side))
    return str(example.side[column])


def _profiles(sets: Mapping[str, Sequence[Pair]], morphology: Morphology) -> dict[str, Profile]:
    """Count each set, and where there are several of one data set all of them together."""
    from heron.analysis.summary_profile import merge, profile

    found = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if len(found) > 1 and "gold" not in found:
        found[ALL] = merge(list(found.values()))
    if not found:
        found[ALL] = profile([], morphology)  # says that there is none
    return found


def _predicted(folder: Path, split: str, spell: Spell) -> tuple[list[Pair], list[Pair]]:
    """Read a run's articles with their gold summaries, and with the run's own, spelt alike."""
    from heron.analysis.summarized import read_written
    from heron.analysis.summary_profile import Pair
    from heron.base.run_folder import RunFolder

    found = read_written(RunFolder(folder).predictions(split))
    articles = list(map(spell, found.articles))
    gold, system = (
        [Pair(*each) for each in zip(articles, map(spell, texts), found.groups, strict=True)]
        for texts in (found.golds, found.texts)
    )
    return gold, system


def _write_texts(path: Path, sets: Mapping[str, Sequence[Pair]]) -> Path:
    """Write every text once, for a tool that analyses them (`morphology=conllu:FILE`)."""
    from heron.base.tables import write_table

    texts = dict.fromkeys(t for pairs in sets.values() for p in pairs for t in p[:2])
    write_table(path, {"text": list(texts)})
    return path


def _counts(one: Profile, ways: Sequence[Definition]) -> dict[str, Any]:
    """Turn a profile into JSON's own types."""
    sides = {}
    for name, side in (("articles", one.articles), ("summaries", one.summaries)):
        sides[name] = dataclasses.asdict(side) | {"lemmas": len(side.lemmas)}
    units = {}
    for unit, tally in one.tallies.items():
        article_N, summary_N = tally.lengths()
        in_articles, in_summaries = tally.vocabularies
        units[unit] = {
            "article_length": float(article_N.mean()),
            "summary_length": float(summary_N.mean()),
            "article_vocabulary": in_articles,
            "summary_vocabulary": in_summaries,
        }
    plain = [way._asdict() | {"shares": _finite(way.shares)} for way in ways]
    return {"rows": len(one), **sides, "units": units, "definitions": plain}


def _finite(shares: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in shares.items()}


def _write(
    target: Path,
    stem: str,
    title: str,
    config: DataConfig,
    facts: Mapping[str, Any],
    tables: Sequence[Table],
    found: Mapping[str, Profile],
    measured: Mapping[str, Mapping[str, Shares]],
    ways: Mapping[str, Sequence[Definition]],
) -> list[Path]:
    """Print tables and write them as Markdown, JSON and CSV, with the figure."""
    from heron.analysis.summary_figures import summaries_figure
    from heron.base.cells import SYNTHETIC
    from heron.base.tables import write_table
    from heron.base.terminal import print_tables

    print_tables(tables)
    heading = f"{title}  ·  {SYNTHETIC}" if config.synthetic else title
    text = f"# {heading}\n\n" + "\n".join(map(to_markdown, tables))
    # Names of splits hold dots where a further data set is meant: no with_suffix here.
    image = target / (f"{stem}.png" if stem != STATISTICS else "lengths.png")
    files = [
        write(target / f"{stem}.md", text),
        write_tables(target / f"{stem}.json", facts, tables),
        target / f"{stem}.csv",
        write(image, summaries_figure(found, heading)),
    ]
    write_table(files[2], _columns(measured, ways))
    return files


def _columns(
    measured: Mapping[str, Mapping[str, Shares]], ways: Mapping[str, Sequence[Definition]]
) -> dict[str, list[Any]]:
    """Lay every share of every definition out, one a row; intervals for what tables show."""
    from heron.analysis.summary_measures import AVERAGE, COUNT

    names = ("texts", "tokens", "count", "average", "statistic", "value", "low", "high")
    rows: list[tuple[Any, ...]] = []
    for name, each in ways.items():
        for way in each:
            shown = (way.counted, way.average) == (COUNT, AVERAGE)
            for key, value in _finite(way.shares).items():
                interval = measured[name][way.unit][key] if shown else None
                bounds = interval[1:] if isinstance(interval, Interval) else (None, None)
                rows.append((name, way.unit, way.counted, way.average, key, value, *bounds))
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}
