"""Tables of one run and of a sweep: what varied, how often it was run, how well it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heron.base.cells import SYNTHETIC, Cell, Interval, Summary, Table, summarize
from heron.config.baseline import other_vectors
from heron.config.checks import INDECISIVE, NEUTRAL, flatten
from heron.results.collect import RunRecord
from heron.results.copied import COPIED_NOTE, is_copied, with_copied

SPLITS = ("test", "validation")

_HEADLINE = ("macro_f1", "weighted_f1", "relaxed_macro_f1", "relaxed_weighted_f1", "accuracy")
_OF_ANSWERS = ("f1", "exact_match", "no_answer_accuracy")  # and each language's own two
_OF_SUMMARIES = ("rouge1", "rouge2", "rougeL", "bertscore_f1")
_CALIBRATION = ("ece", "mce", "brier")
_PER_CLASS = ("precision", "recall", "f1", "support", "predicted")


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ in nothing but their seeds.

    Args:
        settings: the values of the keys that vary between groups, `{"head": "ess"}`.
        runs: all runs of the group, finished or not.
    """

    settings: Mapping[str, str]
    runs: tuple[RunRecord, ...]

    @property
    def label(self) -> str:
        """The group's settings on one line."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "all runs"

    def values(self, split: str, metric: str) -> list[float]:
        """The metric in each finished run that has it."""
        scores = (run.scores.get(split, {}) for run in self.runs if run.done)
        return [split_scores[metric] for split_scores in scores if metric in split_scores]

    def summary(self, split: str, metric: str) -> Summary | None:
        """Mean, sample standard deviation and n over the finished runs."""
        return summarize(self.values(split, metric))


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


def varying_keys(runs: Sequence[RunRecord]) -> list[str]:
    """Name the overridden keys whose values are not the same in all runs, in given order.

    Keys that cannot change a result (`paths`, `logger`, ...) are left out.
    """
    keys = dict.fromkeys(key for run in runs for key in run.overrides())
    return [key for key in keys if not _is_neutral(key) and len(_values(runs, key)) > 1]


def _values(runs: Sequence[RunRecord], key: str) -> set[str]:
    """List a key's values; a run that curricula learnt from has no experiment, which is none."""
    if key == "experiment":
        runs = [run for run in runs if run.setting(key) is not None]
    return {value_of(run, key) for run in runs}


def _is_neutral(key: str) -> bool:
    return any(f"{key}.".startswith(f"{neutral}.") for neutral in NEUTRAL)


def differing_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Name the keys, typed or not, that can change a result and are not the same in all runs.

    Seeds are left out, and so are keys that an older run does not know.
    """
    settings = [dict(flatten(run.config)) for run in runs if run.config]
    shared = (
        [key for key in settings[0] if all(key in each for each in settings)] if settings else []
    )
    return [
        key
        for key in shared
        if not any(f"{key}.".startswith(f"{each}.") for each in INDECISIVE)
        and not is_seed(key)
        and any(each[key] != settings[0][key] for each in settings)
    ]


def is_seed(key: str) -> bool:
    """Whether a key only repeats a run: `seed`, or the seed of a draw (`data.sample.seed`).

    The seed of a generated corpus does not: its rows are others.
    """
    return key.rpartition(".")[2] == "seed" and not key.startswith("data.generator.")


def value_of(run: RunRecord, key: str) -> str:
    """What `key` is in this run, also where it was left at its default.

    The resolved value comes first, so that `3e-5` and `0.00003` are one setting; a config group
    (`head=ess`) resolves to a mapping, whose name is the override itself or the mapping's.
    """
    value = run.setting(key)
    if isinstance(value, Mapping):
        value = run.overrides().get(key) or value.get("name")
    return str(run.overrides().get(key, "–") if value is None else value)


def group_runs(runs: Sequence[RunRecord]) -> list[Group]:
    """Group runs by everything that varies but seeds, ordered by their settings."""
    keys = [key for key in varying_keys(runs) if not is_seed(key)]
    groups: dict[tuple[str, ...], list[RunRecord]] = {}
    for run in runs:
        groups.setdefault(tuple(value_of(run, key) for key in keys), []).append(run)
    return [
        Group(dict(zip(keys, values, strict=True)), tuple(groups[values]))
        for values in sorted(groups, key=lambda values: [natural(value) for value in values])
    ]


def natural(value: str) -> tuple[int, float, str]:
    """Sort numbers by size and before words."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, value)


def headline_metrics(runs: Iterable[RunRecord]) -> list[str]:
    """Name the scores that head a report: the known ones present, else all that are not parts.

    What `trainer.monitor` names is among them.
    """
    runs = list(runs)
    present = dict.fromkeys(name for run in runs for of in run.scores.values() for name in of)
    known = headline_of(present)
    monitored = dict.fromkeys(str(run.setting("trainer.monitor")) for run in runs)
    return [*known, *(name for name in monitored if name in present and name not in known)]


def headline_of(names: Iterable[str]) -> list[str]:
    """Name the scores that head a report, of all the names that there are.

    Behind each ROUGE stands what copying sentences reaches in it.
    """
    present = dict.fromkeys(names)
    known = [name for name in _HEADLINE if name in present]
    if not known and "rouge1" in present:
        return with_copied([name for name in _OF_SUMMARIES if name in present], present)
    if not known and "exact_match" in present:
        answers = [name for name in present if name in _OF_ANSWERS or _is_of_language(name)]
        return sorted(answers, key=lambda name: (_is_of_language(name), not name.endswith("f1")))
    return known or [name for name in present if is_whole(name)]


def _is_of_language(name: str) -> bool:
    """Tell `he_f1` and `he_exact_match` from `answerable_f1`."""
    prefix, _, rest = name.partition("_")
    return rest in ("f1", "exact_match") and prefix != "answerable"


def is_whole(metric: str) -> bool:
    """Whether a metric is a score of the whole split, not of one class nor an interval's bound."""
    return "/" not in metric and not metric.endswith(("_low", "_high"))


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


def count_states(runs: Iterable[RunRecord]) -> str:
    """Count runs by state, `2 done, 1 failed`."""
    states = [run.state for run in runs]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))


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
