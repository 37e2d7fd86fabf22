"""Slice a run's stored predictions; the model is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.cells import with_synthetic
from heron.base.run_folder import RunFolder, folder_inside, open_run
from heron.results.frame import Frame, predictions_file, read_frame
from heron.results.shipped import data_of, find_examples
from heron.results.systems import named_paths, read_systems
from heron.tasks.config import Config
from heron.training.overrides import override
from heron.training.stored import read_stored
from heron_tools.analysis import run_analysis
from heron_tools.analysis.base import Outcome, RunAnalysis, Split
from heron_tools.analysis.files import write_outcome
from heron_tools.analysis.options import AnalyzeOptions

if TYPE_CHECKING:
    from heron.data.examples import Example


def analyze_run(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Run the analyses of a run's predictions.

    Args:
        options: of the command.
        overrides: `data.<key>=` words.

    Returns:
        The files written: for each analysis `<split>-<by>.json` and `.png`, or its page.

    Raises:
        ConfigError: a wrong option, or no such predictions.
        DataError: unreadable files, or files of other data.
    """
    assert options.run is not None
    analysis = open_analysis(options, overrides)
    wanted = options.by or analysis.defaults()
    for by in wanted:
        analysis.check_column(by)
    target = options.out or folder_inside(options.run, "analysis")
    return [path for by in wanted for path in _write(analysis, by, target)]


def open_analysis(options: AnalyzeOptions, overrides: Sequence[str] = ()) -> RunAnalysis:
    """Open the analyses of a run's split; its predictions are read on first use.

    Raises:
        ConfigError: a wrong option, or no such run.
    """
    assert options.run is not None
    folder = open_run(options.run).path
    config = read_stored(folder / "config.yaml")
    analysis = run_analysis(_split(options, overrides, config, folder), options)
    named_paths(options.beside or (), "beside")
    return analysis


def _split(
    options: AnalyzeOptions, overrides: Sequence[str], config: Config, folder: Path
) -> Split:
    name = options.split or "test"
    data, inner = data_of(config, name)
    data = override(data, overrides)
    cache = options.paths_cache or Path(config.paths.cache)

    def read(columns: Sequence[str], texts: bool = False, empty: bool = False) -> tuple[Frame, int]:
        found = read_frame(predictions_file(folder, name))
        found.require(*columns)
        labelled = found.labelled(empty=empty)
        return labelled, len(found) - len(labelled)

    def join(guids: Sequence[str]) -> list[Example]:
        return find_examples(guids, inner, data, data_dir, cache)

    data_dir = options.paths_data or Path(config.paths.data)
    others = options.beside or []
    return Split(
        folder.resolve().name,
        name,
        data,
        RunFolder(folder).predictions(name),
        read,
        join,
        lambda: read_systems(others, name, "beside") if others else [],
    )


def _write(analysis: RunAnalysis, by: str, target: Path) -> list[Path]:
    """Run one analysis and write its files."""
    found, split = analysis.run(by), analysis.split
    # No with_suffix, because names of splits of further data sets have dots.
    stem = f"{split.name}-{by.replace('/', '_')}"
    facts = {"split": split.name, "by": by, **found.facts}
    if not found.slicings:
        return write_outcome(found, target, stem, facts)
    facts |= {analysis.counted: len(analysis.frame), "unlabelled": analysis.unlabelled}
    return write_outcome(found, target, stem, facts, {f"{stem}.png": _figure(analysis, found)})


def _figure(analysis: RunAnalysis, found: Outcome) -> bytes:
    from heron_tools.analysis import figures  # matplotlib, which pages do not need

    title = with_synthetic(analysis.title, analysis.split.data.synthetic)
    return figures.slices_figure(
        found.slicings,
        f"{title}, {analysis.headline} {analysis.overall:.3f}",
        analysis.overall,
        analysis.drawn,
        analysis.groups_name,
        analysis.zoomed,
    )
