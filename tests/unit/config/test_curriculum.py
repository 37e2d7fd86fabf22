"""Curricula that cannot work are refused before anything is read or trained, in one line."""

import pytest

from heron.base.errors import ConfigError
from heron.config import curriculum as settings
from heron.config import registries
from heron.config.constraints import check
from heron.config.data import Columns, DataConfig
from heron.config.schema import (
    BaselineConfig,
    Config,
    CurriculumConfig,
    DynamicsConfig,
    HeadConfig,
    TaskConfig,
    TrainerConfig,
)
from heron.dynamics import difficulty, groups
from small_runs import heron

STAGE = {"share": 1.0}


def test_statistics_and_groups_are_those_of_the_dynamics():
    """Settings are read before numpy is; they repeat the names, which must stay the same."""
    assert registries.LEARNT == difficulty.SCORES
    assert settings.GROUPS == groups.GROUPS


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


WRONG = {
    "unknown group": (
        {"stages": [{"share": 1, "groups": ["eazy"]}]},
        r"curriculum\.stages, number 1: no group 'eazy'\. Did you mean 'easy'\?",
    ),
    "unknown key of a stage": (
        {"stages": [STAGE, {"share": 1, "unlok": 0.5}]},
        r"number 2: unknown key 'unlok'\. Did you mean 'unlock'\?",
    ),
    "shares below 1": (
        {"stages": [{"share": 0.5}, {"share": 0.25}]},
        r"the shares add up to 0\.75, not to 1",
    ),
    "shares above 1": ({"stages": [STAGE, STAGE]}, "the shares add up to 2, not to 1"),
    "steps without a budget of its own": (
        {"stages": [{"steps": 100}]},
        r"share=None; .* steps need curriculum\.budget=own",
    ),
    "shares under a budget of its own": (
        {"budget": "own", "stages": [STAGE]},
        r"steps=None; it needs optimizer steps, a whole number above 0",
    ),
    "half a step": ({"budget": "own", "stages": [{"steps": 0.5}]}, "a whole number above 0"),
    "no steps": ({"budget": "own", "stages": [{"steps": 0}]}, "steps=0"),
    "a negative share": ({"stages": [{"share": -1}]}, "share=-1"),
    "a share that is a word": ({"stages": [{"share": "half"}]}, "share=half"),
    "unlock above 1": ({"stages": [{"share": 1, "unlock": 60}]}, r"unlock=60: must be in \(0, 1\]"),
    "unlock and groups": (
        {"stages": [{"share": 1, "unlock": 1, "groups": ["easy"]}]},
        "either unlock or groups",
    ),
    "one group that is no list": (
        {"stages": [{"share": 1, "groups": "easy"}]},
        r"groups is a list, such as \[easy\]",
    ),
    "groups left empty": ({"stages": [{"share": 1, "groups": None}]}, "groups is a list"),
    "no stages": ({}, r"curriculum\.pacing=stages needs curriculum\.stages"),
    "stages that are not asked for": (
        {"pacing": "linear", "stages": [STAGE]},
        r"need curriculum\.pacing=stages, not linear",
    ),
    "an own budget without stages": ({"pacing": "linear", "budget": "own"}, "pacing=stages"),
    "nothing to start with": ({"pacing": "linear", "start": 0.0}, r"curriculum\.start=0\.0"),
    "until after the end": ({"pacing": "linear", "until": 1.5}, r"curriculum\.until=1\.5"),
    "a group larger than all": ({"stages": [STAGE], "fraction": 33}, r"curriculum\.fraction=33"),
    "self-pacing without a look at the losses": (
        {"pacing": "self_paced"},
        r"dynamics\.enabled=true dynamics\.mode=evaluation",
    ),
    "external without scores": (
        {"pacing": "linear", "difficulty": "external"},
        r"curriculum\.scores=FILE and curriculum\.column=NAME",
    ),
    "external without a column": (
        {"pacing": "linear", "difficulty": "external", "scores": "a.csv"},
        r"curriculum\.column=NAME",
    ),
    "scores that no difficulty reads": (
        {"stages": [STAGE], "scores": "a.csv"},
        r"curriculum\.scores=a\.csv needs curriculum\.difficulty=external, not eq1_swapped",
    ),
    "vectors that no difficulty compares": (
        {"stages": [STAGE], "embeddings": "trained"},
        r"curriculum\.embeddings=trained needs curriculum\.difficulty=sts, not eq1_swapped",
    ),
    "two budgets": (
        {"budget": "own", "stages": [{"steps": 5}], "max_steps": 3},
        r"trainer\.max_steps=3: .* trainer\.max_steps=null or curriculum\.budget=equal",
    ),
    "similarity of one text": (
        {"pacing": "linear", "difficulty": "sts", "task": "relation"},
        r"difficulty=sts compares two texts of a kind: it needs task=nli, not relation",
    ),
    "reverse of an order by groups": (
        {"reverse": True, "order": "groups", "stages": [STAGE]},
        r"curriculum\.order=groups",
    ),
    "reverse of what is said in order": (
        {"reverse": True, "stages": [{"share": 1, "groups": ["easy"]}]},
        r"curriculum\.reverse",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_work_is_refused_in_one_line(case):
    changes, message = WRONG[case]
    with pytest.raises(ConfigError, match=message) as refused:
        check(config(**changes))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("changes", [{"by_class": True}, {"sampling": "stratified"}])
def test_classes_of_a_window_are_refused_since_it_comes_with_all_its_pairs(changes):
    windows = config("relation", stages=[STAGE], **changes)
    windows.head = HeadConfig(input="window", pooling="span_ends")
    with pytest.raises(ConfigError, match=r"head\.input=window"):
        check(windows)
    windows.head = HeadConfig()
    check(windows)


def test_a_system_that_does_not_train_in_steps_has_no_curriculum():
    without = config(stages=[STAGE])
    without.baseline = BaselineConfig(name="majority")
    with pytest.raises(ConfigError, match="baseline=majority has none"):
        check(without)


@pytest.mark.parametrize("every", [1, 0.5, 0.25, 0.2, 1 / 3, 1 / 7])
def test_records_divide_an_epoch(every):
    check(DynamicsConfig(every=every))


@pytest.mark.parametrize("every", [0, -1, 2, 0.3, 0.75])
def test_records_that_do_not_divide_an_epoch_are_refused(every):
    with pytest.raises(ConfigError, match=r"dynamics\.every=.*: must be 1, 0\.5"):
        check(DynamicsConfig(every=every))


TYPED = {
    "keys without a curriculum": (
        ("curriculum.start=0.5",),
        "curriculum=none draws from everything",
    ),
    "an unknown curriculum": (("curriculum=cart_cll",), "Did you mean 'cart_cl'"),
    "an unknown difficulty": (
        ("curriculum=linear", "curriculum.difficulty=confidance"),
        "Did you mean 'confidence'?",
    ),
    "an unknown key": (("curriculum=linear", "curriculum.untill=1"), "curriculum.until"),
    "an unknown group": (
        ("curriculum=a", "curriculum.stages=[{share: 1.0, groups: [ambigous]}]"),
        "Did you mean 'ambiguous'?",
    ),
    "steps without a budget": (
        ("curriculum=a", "curriculum.stages=[{steps: 100}]"),
        "steps need curriculum.budget=own",
    ),
    "self-pacing without losses": (
        ("curriculum=self_paced", "dynamics.mode=train"),
        "dynamics.mode=evaluation",
    ),
    "classes of windows": (("curriculum=cart_stra_clpp", "head=window"), "head.input=window"),
    "similarity of one text": (("curriculum=sts_cl",), "it needs task=nli, not relation"),
    "a root below 1": (("curriculum=root", "curriculum.power=0.5"), "curriculum.power"),
}


@pytest.mark.parametrize("case", TYPED)
def test_a_typing_error_costs_one_line_and_no_training(case, tmp_path, capsys):
    words, message = TYPED[case]
    assert heron("train", *words, f"paths.runs={tmp_path}", "trainer.progress=false") == 2
    printed = capsys.readouterr().err.strip()
    assert message in printed
    assert "Traceback" not in printed
    assert len(printed.splitlines()) == 1
    assert not list(tmp_path.iterdir())
