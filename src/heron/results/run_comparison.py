"""`heron compare`: its options, defaults from the runs, and the documents of rows."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Gt, Lt

from heron.base.errors import ConfigError, DataError, HeronError, first_line
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count, OneOf, Seed
from heron.data.config import VALIDATION
from heron.languages.unicode import UnicodeOptions, coarsest
from heron.metrics import METRICS
from heron.metrics.config import Relaxed
from heron.metrics.names import copied_names
from heron.results.collect import RunRecord
from heron.results.comparison import Comparison, SystemResult, compare_systems
from heron.results.frame import (
    GOLDS,
    Frame,
    joined,
    on_shared_rows,
    predictions_file,
    read_frame,
    read_keyed,
)
from heron.results.outcomes import Settings, score_rows
from heron.results.shipped import data_of, find_examples
from heron.results.systems import (
    FOLD,
    System,
    copied_scores,
    match_systems,
    named_systems,
    natural,
)
from heron.tasks.scoring import ClassScores, TextScores
from heron.tasks.task import CLASSES, scores_of
from heron.training.stored import read_stored

_COPIED_UNKNOWN = (
    "Extractive baselines (lead-3, oracle) are not shown: files hold no articles, and the runs' "
    "scores.json lack these scores or do not agree; name a run, or one with baseline=lead."
)
_READ_APART = (
    "The runs read Unicode variants differently (data.unicode): variants that any run "
    "unifies are unified here in golds, and in summaries."
)
_CHOSEN_HERE = (
    "The best run of a system is chosen on the compared rows themselves: its score and the tests "
    "of best runs are too optimistic."
)


@dataclass
class CompareOptions:
    """Options of `heron compare`."""

    run: list[Path] = field(default_factory=list)  # runs, sweeps and tables of predictions
    split: str = "test"  # which of the runs' predictions
    # The score to compare: `macro_f1` (the default of classes), `micro_f1`, `weighted_f1`,
    # `accuracy`, or another of the task's (`relaxed_macro_f1`); of answers `f1` (the default),
    # `exact_match`, `he_f1`, `tlnls`, `answerable_f1`; of summaries `rouge1` (the default),
    # `rouge2`, `rougeL`, `rouge1_heron`.
    metric: str | None = None
    # The baseline: a system's name, settings (`head=ess`), or path; default the first.
    against: str | None = None
    # draws, seed: of the bootstrap and of the randomisation.
    draws: Count = 10_000
    seed: Seed = 0
    # Significance level of a corrected p; also sets the intervals' width.
    alpha: Annotated[float, Gt(0), Lt(1)] = 0.05
    # `row`, or `group`: whole documents; default: the runs' `task.resample`, of files alone `group`
    # where all have a column `group`.
    resample: Annotated[str | None, OneOf("row", "group")] = None
    groups: Path | None = None  # a table with the columns `guid` and `group`, for `resample=group`
    # `all` refuses systems on different rows; `shared` compares on the rows of all.
    rows: Annotated[str, OneOf("all", "shared")] = "all"
    # Default: the runs' task; of files alone `classification`. `qa` compares answers,
    # `summarization` summaries.
    task: str | None = None
    # All labels, in order; default: those of the runs' data. Of answers: `answer`, or
    # `answer,no_answer` where a question may have none.
    labels: list[str] | None = None
    # Of answers, for scores such as `he_f1`, and of summaries; default: the runs'.
    language: str | None = None
    relaxed: Relaxed | None = None  # the mode of `relaxed_*`; default: the runs' setting
    out: Path | None = None  # where compare.md, compare.csv and compare.json go


def compare_runs(
    runs: Sequence[RunRecord], *, against: str | None = None, options: CompareOptions | None = None
) -> Comparison:
    """Compare the systems of a sweep; `against` as in the options."""
    options = replace(options or CompareOptions(), against=against)
    return compare(named_systems(runs) if runs else [], options)


def compare(systems: Sequence[System], options: CompareOptions) -> Comparison:
    """Compare the finished runs of systems; runs that are left out are named in the notes.

    Raises:
        ConfigError: there are no two systems with a finished run, or options do not fit the runs.
        DataError: what is wrong with any of the prediction files.
    """
    notes: list[str] = []
    finished = []
    files_of_runs = []
    for system in systems:
        kept, files = _finished(system, options.split, notes)
        if kept.runs:
            finished.append(kept)
            files_of_runs += files

    if not finished:
        raise ConfigError(f"no finished run: {'; '.join(notes) or 'there are none'}")

    baseline = _baseline(options.against, finished)
    records = [run for system in finished for run in system.runs if run.config]
    settings = _settings(records, options, notes)
    notes += _precisions(finished)
    copied = copied_scores(records, options.split, settings.metric)
    if copied_names(settings.metric) and not copied:
        notes.append(_COPIED_UNKNOWN)

    labels = options.labels
    if not labels:
        orders = [run.setting("data.label_order") or () for run in records]
        labels = list(dict.fromkeys(str(label) for order in orders for label in order))

    frames = [_read(files, settings, labels) for files in files_of_runs]
    frames, left_out = on_shared_rows(frames, allowed=options.rows == "shared")
    if left_out:
        count = len(frames[0]) + left_out
        notes.append(f"{left_out} of {count} rows are left out: not every system has them.")

    outcomes = score_rows(frames, settings, labels)
    groups = _groups(outcomes.guids, frames, records, options, notes)

    # Groups of one row each are rows, which are drawn faster.
    if groups and len(set(groups)) < len(groups):
        outcomes = replace(outcomes, groups=groups)

    comparison = compare_systems(finished, outcomes, settings, baseline)
    if options.split == VALIDATION and any(map(_is_chosen, comparison.systems)):
        notes.append(_CHOSEN_HERE)

    return replace(comparison, notes=(*notes, *comparison.notes), copied=copied)


def _baseline(against: str | None, systems: Sequence[System]) -> int:
    """Find the number of the baseline among the systems: the first one by default."""
    if not against:
        return 0
    number, *others = match_systems(against, systems)
    if others:
        several = "; ".join(systems[index].label for index in (number, *others))
        raise ConfigError(f"against={against} fits several systems: {several}; name one in full")
    return number


def _is_chosen(result: SystemResult) -> bool:
    """Tell whether the best of several runs was chosen by a score on validation."""
    return len(result.scores) > 1 and result.validation is not None


def _finished(system: System, split: str, notes: list[str]) -> tuple[System, list[list[Path]]]:
    """Keep a system's finished runs, ordered by seed and fold, and find their prediction files.

    Runs without such a file are left out as well. Runs on validation that differ in nothing but
    their fold are one run with several files: all their rows together. They have no
    validation score.

    Args:
        system: with all its runs.
        split: whose predictions are compared.
        notes: to which a note is added for each run that is left out.

    Returns:
        The system with the runs that are kept, and the files of each of them.
    """
    usable = []
    for seed, run in zip(system.seeds, system.runs, strict=True):
        if not run.done:
            notes.append(f"{run.job} is left out: {run.state}")
            continue

        try:
            path = predictions_file(run.path, split)
        except ConfigError as error:
            notes.append(f"{run.job} is left out: {error}")
            continue

        seeds = [natural(part) for part in seed.split("/")]
        fold = int(run.setting(FOLD) or 0)
        usable.append((seeds, fold, seed, run, path))

    usable.sort(key=lambda entry: entry[:2])

    # By seed and number of folds; without folds each run is a group of its own.
    groups: dict[tuple[str, int, int], list[tuple[RunRecord, Path]]] = {}
    for number, (_, _, seed, run, path) in enumerate(usable):
        count = 0
        if split == VALIDATION:
            count = int(run.setting("data.folds.count") or 0)
        key = (seed, count, 0 if count else number)
        groups.setdefault(key, []).append((run, path))

    runs = []
    files = []
    for (_, count, _), folds in groups.items():
        first, _ = folds[0]
        present = {run.setting(FOLD) for run, _ in folds}
        absent = set(range(count)) - present
        if absent:
            numbers = ", ".join(map(str, sorted(absent)))
            notes.append(f"{first.job}: of its {count} folds, {numbers} have no run.")

        if len(folds) > 1:
            first = replace(first, scores={})
        runs.append(first)
        files.append([path for _, path in folds])

    return replace(system, runs=tuple(runs)), files


def _read(paths: Sequence[Path], settings: Settings, labels: Sequence[str]) -> Frame:
    """Read the labelled rows of a run, whose files (folds) are put below one another.

    Args:
        paths: of the files.
        settings: name the metric, which decides what columns are read.
        labels: all class names; of answers, whether "no answer" may be right.

    Raises:
        DataError: a file cannot be read, or no row is labelled.
    """
    # A fork's metric may read any column.
    only = None if settings.metric in METRICS else (GOLDS, "group")
    whole = joined([read_frame(path, only=only) for path in paths])

    texts = settings.texts
    frame = whole.labelled(empty=texts is not None and texts.can_be_empty(labels) is not False)
    if not len(frame):
        raise DataError(str(paths[0]), "no row has a gold label")

    return frame


def _settings(records: Sequence[RunRecord], options: CompareOptions, notes: list[str]) -> Settings:
    """Fill options that are left out from the runs.

    Args:
        records: the compared runs; empty where only files are compared.
        options: of the command.
        notes: to which a note is added where the runs read Unicode variants differently.

    Raises:
        ConfigError: the runs have different settings where all must have the same.
    """
    task = options.task or _agreed(records, "task.name", "task") or CLASSES
    kind = scores_of(task)
    relaxed = options.relaxed
    if not relaxed and isinstance(kind, ClassScores) and kind.relaxed_key:
        relaxed = _agreed(records, kind.relaxed_key, "relaxed")

    language = options.language
    unicode = UnicodeOptions()

    if isinstance(kind, TextScores):
        readings = []
        languages = []
        for run in records:
            reading, code = _reading(run, options.split)
            readings.append(reading)
            languages.append(code)

        language = language or _one(languages, "data.language", "language")
        # What any of the runs unifies in this split; of files alone, heron's default.
        unicode = coarsest(readings)
        if any(reading != unicode for reading in readings):
            notes.append(_READ_APART)

    return Settings(
        options.metric or kind.metric,
        task,
        relaxed or "recode",
        options.draws,
        options.seed,
        options.alpha,
        language,
        unicode,
    )


def _reading(run: RunRecord, split: str) -> tuple[UnicodeOptions, str | None]:
    """Read `data.unicode` and `data.language` of the data set that a run's split is of."""
    if "." in split or run.setting("stages"):
        with suppress(HeronError):  # the split's data set is gone: the run's own setting counts
            config = read_stored(RunFolder(run.path).config)
            data, _ = data_of(config, split)
            return data.unicode, data.language

    unicode = UnicodeOptions()
    for key, value in (run.setting("data.unicode") or {}).items():
        if key in vars(unicode):
            setattr(unicode, key, value)

    return unicode, run.setting("data.language")


def _precisions(systems: Sequence[System]) -> list[str]:
    """Name the precisions of the systems where they differ, in a note."""
    labels: dict[str, dict[str, None]] = {}
    for system in systems:
        for run in system.runs:
            precision = run.setting("trainer.precision")
            if precision not in (None, "auto"):  # left open by baselines
                labels.setdefault(precision, {})[system.label] = None

    if len(labels) < 2:
        return []

    parts = [f"{precision}: {', '.join(labels[precision])}" for precision in sorted(labels)]
    used = "; ".join(parts)
    return [f"The runs differ in precision ({used}), and may for this reason score differently."]


def _agreed(records: Sequence[RunRecord], key: str, option: str) -> str | None:
    """Read a setting that all runs must share."""
    return _one([run.setting(key) for run in records], key, option)


def _one(settings: Iterable[Any], key: str, option: str) -> str | None:
    """Take the one value of a setting; None where there is none."""
    values = sorted({str(value) for value in settings if value is not None})
    if len(values) > 1:
        raise ConfigError(f"the runs have different {key}: {', '.join(values)}; say {option}=...")
    return values[0] if values else None


def _groups(
    guids: Sequence[str],
    frames: Sequence[Frame],
    records: Sequence[RunRecord],
    options: CompareOptions,
    notes: list[str],
) -> list[str] | None:
    """Find each row's document, for a bootstrap that draws whole documents.

    Args:
        guids: of the rows that count.
        frames: the predictions of all runs.
        records: the compared runs; empty where only files are compared.
        options: say whether to draw documents; by default the runs' `task.resample` does.
        notes: to which a note is added where documents are unknown, and rows are drawn.

    Returns:
        The name of each row's document; None where single rows are to be drawn.

    Raises:
        ConfigError: `resample=group`, but documents are unknown.
    """
    by_group = options.resample == "group" or (options.groups and options.resample is None)
    by_default = any(str(run.setting("task.resample")) == "group" for run in records)
    if not records:  # files alone
        by_default = all("group" in frame for frame in frames)
    if not by_group and (options.resample or not by_default):
        return None

    try:
        return _find_groups(guids, frames, records, options)
    except HeronError as error:
        reason = first_line(error)
        if by_group:
            fix = "name a table of guid and group with groups=FILE, or draw rows with resample=row"
            raise ConfigError(f"resample=group: {reason}; {fix}") from error
        notes.append(
            f"Rows are drawn though the runs' task.resample is group ({reason}): where documents "
            "have several rows, intervals are too narrow and p-values too small."
        )
        return None


def _find_groups(
    guids: Sequence[str],
    frames: Sequence[Frame],
    records: Sequence[RunRecord],
    options: CompareOptions,
) -> list[str]:
    """Look in `groups=`, in the predictions' column `group`, and in the runs' data.

    In the data, a row without a document is grouped by its text.

    Raises:
        ConfigError: some rows have no group in the table or files.
    """
    path = options.groups
    # In a table, a row without a group is one of its own, under a name that no group has.
    if path is not None:
        table = read_keyed(path, "group")
        own = [f"\0{guid}" if guid in table.rows else "" for guid in guids]
        columns = [table.beside(guids).texts("group"), own]
    else:
        columns = [frame.at(guids).texts("group") for frame in frames]
        if not records and any("group" in frame for frame in frames):
            columns.append([f"\0{guid}" for guid in guids])

    groups = []
    for cells in zip(*columns, strict=True):
        first = next(filter(None, cells), "")
        groups.append(first)

    if all(groups):
        return groups

    if path is not None or not records:
        where = path or "the files (a column `group`)"
        count = groups.count("")
        example = guids[groups.index("")]
        raise ConfigError(f"{count} rows have no group in {where}, such as '{example}'")

    config = read_stored(RunFolder(records[0].path).config)
    data, inner = data_of(config, options.split)
    examples = find_examples(guids, inner, data, *config.paths.folders)

    return [example.group or example.text for example in examples]
