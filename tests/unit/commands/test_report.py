import json
import shutil

import pytest

from heron.commands.report import run, write_report


def test_a_sweep_gets_page_figure_and_tables(make_run):
    make_run("a", ("head=ess", "seed=0"), {"macro_f1": 0.5})
    folder = make_run("b", ("head=emp", "seed=0"), state="failed").parent
    files = write_report(folder)
    assert [path.name for path in files.tables] == ["table.csv", "table.md"]
    assert files.missing == ("b: failed",)
    table = (folder / "table.csv").read_text().splitlines()
    assert table[0] == "head,runs,macro_f1 mean,macro_f1 sd,macro_f1 n"
    assert "ess,1 done,0.5,,1" in table


def test_a_sweep_that_asks_for_a_papers_table_gets_it_beside_its_own(make_run):
    scores = {"macro_f1": 0.5, "relaxed_macro_f1": 0.6}
    folder = make_run(scores=scores, config={"report": "trc/table4"}).parent
    files = write_report(folder)
    assert {"table4.csv", "table5.csv"} < {path.name for path in files.tables}
    assert "Table 4" in (folder / "table.md").read_text(encoding="utf-8")


def test_the_pages_of_a_very_large_sweeps_runs_wait_until_somebody_asks(make_run, monkeypatch):
    monkeypatch.setattr("heron.reports.sweep._MOST_PAGES", 1)
    folders = [make_run(job, ("head=ess", f"seed={job}")) for job in "01"]
    files = write_report(folders[0].parent)
    assert files.missing == ("pages of 2 single runs: `heron report DIR/<run>` writes one",)
    assert not (folders[0] / "report.html").exists()
    write_report(folders[0])
    assert write_report(folders[0].parent).missing == ()
    assert (folders[1] / "report.html").is_file()


def test_out_leaves_the_runs_untouched(make_run, tmp_path):
    folder = make_run()
    before = sorted(folder.rglob("*"))
    write_report(folder.parent, tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "report.html").is_file()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "part", ["dynamics", "predictions", "metrics.csv", "scores.json", "status.json", "config.yaml"]
)
def test_a_run_without_one_part_still_gets_its_report(make_run, part):
    path = make_run() / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert write_report(path.parent).html.is_file()


def test_a_run_scored_on_validation_only_is_reported_on_validation(make_run):
    folder = make_run()
    scores = {"validation": {"macro_f1": 0.25, "f1/EQUAL": 0.125}}
    (folder / "scores.json").write_text(json.dumps(scores))
    (folder / "predictions/test.parquet").rename(folder / "predictions/validation.parquet")
    files = write_report(folder)
    assert "no test scores" in files.missing
    page = files.html.read_text(encoding="utf-8")
    assert "0.250" in page
    assert "0.125" in page


def test_a_run_folders_name_may_hold_an_equals_sign(make_run, capsys):
    folder = make_run("seed=0-1a2b3c4d")
    assert run([str(folder)]) == 0
    assert str(folder / "report.html") in capsys.readouterr().out
