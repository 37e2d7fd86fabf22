"""`heron strength`: its cells can be run, and finished runs are compared."""

import pytest

from heron.base.files import dump_yaml, write_json
from heron.base.run_folder import config_text
from heron.base.tables import write_table
from heron.cli import main
from heron.data.config import DataConfig, FoldsConfig
from heron.data.readers import data_set
from heron.sweeps.grid import compose_jobs
from heron.tasks.config import Config
from heron.training.stages import stage_config
from heron_forks.strength import command
from heron_forks.strength.cells import read_plan
from tiers import one_in

PLAN = read_plan()
LABELS = ["BEFORE", "AFTER"]


@pytest.mark.parametrize("cell", one_in(5, PLAN.cells), ids=lambda cell: cell.key)
def test_every_cell_is_a_run_of_its_set_that_reads_no_test_split_by_chance(cell, tmp_path):
    job = list(cell.jobs())[-1]
    places = {"runs": tmp_path, "encoder": "/an/encoder", "matres": tmp_path}
    places["variants"] = tmp_path
    config = compose_jobs(PLAN.words(cell, job, places))[0].resolved()
    assert (config.seed, config.run.sweep, config.run.job) == (cell.seeds - 1, cell.key, job)
    folds, files = config.data.folds.count, config.data.files
    assert not folds or config.trainer.select == "last"
    assert folds or "test" not in files or cell.set in {"trc_test", "parashoot", "first"}
    stages = config.read_stages()
    of_runs = [config, *(stage_config(config, stages, stage) for stage in stages)]
    data = [data_set(each, name) for each in of_runs for name in (each.data.name, *each.also_test)]
    # `own_*`: a user's files, unless a cell names others
    assert not [file for each in data for file in each.files.values() if file.path[:4] == "own/"]


def finish(folder, seed, fold, right):
    """Write a finished run on made-up rows, of which it predicts those up to `right`."""
    data = DataConfig(name="made_up", label_order=LABELS, folds=FoldsConfig(count=2, fold=fold))
    guids = [f"{fold}.{row}" for row in range(40)]
    gold = [LABELS[row % 2] for row in range(40)]
    said = [LABELS[(row + (row >= right)) % 2] for row in range(40)]
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(config_text(Config(data=data, seed=seed)), "utf-8")
    write_json(folder / "status.json", {"state": "done", "seed": seed, "overrides": []})
    write_json(folder / "scores.json", {"validation": {"accuracy": right / 40}})
    columns = {"guid": guids, "gold": gold, "prediction": said, "group": guids}
    write_table(folder / "predictions" / "validation.parquet", columns)


def test_finished_cells_are_compared_and_the_best_is_chosen(tmp_path, monkeypatch):
    cells = {
        "recipes": {},
        "sets": {"made": {"split": "validation", "metric": "accuracy", "words": ""}},
        "cells": [
            {"set": "made", "name": "plain", "seeds": 2, "folds": 2, "words": "a=1"},
            {"set": "made", "name": "good", "seeds": 1, "folds": 1, "against": "plain"},
            {"set": "made", "dynamics": "plain", "seeds": 1, "folds": 1},
            {"set": "made", "name": "best", "seeds": 1, "among": {"made": ["plain", "good"]}},
        ],
        "dynamics": {"self-paced": "b={plain}"},
    }
    (tmp_path / "cells.yaml").write_text(dump_yaml(cells), "utf-8")
    out, started = tmp_path / "out", []
    for seed in range(2):
        for fold in range(2):
            finish(out / "made-plain" / f"seed-{seed}-fold-{fold}", seed, fold, 20)
    finish(out / "made-good" / "seed-0-fold-0", 0, 0, 36)

    def start(words):
        started.append(words)
        return 2, 60.0

    monkeypatch.setattr(command, "_run_apart", start)
    words = (f"cells={tmp_path / 'cells.yaml'}", f"out={out}", "encoder=E", "optim.lr=1e-4")
    assert main(["strength", *words]) == 2  # two cells could not be finished
    assert len(started) == 2
    # Two run at once: either may be the first.
    chosen, curriculum = sorted(started, key=lambda given: "a=1" in given)
    assert f"b={out}/made-plain/seed-0-fold-0" in curriculum
    assert "a=1" in curriculum
    assert "a=1" not in chosen  # `good` has no words
    assert "optim.lr=1e-4" in chosen
    plan = read_plan(tmp_path / "cells.yaml")
    rows = command.overview(plan.cells, out).rows
    assert [row[3:] for row in rows] == [(4, 4), (1, 1), (0, 1), (0, 1)]
    table = (out / "table.md").read_text("utf-8")
    (line,) = [line for line in table.splitlines() if "good against plain" in line]
    assert "0.400" in line  # on the 40 rows that both have
    assert "| 40 |" in line
