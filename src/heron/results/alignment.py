"""Join the predictions of several systems on the same rows, by guid.

Legend: N rows, K runs of a system.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.languages.spelling import KEPT_APART, Spell, around_difference, speller
from heron.languages.unicode import UNIFY_ALL
from heron.metrics.names import signed
from heron.metrics.significance import Booleans
from heron.results.finding import Source, System, records_of
from heron.results.groups import differing_settings
from heron.results.predictions import Predictions, read_predictions
from heron.results.scoring import Golds, Scoring, Settings, score_classes, score_texts

ROWS = ("all", "shared")


@dataclass(frozen=True, slots=True)
class SystemOutcomes:
    """The predictions of one system."""

    system: System  # the system, of K runs
    outcome_KN: npt.NDArray  # predicted class ids, int64, or the rows' values, float64
    right_KN: Booleans | None  # whether the row is right; None where rows are not right or wrong
    best: int  # number of the run that is best on validation; the first where no score is stored
    validation: float | None  # that run's score on validation; None where none is stored

    @property
    def seeds(self) -> tuple[str, ...]:
        """The runs' seeds, K; see `heron.results.finding.Source`."""
        return tuple(source.seed for source in self.system.sources)


@dataclass(frozen=True, slots=True)
class Aligned:
    """Several systems on the same rows."""

    guids: tuple[str, ...]  # N
    scoring: Scoring  # how outcomes become a score
    systems: tuple[SystemOutcomes, ...]  # their predictions
    # Names of the groups that stay whole in a draw, N; None draws rows.
    groups: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()  # for readers of the comparison


def align(
    systems: Sequence[System],
    settings: Settings,
    *,
    rows: str = "all",
    labels: Sequence[str] | None = None,
    find_groups: Callable[[Sequence[str], dict[str, str]], list[str] | None] | None = None,
) -> Aligned:
    """Read all predictions and put them on the same rows, in the first file's order.

    Args:
        systems: from `heron.results.finding`.
        settings: the task and the metric, whose score on validation chooses a system's best run.
        rows: `all` refuses systems on different rows; `shared` compares on the rows of all.
        labels: all class names, in order; default: those of the runs' data, or the gold labels.
        find_groups: gets the guids, and groups by guid from the files; returns each row's group,
            or None to draw rows.

    Raises:
        ConfigError: an unknown value of `rows` or metric.
        DataError: everything wrong with the files: unreadable rows, repeated guids, different
            golds or rows, unknown labels.
    """
    if rows not in ROWS:
        raise ConfigError(f"rows={rows}.{nearest(rows, ROWS)}")
    orders = [record.setting("data.label_order") or () for record in records_of(systems)]
    known = list(labels or dict.fromkeys(str(label) for order in orders for label in order))
    files = _read_all(systems, settings, known)
    golds = _shared_golds(files, settings)
    guids, notes = _shared_rows(systems, files, rows)
    if settings.texts:
        found = score_texts(files, guids, settings, golds, settings.texts.can_be_empty(known))
    else:
        found = score_classes(files, guids, settings, known)
    named = {row.guid: row.group for file in files for row in file.rows if row.group}
    groups = find_groups(found.guids, named) if find_groups else None
    # Groups of one row each are the same as rows, which are drawn faster.
    whole = tuple(groups) if groups and len(set(groups)) < len(groups) else None
    outcomes, start = [], 0
    for system in systems:
        own = slice(start, start + len(system.sources))
        start = own.stop
        right_KN = None if found.right_FN is None else found.right_FN[own]
        chosen = best_run(system.sources, settings.metric)
        outcomes.append(SystemOutcomes(system, found.outcome_FN[own], right_KN, *chosen))
    notes += found.notes
    return Aligned(tuple(found.guids), found.scoring, tuple(outcomes), whole, tuple(notes))


def _read_all(
    systems: Sequence[System], settings: Settings, labels: Sequence[str]
) -> list[Predictions]:
    """Read the labelled rows of all files, one file after the other."""
    texts = settings.texts
    empty = texts is not None and texts.can_be_empty(labels) is not False
    problems: list[Problem] = []
    files = []
    for source in (source for system in systems for source in system.sources):
        only, paths = ("golds", "group") if texts else ("group",), (source.path, *source.folds)
        try:
            read, *folds = [read_predictions(path, only=only) for path in paths]
        except DataError as error:
            problems += error.problems
            continue
        joined = tuple(row for part in (read, *folds) for row in part.rows)
        read = replace(read, rows=joined, paths=paths)
        files.append(read.labelled(empty=empty))
        if not files[-1].rows:
            problems.append(Problem(str(source.path), "no row has a gold label"))
    if problems:
        raise DataError(problems)
    return files


def best_run(sources: Sequence[Source], metric: str) -> tuple[int, float | None]:
    """Find the number of the run that is best on validation, and its score.

    It is chosen by the metric, or by the run's `trainer.monitor` where the metric is not stored.
    Joined folds have no such score: the record of a source is that of its first fold.
    """
    found: list[tuple[float, float | None]] = []
    for run in (None if source.folds else source.record for source in sources):
        name, score = metric, run.score("validation", metric) if run else None
        if run and score is None:
            name = str(run.setting("trainer.monitor", metric))
            score = run.score("validation", name)
        found.append((-np.inf if score is None else signed(name, score), score))
    best = int(np.argmax([rank for rank, _ in found]))
    return best, found[best][1]


def _shared_golds(files: Sequence[Predictions], settings: Settings) -> Golds:
    """Find each guid's golds, in all spellings; refuse golds that differ between files.

    A file with one gold agrees with a file that lists all golds if the gold is among them. Texts
    that `data.unicode` unifies are the same. Exact match and F1 would tell their spellings apart,
    so all spellings count as right: the same answer has the same score in any file.
    """
    spell: Spell = settings.spell() if settings.texts else str
    first: dict[str, Predictions] = {}
    golds: dict[str, dict[str, None]] = {}
    problems: dict[str, Problem] = {}
    for file in sorted(files, key=lambda file: not file.has_all_golds):
        for row in file.rows:
            other = first.setdefault(row.guid, file)
            if not _agree(row.guid, other, file, spell):
                problems.setdefault(row.guid, _differ(row.guid, other, file, spell, settings))
            golds.setdefault(row.guid, {}).update(dict.fromkeys(row.golds))
    if problems:
        raise DataError(list(problems.values()))
    return {guid: tuple(texts) for guid, texts in golds.items()}


def _agree(guid: str, first: Predictions, second: Predictions, spell: Spell) -> bool:
    """Tell whether two files have the same golds of a row; the first may list more of them."""
    known, gold = first.by_guid[guid].golds, second.by_guid[guid].golds
    if known == gold:
        return True
    one_of = first.has_all_golds and not second.has_all_golds and bool(gold)
    theirs, mine = set(map(spell, known)), set(map(spell, gold))
    return mine <= theirs if one_of else mine == theirs


def _differ(
    guid: str, first: Predictions, second: Predictions, spell: Spell, settings: Settings
) -> Problem:
    """Show both golds as they were compared; of long ones the part where they differ."""
    theirs, mine = (dict.fromkeys(map(spell, file.by_guid[guid].golds)) for file in (first, second))
    # Golds that only one file has come first: long lists are cut.
    one, other = (
        " | ".join(sorted(texts, key=beside.__contains__))
        for texts, beside in ((theirs, mine), (mine, theirs))
    )
    fix = "score both on the same version of the data"
    if settings.texts:
        unified = speller(settings.language, UNIFY_ALL)
        fix = KEPT_APART if _agree(guid, first, second, unified) else fix
    one, other = around_difference(one, other)
    what = f"gold is '{one}' in {first.path}, '{other}' in {second.path}"
    return Problem(guid, what, fix)


def _shared_rows(
    systems: Sequence[System], files: Sequence[Predictions], rows: str
) -> tuple[list[str], list[str]]:
    """List the guids to compare on, in the first file's order, and notes on those left out."""
    every = dict.fromkeys(row.guid for file in files for row in file.rows)
    shared = [guid for guid in every if all(guid in file.by_guid for file in files)]
    if len(shared) == len(every):
        return shared, []
    if shared and rows == "shared":
        left = len(every) - len(shared)
        return shared, [f"{left} of {len(every)} rows are left out: not every system has them."]
    fix = f"rows=shared compares on the {len(shared)} rows that all have"
    if not shared:
        differing = differing_settings(records_of(systems))
        keys = ", ".join(key for key in differing if key.startswith("data."))
        why = f": the runs differ in {keys}" if keys else ""
        fix = (
            f"no row is in all files, so rows=shared leaves none{why}; name those of the same data"
        )
    problems = []
    for file in files:
        if absent := [guid for guid in every if guid not in file.by_guid]:
            few = ", ".join(f"'{guid}'" for guid in absent[:3])
            more = ", ..." if len(absent) > 3 else ""
            what = f"lacks {len(absent)} of {len(every)} labelled guids: {few}{more}"
            problems.append(Problem(str(file.path), what, fix))
    raise DataError(problems)
