import json
import math
import statistics

import pytest

from heron.base.cells import Interval
from heron.reports.run import class_table, score_table
from heron.reports.sweep import group_table, runs_table
from heron.results.collect import collect, headline_metrics
from heron.results.systems import group_runs, varying_keys


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
    return collect(folder.parent)


def test_groups_differ_in_everything_but_the_seed(sweep):
    groups = group_runs(sweep)
    assert [group.label for group in groups] == ["head=emp", "head=ess"]
    assert [len(group.runs) for group in groups] == [3, 3]


def test_only_finished_runs_count_and_the_others_are_named(sweep):
    table = group_table(sweep)
    emp, ess = table.rows
    assert emp[:2] == ("emp", "2 done, 1 failed")
    assert emp[2].n == 2
    values = [0.5, 0.51, 0.54]
    assert ess[2].mean == pytest.approx(statistics.mean(values))
    assert ess[2].sd == pytest.approx(statistics.stdev(values))


def test_runs_of_other_data_or_length_are_named_in_the_table(make_run):
    make_run("a", ("seed=0",), config={"trainer": {"max_epochs": 3}, "data": {"name": "x"}})
    words = ("trainer.max_epochs=1",)
    folder = make_run("b", words, config={"trainer": {"max_epochs": 1}, "data": {"name": "x"}})
    table = group_table(collect(folder.parent))
    assert "Not all runs have the same data or length: trainer.max_epochs differ" in table.note


def test_what_runs_of_one_row_differ_in_besides_seeds_is_named(make_run):
    make_run("a", ("seed=0",), config={"optim": {"lr": 1e-3}, "run": {"job": "a"}})
    folder = make_run("b", ("seed=1",), config={"optim": {"lr": 1e-5}, "run": {"job": "b"}})
    table = group_table(collect(folder.parent))
    assert "Runs of one row differ in more than seeds: optim.lr." in table.note


def test_corpora_of_two_generator_seeds_are_no_repetitions(make_run):
    make_run("a", ("data.generator.seed=1",), config={"data": {"generator": {"seed": 1}}})
    folder = make_run("b", ("data.generator.seed=2",), config={"data": {"generator": {"seed": 2}}})
    assert len(group_runs(collect(folder.parent))) == 2


def test_scores_that_a_failed_run_left_behind_do_not_count(make_run):
    make_run("a", scores={"macro_f1": 0.5})
    folder = make_run("b", scores={"macro_f1": 0.9})
    status = folder / "status.json"
    status.write_text(status.read_text().replace('"done"', '"failed"'))
    (group,) = group_runs(collect(folder.parent))
    assert group.values("test", "macro_f1") == [0.5]


def test_a_key_left_at_its_default_is_the_same_setting_as_the_default_said_aloud(make_run):
    make_run("a", ("seed=0", "head=ess", "optim.lr=3e-5"))
    make_run("b", ("seed=1",))
    folder = make_run("c", ("seed=2", "optim.lr=0.00003"))
    assert varying_keys(collect(folder.parent)) == ["seed"]


def test_a_config_group_left_at_its_default_is_the_group_said_aloud(make_run):
    named = {"encoder": {"name": "someone/alephbert-512", "max_length": 512}}
    make_run("a", ("seed=0",), config=named)
    make_run("b", ("seed=1", "encoder=alephbert"), config=named)
    folder = make_run("c", ("seed=2", "encoder=short"), config={"encoder": {"max_length": 128}})
    groups = group_runs(collect(folder.parent))
    assert [(group.label, len(group.runs)) for group in groups] == [
        ("encoder=alephbert", 2),
        ("encoder=short", 1),
    ]


def test_a_list_is_shown_as_it_was_typed(make_run):
    stage = {"data": "heq_dev", "lr": None, "changes": {}}
    make_run("a", ("stages=[heq_dev]",), config={"stages": [stage]})
    make_run("b", ("stages=[{data: heq_dev}]",), config={"stages": [stage]})
    folder = make_run("c", (), config={"stages": ["trc"]})
    labels = [group.label for group in group_runs(collect(folder.parent))]
    assert labels == ["stages=[heq_dev]", "stages=[trc]"]


def test_an_undefined_score_is_no_score(make_run):
    for job, score in (("a", math.nan), ("b", 0.4), ("c", 0.6)):
        folder = make_run(job, (f"seed={job}",))
        (folder / "scores.json").write_text(json.dumps({"validation": {"mcc": score}}))
    (group,) = group_runs(collect(folder.parent))
    assert group.values("validation", "mcc") == [0.4, 0.6]
    assert group.best_run("mcc").path == folder


def test_seeds_of_draws_repeat_a_run_and_neutral_keys_change_nothing(make_run):
    for seed in range(2):
        folder = make_run(
            f"s{seed}", (f"seed={seed}", f"data.sample.seed={seed}", f"paths.runs=r{seed}")
        )
    (group,) = group_runs(collect(folder.parent))
    assert (group.label, len(group.runs)) == ("all runs", 2)


def test_groups_are_ordered_by_size_of_number_not_by_its_letters(make_run):
    for fraction in ("0.5", "1.0", "0.15"):
        folder = make_run(fraction, (f"data.sample.fraction={fraction}",))
    labels = [group.label.split("=")[1] for group in group_runs(collect(folder.parent))]
    assert labels == ["0.15", "0.5", "1.0"]


def test_one_run_shows_its_interval_only_where_one_is_stored(make_run):
    scores = {"macro_f1": 0.5, "macro_f1_low": 0.4, "macro_f1_high": 0.6, "accuracy": 0.7}
    (run,) = collect(make_run(scores=scores))
    assert dict(score_table(run).rows) == {"macro_f1": Interval(0.5, 0.4, 0.6), "accuracy": 0.7}


def test_unknown_tasks_are_headed_by_their_whole_split_scores(make_run):
    scores = {"exact_match": 0.5, "exact_match_low": 0.4, "f1/long": 0.1}
    assert headline_metrics(collect(make_run(scores=scores))) == ["exact_match"]


def test_class_table_has_supports_as_counts(make_run):
    scores = {"precision/EQUAL": 0.25, "recall/EQUAL": 0.5, "f1/EQUAL": 0.3, "support/EQUAL": 106.0}
    table = class_table(collect(make_run(scores=scores))[0])
    assert table.columns == ("class", "precision", "recall", "f1", "support")
    assert table.rows == (("EQUAL", 0.25, 0.5, 0.3, 106),)


def test_a_classs_predicted_share_stands_beside_its_support(make_run):
    scores = {"support/EQUAL": 10.0, "predicted/EQUAL": 0.4}
    table = class_table(collect(make_run(scores=scores))[0])
    assert (table.columns, table.rows) == (("class", "support", "predicted"), (("EQUAL", 10, 0.4),))


def test_calibration_is_in_a_runs_scores_and_not_in_a_sweeps(make_run):
    runs = collect(make_run(scores={"macro_f1": 0.5, "ece": 0.1, "brier": 0.9}))
    assert [row[0] for row in score_table(runs[0]).rows] == ["macro_f1", "ece", "brier"]
    assert "brier goes to 2" in score_table(runs[0]).note
    assert "ece" not in group_table(runs).columns


def test_runs_table_lists_failed_runs_without_scores(sweep):
    rows = {row[0]: row for row in runs_table(sweep).rows}
    assert rows["emp-2"][1:] == ("failed", 1.0, None)


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
