"""`ConfusionScores` gives the scores of the whole split, however its rows arrive."""

import pytest
import torch

from heron.base.errors import ConfigError
from heron.metrics.classification import score_task
from heron.tasks.class_module import ConfusionScores

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]


@pytest.fixture
def rows():
    generator = torch.Generator().manual_seed(0)
    return torch.randint(4, (2, 101), generator=generator)


def expected(prediction, gold):
    names = [[LABELS[i] for i in ids] for ids in (gold, prediction)]
    return score_task("relation", *names, LABELS)


def test_batches_of_any_size_give_the_scores_of_the_whole_split(rows):
    metric = ConfusionScores("relation", LABELS)
    for prediction, gold in zip(*(half.split(17) for half in rows), strict=True):
        metric.update(prediction, gold)
    assert metric.compute() == expected(*rows.tolist())


def test_two_processes_are_joined_by_adding_their_counts(rows):
    halves = [ConfusionScores("relation", LABELS) for _ in range(2)]
    for metric, part in zip(halves, rows.split(51, dim=1), strict=True):
        metric.update(*part)
    reduce = halves[0]._reductions["matrix"]
    halves[0].matrix = reduce(torch.stack([metric.matrix for metric in halves]))
    halves[0]._computed = None
    assert halves[0].compute() == expected(*rows.tolist())


def test_reset_forgets_the_epoch_before(rows):
    metric = ConfusionScores("relation", LABELS)
    metric.update(*rows)
    metric.reset()
    metric.update(rows[0, :9], rows[1, :9])
    assert metric.compute() == expected(rows[0, :9].tolist(), rows[1, :9].tolist())


def test_a_wrong_task_fails_at_once():
    with pytest.raises(ConfigError, match="no task 'relations'"):
        ConfusionScores("relations", LABELS)
