from pathlib import Path

import pytest

from heron.errors import ConfigError
from heron.reporting.collect import collect


def test_a_run_folder_is_one_record(make_run):
    (record,) = collect(make_run(overrides=("head=emp", "seed=3")))
    assert (record.state, record.done) == ("done", True)
    assert record.overrides() == {"head": "emp", "seed": "3"}
    assert record.setting("optim.lr") == 3e-5
    assert record.setting("optim.nothing", "default") == "default"


def test_a_sweep_folder_gives_all_runs_with_their_state(make_run):
    make_run("a")
    make_run("b", state="failed")
    sweep = make_run("c", state="running").parent
    (sweep / "notes").mkdir()
    assert [(r.job, r.state) for r in collect(sweep)] == [
        ("a", "done"),
        ("b", "failed"),
        ("c", "running"),
    ]


@pytest.mark.parametrize("name", ["config.yaml", "status.json", "scores.json"])
@pytest.mark.parametrize("content", ["{: [", "[]"])
def test_an_unreadable_file_makes_the_run_broken_and_is_named(make_run, name, content):
    folder = make_run("a")
    (folder / name).write_text(content)
    (record,) = collect(folder)
    assert record.state == "broken"
    assert name in record.status["error"]


def test_a_run_without_status_is_absent(make_run):
    folder = make_run()
    (folder / "status.json").unlink()
    assert collect(folder)[0].state == "absent"


def test_an_empty_sweep_says_what_it_looked_for(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"holds no runs.*config\.yaml"):
        collect(tmp_path)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match="nowhere is not a folder"):
        collect(tmp_path / "nowhere")
