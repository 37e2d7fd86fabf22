"""Tables of one run and of a sweep: what varied, how often it was run, how well it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from heron.base.cells import SYNTHETIC, Cell, Interval, Table, summarize
from heron.config.baseline import other_vectors
from heron.metrics.names import COPIED_NOTE, is_copied
from heron.results.collect import RunRecord
from heron.results.copied import with_copied
from heron.results.groups import (
    SPLITS,
    Group,
    count_states,
    differing_settings,
    group_runs,
    headline_metrics,
    is_whole,
)

_CALIBRATION = ("ece", "mce", "brier")
_PER_CLASS = ("precision", "recall", "f1", "support", "predicted")


def vector_notes(runs: Iterable[RunRecord]) -> list[str]:
    """Say of each kind of CBOW run that has other word vectors than fastText's which ones, once."""
    notes = {
        f"{run.setting('baseline.name')}: {others}.": None
        for run in runs
        if (others := vectors_of(run))
    }
    return list(notes)


def vectors_of(run: RunRecord) -> str:
    """Say which word vectors a run has, where they are not fastText's published ones."""
    keys = ("baseline.name", "baseline.vectors", "data.language")
    return other_vectors(*(str(run.setting(key, "")) for key in keys))


def group_table(runs: Sequence[RunRecord], split: str = "test") -> Table:
    """Compare the groups of a sweep on one split: mean ± sample sd (n) of each headline score."""
    groups, metrics = group_runs(runs), headline_metrics(runs)
    keys = tuple(groups[0].settings)
    rows = [
        (
            *group.settings.values(),
            count_states(group.runs),
            *(_of_group(group, split, metric) for metric in metrics),
        )
        for group in groups
    ]
    notes = ["Mean ± sample standard deviation (number of finished runs)."]
    notes += [COPIED_NOTE] if any(map(is_copied, metrics)) else []
    notes += vector_notes(runs)
    notes += _warn_of_mixtures(runs, groups)
    if any(run.synthetic for run in runs):
        notes.append(f"{SYNTHETIC.capitalize()}.")
    return Table(f"{split}: scores", (*keys, "runs", *metrics), tuple(rows), " ".join(notes))


def _warn_of_mixtures(runs: Sequence[RunRecord], groups: Sequence[Group]) -> list[str]:
    """Say where runs stand side by side that were hardly meant to be compared."""
    mixed = dict.fromkeys(key for group in groups for key in differing_settings(group.runs))
    apart = [
        key
        for key in differing_settings(runs)
        if key.startswith(("data.", "trainer.max_")) and not key.startswith("data.sample")
    ]
    notes = []
    if mixed:
        notes.append(f"Runs of one row differ in more than seeds: {', '.join(mixed)}.")
    if apart:
        notes.append(f"Not all runs have the same data or length: {', '.join(apart)} differ.")
    return notes


def _of_group(group: Group, split: str, metric: str) -> Cell:
    """Summarize a score; what copying reaches is one number, whoever writes the summaries."""
    values = group.values(split, metric)
    if is_copied(metric) and len(set(values)) == 1:
        return values[0]
    return summarize(values)


def runs_table(runs: Sequence[RunRecord], split: str = "test") -> Table:
    """List every run with its state, minutes and headline scores."""
    metrics = headline_metrics(runs)
    rows = [
        (run.job, run.state, _minutes(run), *(_score(run, split, metric) for metric in metrics))
        for run in runs
    ]
    return Table(f"{split}: runs", ("run", "state", "minutes", *metrics), tuple(rows))


def _minutes(run: RunRecord) -> float | None:
    seconds = run.status.get("seconds")
    return None if seconds is None else round(seconds / 60, 1)


def _score(run: RunRecord, split: str, metric: str) -> Cell:
    """The score, with its interval where the run stored one."""
    scores = run.scores.get(split, {})
    bounds = scores.get(f"{metric}_low"), scores.get(f"{metric}_high")
    if metric in scores and None not in bounds:
        return Interval(scores[metric], *bounds)  # type: ignore[arg-type]
    return scores.get(metric)


def score_table(run: RunRecord) -> Table:
    """Show one run's headline scores, a column per split, with 95 % intervals where stored."""
    splits = [split for split in dict.fromkeys((*SPLITS, *run.scores)) if split in run.scores]
    metrics = (*headline_metrics([run]), *_calibration(run), *_descriptions(run))
    rows = tuple((metric, *(_score(run, split, metric) for split in splits)) for metric in metrics)
    notes = [f"{SYNTHETIC.capitalize()}."] if run.synthetic else []
    notes += [COPIED_NOTE] if any(map(is_copied, metrics)) else []
    notes += vector_notes([run])
    if any(isinstance(cell, Interval) for row in rows for cell in row):
        drawn = "rows" if run.setting("task.resample") == "row" else "whole documents (or texts)"
        notes.append(f"[low, high]: 95 % bootstrap interval, resampling {drawn}.")
    if _calibration(run):
        notes.append("ece, mce, brier: distance from calibration; 0 is best, brier goes to 2.")
    return Table("Scores", ("metric", *splits), rows, " ".join(notes))


def _calibration(run: RunRecord) -> list[str]:
    return [name for name in _CALIBRATION if any(name in split for split in run.scores.values())]


def _descriptions(run: RunRecord) -> list[str]:
    """Name what else a run of summaries has: other kinds of ROUGE, lengths, new wording."""
    present = dict.fromkeys(name for split in run.scores.values() for name in split)
    if "rouge1" not in present:
        return []
    shown = headline_metrics([run])
    own = [name for name in present if is_whole(name) and not is_copied(name) and name not in shown]
    return with_copied(own, present)


def class_table(run: RunRecord, split: str = "test") -> Table:
    """Show each class on one split: precision, recall, F1, support (rows), and its predicted share.

    The predicted share (of all rows, a fraction) stands beside what share it should be, `support`.
    """
    scores = run.scores.get(split, {})
    columns = [part for part in _PER_CLASS if any(name.startswith(f"{part}/") for name in scores)]
    names = dict.fromkeys(name.partition("/")[2] for name in scores if "/" in name)
    rows = [(name, *(_per_class(scores, part, name) for part in columns)) for name in names]
    return Table(f"{split}: classes", ("class", *columns), tuple(rows))


def _per_class(scores: Mapping[str, float], part: str, name: str) -> Cell:
    value = scores.get(f"{part}/{name}")
    return int(value) if part == "support" and value is not None else value
