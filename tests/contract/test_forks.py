"""A fork with everything that a fork may add, taken from the pages in `experiments/adding`.

The pages' code is the fork. It stands in a temporary working directory, and `heron` runs as a user
would run it: nothing in the core knows it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heron.base.tables import read_table
from small_forks import ENVIRONMENT, PAGES, SMALL, commands_in, write_data, write_fork

pytestmark = pytest.mark.real  # the fork is trained, reported and listed: half a minute


@pytest.fixture(scope="module")
def heron(place):
    """Run commands in the fork's folder, as a user would; each returns all that it prints."""
    with commands_in(place) as run:
        yield run


def heron_in(folder: Path, *words: str, wanted: int = 0) -> str:
    """Run one command in another folder."""
    code = "import sys; from heron.cli import main; sys.exit(main(sys.argv[1:]))"
    said = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert said.returncode == wanted, said.stdout + said.stderr
    return said.stdout + said.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Make a working directory with the fork and its data."""
    folder = tmp_path_factory.mktemp("work")
    write_fork(folder / "experiments" / "village")
    write_data(folder / "data" / "village")
    return folder


EVERYTHING = (
    "data=village_lines",
    "head=scaled",
    "optim.loss=focal",
    "curriculum=rare_last",
    "batching=sortish",
    "task.metrics=[mean_recall,classes_found]",
    "callbacks=[default,weight_norm]",
    "+logger.second._target_=pytorch_lightning.loggers.CSVLogger",
    "+logger.second.name=second",
)


@pytest.fixture(scope="module")
def sweep(heron, place):
    """Train a sweep of two jobs, each in a process of its own, and one of the fork's task."""
    heron("train", "-m", *SMALL, *EVERYTHING, "run.sweep=all", "seed=0,1")
    heron("train", *SMALL, "data=headlines_news", "run.sweep=items", "run.job=a")
    return place / "runs" / "all"


@pytest.fixture(scope="module")
def job(sweep):
    """Choose one job of the sweep."""
    return sorted(path.parent for path in sweep.glob("*/scores.json"))[0]


def test_pages_show_no_name_that_a_core_file_must_learn():
    assert {page.stem for page in PAGES} == {
        *("language", "format", "head", "loss", "curriculum", "plan", "metric", "callback", "task"),
        *("command", "baseline", "prompt", "dataset", "experiment"),
    }
    assert not [page for page in PAGES if "CHOICES" in page.read_text(encoding="utf-8")]


def test_a_run_of_the_fork_has_its_scores_records_and_logs(job):
    scores = json.loads((job / "scores.json").read_text())
    assert {"macro_f1", "mean_recall", "classes_found"} <= set(scores["test"])
    assert "norm" in (job / "metrics.csv").read_text()
    assert list(job.glob("second/**/metrics.csv"))
    assert (job / "dynamics" / "epoch=1.parquet").is_file()
    stored = (job / "config.yaml").read_text()
    assert "largest_centres" in stored
    assert "plan: sortish" in stored
    assert stored.count("heron_forks") == 1  # of the callback; names elsewhere


def test_a_run_of_the_fork_s_task_has_what_any_run_has(sweep, place, heron):
    job = place / "runs" / "items" / "a"
    assert "accuracy" in json.loads((job / "scores.json").read_text())["test"]
    given, out = place / "data/village/test.csv", place / "items.csv"
    heron("predict", f"run={job}", f"input={given}", f"out={out}")
    assert len(read_table(out).rows) == 16
    heron("score", "task=headlines", f"gold={given}", f"predictions={out}")
    heron("analyze", f"run={job}", "morphology=surface")
    heron("map", f"run={job}", "format=png")
    heron("audit", "data=headlines_news")


def test_predictions_are_those_of_the_run_and_scored_alike(job, place, heron):
    given, out = place / "data/village/test.txt", place / "lines.csv"
    heron("predict", f"run={job}", f"input={given}", f"out={out}")
    predicted = read_table(out).values("label")
    stored = read_table(job / "predictions" / "test.parquet")
    assert predicted == stored.values("prediction")
    assert "mean_recall" in heron("evaluate", f"run={job}", f"input={given}")
    gold = job / "predictions" / "test.parquet"
    said = heron(
        *("score", "task=classification", "metrics=mean_recall", "gold_column=gold"),
        *(f"gold={gold}", f"predictions={out}", f"out={place / 'scored.json'}"),
    )
    found = json.loads((place / "scored.json").read_text())["lines"]
    wanted = json.loads((job / "scores.json").read_text())["test"]["mean_recall"]
    assert found["mean_recall"] == pytest.approx(wanted), said


def test_a_run_is_analysed_drawn_reported_and_compared(sweep, job, place, heron):
    heron("analyze", f"run={job}", "morphology=surface")
    heron("analyze", "data=village_lines", "morphology=surface")
    heron("map", f"run={job}", "format=png")
    heron("report", str(sweep))
    assert "| mean_recall | classes_found |" in (sweep / "table.md").read_text(encoding="utf-8")
    for seed, path in enumerate(sorted(sweep.glob("*/predictions/test.parquet"))):
        shutil.copy(path, place / f"seed{seed}.parquet")
    said = heron("compare", "seed0.parquet", "seed1.parquet", "metric=mean_recall")
    assert "mean_recall" in said
    heron("audit", "data=village_lines")


def test_a_baseline_of_the_fork_is_fitted_scored_and_opened_again(heron, place):
    words = ("data=village_lines", "baseline=familiar", "run.sweep=familiar", "run.job=a")
    heron("train", *(word for word in SMALL if word.startswith(("task.", "run."))), *words)
    job = place / "runs" / "familiar" / "a"
    assert (
        json.loads((job / "scores.json").read_text())["test"]["accuracy"] > 0.5
    )  # of three classes
    given, out = place / "data/village/test.txt", place / "familiar.csv"
    heron("predict", f"run={job}", f"input={given}", f"out={out}")
    stored = read_table(job / "predictions" / "test.parquet").values("prediction")
    assert read_table(out).values("label") == stored
    assert "'familiar'" in heron("train", "data=village_lines", "baseline.name=familar", wanted=2)


def test_a_prompt_a_model_and_a_backend_of_the_fork_are_a_system(heron, place):
    data = ("data=chronicle_nli", "data.generator.size=100")
    asked = (*data, "prompt=yes_or_no", "model=echo", "shots=3", "draw=balanced")
    heron("prompt", *asked, "task.bootstrap=0", "run.job=echo")
    (folder,) = (place / "runs").glob("*/echo")
    rows = read_table(folder / "prompts.parquet").rows
    assert {row["parsed"] for row in rows} == {"contradiction"}
    assert all("is the second one true?" in row["prompt"] for row in rows)
    assert all(len(row["shots"].split()) == 3 for row in rows)
    assert "yes_or_no" in heron("options", "prompt")
    said = heron("prompt", *asked[:3], "model=echo", "model.backend=ecco", wanted=2)
    assert "'echo'" in said


def test_a_command_of_the_fork_is_listed_explained_and_run(heron):
    assert "count the rows of tables" in heron("--help")
    assert "usage: heron count" in heron("count", "--help")
    said = heron("count", "files=data/village/train.csv,data/village/test.csv")
    assert re.search(r"train.csv +80\n.*test.csv +16", said)
    assert "'files'" in heron("count", "file=data/village/train.csv", wanted=2)
    assert "'count'" in heron("counts", wanted=2)


@pytest.mark.real  # a training in a process of its own
def test_a_fork_elsewhere_is_found_by_its_search_path(place, tmp_path):
    write_fork(tmp_path / "village")
    words = ("data=village_lines", "head=scaled", "run.sweep=s", "run.job=a", "seed=3")
    path = f"hydra.searchpath=[{tmp_path / 'village' / 'conf'}]"
    (tmp_path / "work").mkdir()
    data = f"paths.data={place / 'data'}"
    heron_in(tmp_path / "work", "train", *SMALL, *words, path, data, "run.isolate=true")
    assert (tmp_path / "work" / "runs" / "s" / "a" / "scores.json").is_file()
