"""`heron analyze` on a run of summaries: ROUGE slice by slice, and a page of all summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.analysis.options import AnalyzeOptions, refuse_others
from heron.analysis.writing import write, write_tables

if TYPE_CHECKING:
    from heron.analysis.score_slices import ScoreBreakdown
    from heron.analysis.summarized import SummarizedSplit
    from heron.config.schema import Config

PAGE = "summaries"  # the page of all summaries, as a value of by=
_OTHER_TASKS = ("types", "texts", "sample")


def analyze_summaries(
    options: AnalyzeOptions, overrides: Sequence[str], config: Config, folder: Path
) -> list[Path]:
    """Slice a run's summaries and show each beside its gold one; the model is not needed.

    Args:
        options: of the command.
        overrides: `data.<key>=` words, for side columns.
        config: the run's.
        folder: the run's.

    Returns:
        The files written: for each analysis `<split>-<by>.json` and `.png`, and the page.

    Raises:
        ConfigError: a wrong option, before the predictions are read; no such predictions.
        DataError: files that cannot be read, or systems of other data.
    """
    from heron.analysis.pairs import find_tokenizer
    from heron.analysis.summarized import read_summarized
    from heron.analysis.summary_checks import check_slices, open_tools
    from heron.analysis.summary_command import STATISTICS, run_statistics
    from heron.analysis.summary_slices import BY, summary_breakdown
    from heron.base.cells import SYNTHETIC
    from heron.base.run_folder import RunFolder
    from heron.base.terminal import print_tables
    from heron.config.settings import override
    from heron.results.reading import data_of
    from heron.results.systems import find_systems

    refuse_others(options, _OTHER_TASKS, "not for the summaries of a run")
    find_tokenizer(options.words)
    find_systems(options.beside or (), "beside")
    analyses = (*BY, STATISTICS, PAGE)
    name, wanted = options.split or "test", options.by or analyses
    data, _ = data_of(config, name)
    check_slices(wanted, analyses, override(data, overrides))
    if STATISTICS in wanted:
        tools = open_tools(options, data)
    else:
        refuse_others(options, ("morphology", "published"), f"only by={STATISTICS} uses it")
    if set(wanted) == {STATISTICS}:  # which need no scores
        return run_statistics(options, config, folder, tools)
    run, file = folder.resolve().name, RunFolder(folder).predictions(name)
    split = read_summarized(file, run, data.language, options.beside or (), name, data.unicode)
    target = options.out or folder / "analysis"
    title = f"{run}: {name}, {len(split.guids):,} articles"
    sheet = f"{title}  ·  {SYNTHETIC}" if data.synthetic else title
    # Before anything is written: the data may lack a column that it is said to have.
    sides = () if {*wanted} <= {*analyses} else _sides(options, overrides, config, split, name)
    files = []
    for by in wanted:
        stem = f"{name}-{by.replace('/', '_')}"
        if by == PAGE:
            files.append(_write_page(target, name, title, split, data.synthetic))
            continue
        if by == STATISTICS:
            files += run_statistics(options, config, folder, tools)
            continue
        found = summary_breakdown(by, split, options.bins, options.words, sides, options.seed)
        print_tables(found.tables)
        facts = {"split": name, "by": by, **found.facts}
        facts |= {"articles": len(split.guids), "unlabelled": split.unlabelled}
        # Names of analyses hold dots where a further data set is meant: no with_suffix here.
        files.append(write_tables(target / f"{stem}.json", facts, found.tables))
        files.append(write(target / f"{stem}.png", _figure(found, sheet)))
    return files


def _sides(
    options: AnalyzeOptions,
    overrides: Sequence[str],
    config: Config,
    split: SummarizedSplit,
    name: str,
) -> list[Mapping[str, object]]:
    """Read side columns of the run's data."""
    from heron.config.settings import override
    from heron.results.reading import data_of, find_examples

    data, inner = data_of(config, name)
    places = options.paths_data or config.paths.data, options.paths_cache or config.paths.cache
    found = find_examples(split.guids, inner, override(data, overrides), *map(Path, places))
    return [example.side for example in found]


def _write_page(
    target: Path, name: str, title: str, split: SummarizedSplit, synthetic: bool
) -> Path:
    from heron.analysis.summaries_page import summaries_page

    file = f"{PAGE}.html" if name == "test" else f"{name}-{PAGE}.html"
    return write(target / file, summaries_page(title, split, synthetic))


def _figure(found: ScoreBreakdown, title: str) -> bytes:
    """Draw ROUGE-1 by slice between what the two ways of copying reach there."""
    from heron.analysis.span_figures import Drawn, scores_figure
    from heron.base.cells import Interval
    from heron.base.plots import BLUE, GREEN, QUIET

    drawn = (
        Drawn("rouge1", "ROUGE-1", "D", BLUE, 0.0),
        Drawn("lead3_rouge1", "lead-3", "s", QUIET, 0.0),
        Drawn("oracle_rouge1", "oracle", "^", GREEN, 0.0),
    )
    cells = [one.scores[each.score] for one in found.slices for each in drawn]
    highs = [cell.high if isinstance(cell, Interval) else cell or 0.0 for cell in cells]
    table = found.tables[-1]
    whole = table.rows[-1][table.columns.index("rouge1")]
    value = whole.value if isinstance(whole, Interval) else float(str(whole))
    largest = min(1.0, 1.1 * max(highs, default=1.0)) or 1.0
    return scores_figure(found, f"{title}, ROUGE-1 {value:.3f}", value, drawn, largest)
