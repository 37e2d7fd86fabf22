"""`heron reproduce`: the targets of the five papers, and what each needs."""

import pytest

from heron.cli import main
from heron_tools.reproduction.status import missing_for, status_table
from heron_tools.reproduction.targets import read_targets

PAPERS = {
    "lchaim": "T1 T2 T3 T4 S2.2 F1 F2 F3 F4",
    "hesum": "T1 T2 T3 T4 T5 T6 T7 T8 F1 F2",
    "ronli": "T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 F1",
    "parashoot": "T1 T2 T3 T4 T5 F1 F2 F3 A.1",
    "trc": "T1 T2 T3 T4 T5 T6 F1",
}
NAMES = {f"{paper}:{key}" for paper, keys in PAPERS.items() for key in keys.split()}


def test_the_five_papers_have_48_tables_and_figures_and_a_check():
    assert set(read_targets()) == NAMES
    assert len(NAMES) == 49


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_target_has_an_experiment_or_a_function(name):
    target = read_targets()[name]
    assert target.experiment is not None or target.function is not None


def test_the_list_says_what_is_missing_and_how_to_fill_each(tmp_path):
    targets = read_targets()
    table = status_table(list(targets.values()), tmp_path, tmp_path)
    rows = {row[0]: row for row in table.rows}
    assert rows["trc:F1"][2:] == (
        "lacks",
        "data trc (train, test); models imvladikon/alephbertgimmel-base-512",
        "heron reproduce trc:F1 encoder=...",
    )
    assert rows["trc:T3"][4] == "heron reproduce trc:T3"
    assert rows["parashoot:F1"][2] == "runs"


def test_a_computed_table_is_filled_in_part_where_only_some_files_are_there(tmp_path):
    target = read_targets()["parashoot:T1"]
    file = tmp_path / "parashoot" / "dev.json"
    file.parent.mkdir()
    file.write_text("{}")
    missing, state = missing_for(target, tmp_path, tmp_path / "cache")
    assert (missing, state) == (["data parashoot (train, test)"], "in part")


def test_a_data_set_that_stands_in_for_missing_files_is_named(tmp_path):
    target = read_targets()["hesum:T5"]
    lacking = "data hesum (train, validation, test)"
    assert missing_for(target, tmp_path, tmp_path / "a") == ([lacking], "lacks")
    file = tmp_path / "hesum_subset" / "pairs.jsonl"
    file.parent.mkdir()
    file.write_text("{}")
    found = missing_for(target, tmp_path, tmp_path / "b")  # states are kept by folders
    assert found == ([lacking, "hesum_subset is substitute data"], "in part")


def test_a_target_that_people_fill_waits_for_them_also_on_a_substitute(tmp_path):
    target = read_targets()["lchaim:F3"]
    lacking = "data lchaim (test)"
    assert missing_for(target, tmp_path, tmp_path / "c") == ([lacking], "lacks")
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "dev.jsonl").write_text("{}")
    found = missing_for(target, tmp_path, tmp_path / "d")
    assert found == ([lacking, "control_dev is substitute data"], "needs people")


def test_an_encoder_from_scratch_needs_no_download(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    words = ["data=chronicle", "encoder=scratch", "only=ess", "dry_run=true"]
    assert main(["reproduce", "trc:T4", *words]) == 0
    assert "1 runs, 1 to do" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["trc:T4", "trc:T1", "lchaim:T2"])
@pytest.mark.parametrize("dry", ["true", "false"])
def test_a_file_that_is_not_there_is_refused_by_every_target(target, dry, tmp_path, capsys):
    file = tmp_path / "absent.csv"
    assert main(["reproduce", target, f"from={file}", f"dry_run={dry}"]) == 2
    assert str(file) in capsys.readouterr().err


def test_a_file_is_refused_where_no_cell_is_computed_from_files(tmp_path, capsys):
    file = tmp_path / "some.csv"
    file.touch()
    assert main(["reproduce", "trc:T4", f"from={file}"]) == 2
    assert "trc:T4" in capsys.readouterr().err
