"""HeSum's printed numbers stand beside the runs that they are about, each on its split."""

from pathlib import Path

import pytest

from heron.base.cells import Formatted
from heron.base.files import read_yaml, write_json
from heron.metrics.config import BertScoreConfig
from heron.results.collect import collect
from heron.tasks.task import task_of
from heron.training.compose import compose
from heron_tools.reproduction.paper_tables import paper_view

ROOT = Path(__file__).resolve().parents[4]
HESUM = ROOT / "experiments/hesum/published.yaml"
BASE = {
    "encoder.name": "agemagician/mlong-t5-tglobal-base",
    "data.name": "hesum",
    "data.synthetic": False,
    "report": "hesum/table3",
}


def _row(table, name):
    (row,) = [row for row in table.rows if row[0] == name]
    return row[1:]


def test_a_run_stands_beside_its_model_on_test_and_on_validation(make_run):
    test = {"rouge1": 0.18, "rouge2": 0.08, "rougeL": 0.15, "novel_1": 0.1, "bertscore_f1": 0.6}
    splits = {"test": test, "validation": {**test, "rouge1": 0.19}}
    folder = make_run("a", ("seed=0",), test, BASE)
    write_json(folder / "scores.json", splits)
    tables = paper_view("hesum/table3", collect(folder), HESUM).tables
    printed, ours, change = _row(tables["table3"], "mLongT5 base")[:3]
    assert (printed, ours.mean) == (Formatted(0.1747, ".4f"), 0.18)
    assert change.value == pytest.approx(0.18 - 0.1747)
    assert _row(tables["table3"], "mLongT5 base")[10].mean == 0.6
    printed, ours, _ = _row(tables["table6"], "mLongT5 base")[:3]
    assert (printed.value, ours.mean) == (0.1862, 0.19)
    assert _row(tables["table7"], "mLongT5 base")[1].mean == 0.1


@pytest.mark.parametrize("size", ["base", "large"])
def test_the_papers_experiments_compute_every_score_of_table_3(size):
    config = compose([f"experiment=hesum/mlongt5_{size}"])
    computed = {
        *task_of(config).score_names(config),
        *(["bertscore_f1"] if config.task.bertscore.model else []),
    }
    assert set(read_yaml(HESUM)["tables"]["table3"]["scores"].values()) <= computed
    assert config.task.bertscore == BertScoreConfig(model="onlplab/alephbert-base", layer=9)
