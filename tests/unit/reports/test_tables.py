import json
import math
import statistics

import pytest

from heron.base.cells import Formatted, Interval
from heron.reports.run import class_table, score_table
from heron.reports.sweep import group_table, runs_table
from heron.results.collect import collect, headline_metrics
from heron.results.systems import group_runs


@pytest.fixture
def sweep(make_run):
    """Two heads × three seeds; one run of the second head failed."""
    for head, base in (("ess", 0.5), ("emp", 0.4)):
        for seed in range(3):
            failed = (head, seed) == ("emp", 2)
            folder = make_run(
                f"{head}-{seed}",
                (f"head={head}", f"seed={seed}", "paths.data=here"),
                {"macro_f1": base + 0.01 * seed**2},
                state="failed" if failed else "done",
            )
    (folder / "scores.json").write_text('{"test": {"macro_f1": 0.9}}')  # left by the failed run
    return collect(folder.parent)


GENERATED = [{"data": {"generator": {"seed": seed}}} for seed in (1, 2)]
LONG = {"encoder": {"name": "someone/alephbert-512", "max_length": 512}}
STAGE = {"stages": [{"data": "heq_dev", "lr": None, "changes": {}}]}


@pytest.mark.parametrize(
    ("runs", "labels"),
    [
        (
            [("head=ess seed=0",), ("head=ess seed=1",), ("head=emp seed=0",)],
            ["head=emp", "head=ess"],
        ),
        # Seeds of draws repeat a run, and neutral keys change nothing; a corpus's seed does.
        ([(f"seed={n} data.sample.seed={n} paths.runs=r{n}",) for n in "01"], ["all runs"]),
        (
            [(f"data.generator.seed={n}", GENERATED[n - 1]) for n in (1, 2)],
            ["data.generator.seed=1", "data.generator.seed=2"],
        ),
        # A key, group or list left at its default is what others have typed.
        ([("seed=0 head=ess optim.lr=3e-5",), ("seed=1",), ("optim.lr=0.00003",)], ["all runs"]),
        (
            [("", LONG), ("encoder=alephbert", LONG), ("encoder=short", {"encoder.max_length": 1})],
            ["encoder=alephbert", "encoder=short"],
        ),
        (
            [
                ("stages=[heq_dev]", STAGE),
                ("stages=[{data: heq_dev}]", STAGE),
                ("", {"stages": ["trc"]}),
            ],
            ["stages=[heq_dev]", "stages=[trc]"],
        ),
        # By size of numbers, not by their letters.
        (
            [(f"optim.lr={n}",) for n in ("0.5", "1", "0.15")],
            [f"optim.lr={n}" for n in (0.15, 0.5, 1)],
        ),
    ],
)
def test_runs_are_grouped_by_what_varies_but_seeds(make_run, runs, labels):
    for number, (words, *config) in enumerate(runs):
        words = words.replace("{data: ", "{data:").split()
        words = tuple(word.replace("{data:", "{data: ") for word in words)
        folder = make_run(f"{number}", words, config=config[0] if config else None)
    assert [system.label for system in group_runs(collect(folder.parent))] == labels


@pytest.mark.parametrize(
    ("configs", "said"),
    [
        ([{"trainer": {"max_epochs": n}} for n in (3, 1)], "data or length: trainer.max_epochs d"),
        ([{"optim": {"lr": n}, "run": {"job": n}} for n in (1, 2)], "more than seeds: optim.lr."),
    ],
)
def test_what_runs_differ_in_besides_what_was_typed_is_named(make_run, configs, said):
    for seed, config in enumerate(configs):
        folder = make_run(f"{seed}", (f"seed={seed}",), config=config)
    assert said in group_table(collect(folder.parent)).note


def test_only_finished_runs_count_and_the_others_are_named(sweep):
    table = group_table(sweep)
    emp, ess = table.rows
    assert emp[:2] == ("emp", "2 done, 1 failed")
    assert emp[2].n == 2
    values = [0.5, 0.51, 0.54]
    assert ess[2].mean == pytest.approx(statistics.mean(values))
    assert ess[2].sd == pytest.approx(statistics.stdev(values))


def test_an_undefined_score_is_no_score(make_run):
    for job, score in (("a", math.nan), ("b", 0.4), ("c", 0.6)):
        folder = make_run(job, (f"seed={job}",))
        (folder / "scores.json").write_text(json.dumps({"validation": {"mcc": score}}))
    (group,) = group_runs(collect(folder.parent))
    assert group.values("validation", "mcc") == [0.4, 0.6]
    assert group.best_run("mcc").path == folder


def test_one_run_shows_its_interval_only_where_one_is_stored(make_run):
    scores = {"macro_f1": 0.5, "macro_f1_low": 0.4, "macro_f1_high": 0.6, "accuracy": 0.7}
    (run,) = collect(make_run(scores=scores))
    assert dict(score_table(run).rows) == {"macro_f1": Interval(0.5, 0.4, 0.6), "accuracy": 0.7}


def test_unknown_tasks_are_headed_by_their_whole_split_scores(make_run):
    scores = {"exact_match": 0.5, "exact_match_low": 0.4, "f1/long": 0.1}
    assert headline_metrics(collect(make_run(scores=scores))) == ["exact_match"]


def test_calibration_is_in_a_runs_scores_and_not_in_a_sweeps(make_run):
    scores = {"macro_f1": 0.5, "ece": 0.1, "brier": 0.9}
    runs = collect(make_run(scores=scores, config={"task": {"name": "relation"}}))
    assert [row[0] for row in score_table(runs[0]).rows] == ["macro_f1", "ece", "brier"]
    assert "brier goes to 2" in score_table(runs[0]).note
    assert "ece" not in group_table(runs).columns


def test_runs_table_lists_failed_runs(sweep):
    rows = {row[0]: row for row in runs_table(sweep).rows}
    assert rows["emp-2"][1:] == ("failed", Formatted(1.025, ".1f"), 0.9)


def test_synthetic_data_is_named_in_every_score_table(make_run):
    runs = collect(make_run(config={"data.synthetic": True}).parent)
    assert "not a research result" in group_table(runs).note
    assert "not a research result" in score_table(runs[0]).note


def test_the_monitored_score_is_in_every_table(make_run):
    scores = {"macro_f1": 0.5, "accuracy": 0.6, "mcc": 0.4, "ece": 0.1}
    folder = make_run("a", scores=scores, config={"trainer": {"monitor": "mcc"}})
    (run,) = collect(folder.parent)
    assert "mcc" in group_table([run]).columns
    assert "mcc" in runs_table([run]).columns
    assert "mcc" in [row[0] for row in score_table(run).rows]


def test_a_class_table_has_supports_as_counts_and_predicted_shares_beside(make_run):
    scores = {"precision/EQUAL": 0.25, "f1/EQUAL": 0.3, "support/EQUAL": 106.0}
    scores |= {"recall/EQUAL": 0.5, "predicted/EQUAL": 0.4}
    table = class_table(collect(make_run(scores=scores))[0])
    assert list(table.columns) == ["class", "precision", "recall", "f1", "support", "predicted"]
    assert list(table.rows) == [("EQUAL", 0.25, 0.5, 0.3, 106, 0.4)]
