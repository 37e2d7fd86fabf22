"""A key that the task or the baseline does not read is ignored, and said once."""

import pytest

import small_runs

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
    assert not small_runs.compose(tmp_path, *task).without_effect()
