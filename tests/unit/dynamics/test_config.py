"""Curricula that cannot work are refused before anything is read or trained, in one line."""

import pytest

from heron.base.errors import ConfigError
from heron.config.parsing import check
from heron.data.config import Columns, DataConfig
from heron.dynamics import config as settings
from heron.dynamics import difficulty
from heron.dynamics.config import CurriculumConfig, DynamicsConfig
from heron.models import LEARNT
from heron.models.config import HeadConfig
from heron.tasks.config import Config, TaskConfig, TrainerConfig

STAGE = {"share": 1.0}


def test_statistics_are_those_of_the_dynamics():
    assert LEARNT == difficulty.SCORES


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"difficulty": "eq1_swapped"}, True),
        ({"difficulty": "length"}, False),
        ({"difficulty": "length", "stages": [{"share": 1, "groups": ["hard"]}]}, True),
        ({"difficulty": "length", "order": "groups"}, True),
        (
            {
                "difficulty": "length",
                "grouping": "tercile_partition",
                "stages": [{"share": 1, "groups": ["hard"]}],
            },
            False,
        ),
    ],
    ids=[
        "a statistic",
        "length",
        "groups of the dynamics",
        "an order by groups",
        "thirds of lengths",
    ],
)
def test_dynamics_are_asked_for_where_a_statistic_is(changes, wanted):
    assert settings.needs_dynamics(CurriculumConfig(**changes)) == wanted


def config(task="nli", max_steps=None, **changes):
    """Make a configuration with a curriculum."""
    trainer = TrainerConfig(max_steps=max_steps)
    curriculum = CurriculumConfig(**{"name": "mine", **changes})
    head = HeadConfig(input="pair", pooling="cls") if task == "nli" else HeadConfig()
    parts = {"head": head, "curriculum": curriculum, "trainer": trainer}
    format, second = ("pair_table", "hypothesis") if task == "nli" else ("marked_table", None)
    data = DataConfig(task=task, format=format, columns=Columns(text_pair=second))
    return Config(data, task=TaskConfig(task), **parts)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"stages": [{"share": 1, "groups": ["eazy"]}]}, "stages.0.groups.0=eazy.*'easy'"),
        ({"stages": [STAGE, {"share": 1, "unlok": 0.5}]}, "stages.1.unlok"),
        ({"stages": [STAGE, STAGE]}, "stages.* 2, not to 1"),
        ({"stages": [{"steps": 100}]}, "stages.*budget=equal.*share"),
        ({"budget": "own", "stages": [STAGE]}, "stages.*budget=own.*steps"),
        ({"budget": "own", "stages": [{"steps": 0.5}]}, "stages.0.steps=0.5"),
        ({"stages": [{"share": -1}]}, "stages.0.share=-1"),
        ({"stages": [{"share": 1, "unlock": 60}]}, "stages.0.unlock=60"),
        ({"stages": [{"share": 1, "unlock": 1, "groups": ["easy"]}]}, "stages.*unlock or groups"),
        ({}, "stages"),
        ({"pacing": "linear", "stages": [STAGE]}, "pacing=stages"),
        ({"pacing": "linear", "start": 0.0}, "start=0.0"),
        ({"pacing": "self_paced"}, "dynamics.mode=evaluation"),
        ({"pacing": "linear", "difficulty": "external"}, "curriculum.scores"),
        ({"budget": "own", "stages": [{"steps": 5}], "max_steps": 3}, "trainer.max_steps=3"),
        ({"pacing": "linear", "difficulty": "sts", "task": "relation"}, "difficulty=sts.*task=nli"),
        ({"reverse": True, "order": "groups", "stages": [STAGE]}, "curriculum.order=groups"),
    ],
)
def test_what_cannot_work_is_refused_by_key(changes, key):
    with pytest.raises(ConfigError, match=key):
        check(config(**changes))


@pytest.mark.parametrize("changes", [{"by_class": True}, {"sampling": "stratified"}])
def test_classes_of_a_window_are_refused_since_it_comes_with_all_its_pairs(changes):
    windows = config("relation", stages=[STAGE], **changes)
    windows.head = HeadConfig(input="window", pooling="span_ends")
    with pytest.raises(ConfigError, match=r"head\.input=window"):
        check(windows)
    windows.head = HeadConfig()
    check(windows)


@pytest.mark.parametrize("every", [1, 0.5, 0.25, 0.2, 1 / 3, 1 / 7])
def test_records_divide_an_epoch(every):
    check(DynamicsConfig(every=every))


@pytest.mark.parametrize("every", [0, -1, 2, 0.3, 0.75])
def test_records_that_do_not_divide_an_epoch_are_refused(every):
    with pytest.raises(ConfigError, match=r"dynamics\.every="):
        check(DynamicsConfig(every=every))
