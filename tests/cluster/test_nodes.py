"""One training over several nodes: Lightning's own Trainer, started by SLURM's `srun`."""

from __future__ import annotations

import json
import sys

import pytest

from cluster.conftest import running_cluster

pytestmark = [pytest.mark.real, pytest.mark.slow]

# The script of docs/cluster.md, with what the test compares.
SCRIPT = """\
import json, os, sys
import pytorch_lightning as pl
import torch
from heron import DataModule, build_module, compose

nodes, out, *words = sys.argv[1:]
config = compose(words)
pl.seed_everything(config.seed, workers=True)
data = DataModule(config)
module = build_module(config, data)
trainer = pl.Trainer(
    num_nodes=int(nodes),
    devices=1,
    strategy="ddp" if int(nodes) > 1 else "auto",
    max_epochs=config.trainer.max_epochs,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
)
trainer.fit(module, datamodule=data)
scores = trainer.test(module, datamodule=data)[0]
total = sum(float(weights.abs().sum()) for weights in module.parameters())
rank = os.environ.get("SLURM_PROCID", "0")
with open(f"{out}.{rank}", "w") as file:
    json.dump({**scores, "weights": total, "ranks": trainer.world_size}, file)
"""


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory):
    """Two nodes of one machine."""
    yield from running_cluster(tmp_path_factory, nodes=2)


def test_a_training_over_two_nodes_equals_that_of_one_process(two_nodes, command, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    _, _, *words = command("encoder.dropout=0", "head.dropout=0", "trainer.max_epochs=3")

    two_nodes.command(sys.executable, str(script), "1", f"{tmp_path}/one", *words)
    # The names of simulated nodes lead nowhere.
    two_nodes.environment["MASTER_ADDR"] = "127.0.0.1"
    over = ("srun", "--nodes=2", "--ntasks-per-node=1", sys.executable)
    two_nodes.command(*over, str(script), "2", f"{tmp_path}/two", *words, cwd=tmp_path)

    one = json.loads((tmp_path / "one.0").read_text())
    first, second = (json.loads((tmp_path / f"two.{rank}").read_text()) for rank in (0, 1))
    assert first == second
    assert (one.pop("ranks"), first.pop("ranks")) == (1, 2)
    assert first == pytest.approx(one, abs=1e-6, rel=1e-6)
