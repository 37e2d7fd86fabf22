"""A key that the task or the baseline does not read is ignored, and said once."""

import pytest

import small_runs
from heron.base.errors import ConfigError
from heron.data.config import DataConfig
from heron.tasks.config import Config, TaskConfig, read
from heron.tasks.qa.config import QaConfig

RELATION = ()
QA = ("data=chronicle_qa", "task=qa", "head=span", "trainer.monitor=f1")
SUMMARIES = ("data=chronicle_summaries", "task=summarization", "head=warm_start")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (RELATION, ["optim.soft.answers=true", "data.normalize_case=lower"]),
        (RELATION, ["baseline=majority", "optim.suspects.dynamics=[a]", "stages=[chronicle]"]),
        (
            QA,
            ["optim.class_weights=balanced", "optim.soft.columns=[a]", "data.normalize_case=lower"],
        ),
        (SUMMARIES, ["data.columns.truth=a", "optim.soft.answers=true"]),
    ],
)
def test_what_is_not_read_is_said_and_no_more(task, words, tmp_path, capsys) -> None:
    config = small_runs.compose(tmp_path, *task, *words)
    keys = [word.partition("=")[0] for word in words if not word.startswith("baseline")]
    assert set(config.without_effect()) == set(keys)
    said = capsys.readouterr().err
    assert all(key in said for key in keys)
    assert ("no effect with baseline=majority: stages" in said) == ("baseline=majority" in words)
    assert not small_runs.compose(tmp_path, *task).without_effect()


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (RELATION, ["task.bertscore.model=a", "task.n_best=3"]),
        (QA, ["task.relaxed=drop", "task.mask_share=0.5"]),
        (SUMMARIES, ["task.decoding=mbr"]),
    ],
)
def test_keys_of_another_task_are_left_out_and_said(task, words, tmp_path, capsys) -> None:
    config = small_runs.compose(tmp_path, *task, *words)
    said = capsys.readouterr().err
    for word in words:
        key = word.partition("=")[0].split(".")[1]
        assert f"task.{key}" in said
        assert key not in config.values()["task"]


def test_a_key_of_no_task_is_refused_with_the_nearest_name(tmp_path) -> None:
    with pytest.raises(ConfigError, match=r"task.relaxd: .* Did you mean 'task.relaxed'"):
        small_runs.compose(tmp_path, "task.relaxd=drop")


def test_a_stored_configuration_with_the_keys_of_all_tasks_is_read(tmp_path) -> None:
    expected = small_runs.compose(tmp_path)
    values = expected.values()
    values["task"] |= {"n_best": 20, "bertscore": {"model": None}, "max_target_tokens": 128}
    assert read(values) == expected


def test_a_task_that_is_only_named_has_its_own_keys() -> None:
    config = Config(DataConfig(task="qa"), task=TaskConfig("qa", bootstrap=0))
    assert (config.task.bootstrap, QaConfig.of(config).n_best) == (0, 20)
