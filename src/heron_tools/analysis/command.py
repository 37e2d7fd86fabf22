"""`heron analyze`: a run's scores by slice, a data set's statistics, or judged gold answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.cells import to_markdown, with_synthetic
from heron.base.errors import ConfigError
from heron.base.files import write_file
from heron.base.run_folder import folder_inside, open_run
from heron.base.terminal import print_lines, print_tables, say
from heron_tools.statistics.options import AnalyzeOptions, parse

if TYPE_CHECKING:  # start-up time
    from heron.data.examples import Example
    from heron_tools.analysis.slicing import Slicer


def run(arguments: Sequence[str]) -> int:
    """Print tables and write files; returns the exit code.

    They are of a run, of a data set, or the scores of gold answers that people have judged in a
    sheet (CSV).
    """
    options, overrides = parse(arguments)
    from heron.tasks import FORK_ANALYSES  # start-up time: options are checked first

    if options.run is not None:
        files = analyze_run(options, overrides)
    elif options.data is not None:
        files = describe_data(options, overrides)
    else:
        files = FORK_ANALYSES["score_sheet"](options)

    print_lines(*files)
    return 0


def analyze_run(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Run the analyses of a run's stored predictions, without its model.

    Args:
        options: of the command.
        overrides: `data.<key>=<value>`.

    Returns:
        The files written: for each analysis `<split>-<by>.json` and `.png`, or its page.

    Raises:
        ConfigError: a wrong option, no such predictions, or no analysis that applies to them.
        DataError: unreadable files, or files of other data.
    """
    from heron_tools.analysis import figures
    from heron_tools.statistics.outcome import write_outcome

    assert options.run is not None
    slicer = open_slicer(options, overrides)
    split = slicer.split
    target = options.out or folder_inside(options.run, "analysis")

    paths = []
    errors = []
    for by in options.by or slicer.usual or list(slicer.by):
        try:
            slicer.check(by)
            outcome = slicer.run(by)
        except ConfigError as error:
            errors.append(error)
            continue

        facts = {"split": split.name, "by": by, **outcome.facts}
        figure = {}
        if outcome.slicings:
            facts[slicer.row_word] = len(split.frame)
            facts["unlabelled"] = split.unlabelled
            title = with_synthetic(slicer.title, split.data.synthetic)
            title = f"{title}, {slicer.headline} {slicer.overall:.3f}"
            figure["png"] = figures.slices_figure(
                outcome.slicings, title, slicer.overall, slicer.figure_scores, slicer.unit
            )

        # No with_suffix, because names of splits of further data sets have dots.
        stem = f"{split.name}-{by.replace('/', '_')}"
        paths += write_outcome(outcome, target, stem, facts, **figure)

    if errors and not paths:
        raise errors[0]

    for refusal in errors:
        say(str(refusal))

    return paths


def open_slicer(options: AnalyzeOptions, overrides: Sequence[str] = ()) -> Slicer:
    """Read a run's predictions of a split, and build the slicer of its task.

    Raises:
        ConfigError: a wrong option, or no such run.
    """
    from heron.data.overrides import override
    from heron.results.frame import predictions_file, read_frame
    from heron.results.shipped import data_of, find_examples
    from heron.tasks.scoring import TextScores
    from heron.tasks.task import scores_of
    from heron.training.stored import read_stored
    from heron_tools.analysis import slicer_of
    from heron_tools.analysis.slicing import Split

    assert options.run is not None
    folder = open_run(options.run).path
    config = read_stored(folder / "config.yaml")
    data_folder = options.paths_data or Path(config.paths.data)
    cache_folder = options.paths_cache or Path(config.paths.cache)

    name = options.split or "test"
    data, split_in_data = data_of(config, name)
    data = override(data, overrides)

    def find(guids: Sequence[str]) -> list[Example]:
        return find_examples(guids, split_in_data, data, data_folder, cache_folder)

    scores = scores_of(data.task)
    # Rows with an empty gold text are unlabelled, unless the empty answer can be right; where that
    # is unknown (None), they count as gold.
    empty_is_gold = (
        isinstance(scores, TextScores) and scores.can_be_empty(data.label_order) is not False
    )
    predictions = read_frame(predictions_file(folder, name))
    frame = predictions.labelled(empty=empty_is_gold)
    unlabelled = len(predictions) - len(frame)
    return slicer_of(Split(folder.resolve().name, name, data, options, frame, find, unlabelled))


def describe_data(options: AnalyzeOptions, overrides: Sequence[str]) -> list[Path]:
    """Describe the splits whose files exist.

    With `sheet=`, sample gold answers of one split into a sheet for people to judge instead.

    Args:
        options: of the command.
        overrides: `data.<key>=<value>`.

    Returns:
        The files written: `statistics.md`, `statistics.json` and those of the task, and
        `published.md`, which compares them with a paper's.
    """
    from heron.data.overrides import configure
    from heron.results import STATISTICS
    from heron.results.shipped import read_shipped
    from heron.tasks import FORK_ANALYSES
    from heron_tools.analysis import statistics_of
    from heron_tools.statistics.outcome import write_outcome

    assert options.data is not None
    config = configure(options.data, overrides)
    describe = statistics_of(config, options)
    shipped = read_shipped(config, *options.folders)
    if options.sheet is not None:
        return list(FORK_ANALYSES["draw_sheet"](options, shipped))

    outcome = describe(shipped, options)
    for name, path in shipped.missing.items():
        print_lines(f"missing: {name} ({path})")

    facts = {
        "data": config.name,
        "overrides": list(overrides),
        "sha256": shipped.sha256,
        "missing": sorted(shipped.missing),
        **outcome.facts,
    }
    target = options.out or Path("runs") / "analysis" / config.folder_name
    files = write_outcome(outcome, target, "statistics", facts)

    compare = FORK_ANALYSES.find("beside_published")
    if compare and options.data in STATISTICS and not overrides:
        tables = compare(options)
        print_tables(tables)
        text = "\n\n".join(map(to_markdown, tables))
        files.append(write_file(files[0].parent / "published.md", text))

    return files
