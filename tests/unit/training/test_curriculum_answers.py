"""Curricula over questions: they follow what an earlier run has recorded of each question."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.training import job
from heron.training.run_names import run_path
from small_runs import compose

QUESTIONS = (
    *("data=chronicle_qa", "data.generator.size=100", "data.generator.unanswerable=0.3"),
    *("data.label_order=[answer,no_answer]", "encoder.max_length=64", "encoder.stride=16"),
    *(
        "batching.tokens=1500",
        "trainer.select=last",
        "trainer.enable_progress_bar=false",
        "optim.lr=5e-3",
    ),
    *("run.export=false", "task.bootstrap=0"),
)
# Half of the steps on the easier four tenths of the questions, then everything.
HALF = "curriculum.stages=[{share: 0.5, unlock: 0.4}, {share: 0.5}]"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("curricula")


@pytest.fixture(scope="module")
def trained(home):
    """Return a function that trains under a curriculum, once; gives the run."""
    done = {}

    def train(*words):
        if words not in done:
            config = compose(home, *QUESTIONS, *words)
            done[words] = RunFolder(run_path(config, words or ("none",)))
            done[words].path.mkdir(parents=True)
            job.run_job(config, done[words])
        return done[words]

    return train


def probabilities(folder):
    """Read each question's probability of the right answer in each epoch: `{guid: [E]}`."""
    found = {}
    for epoch in (0, 1):
        table = pq.read_table(folder.dynamics(epoch))
        for guid, p in zip(table["guid"].to_pylist(), table["p_gold"].to_pylist(), strict=True):
            found.setdefault(guid, []).append(p)
    return found


def first_run(folder):
    """Find the run beside a curriculum's that it has learnt from."""
    (path,) = (p for p in folder.path.parent.iterdir() if "curriculum=none" in p.name)
    return RunFolder(path)


def drawn(folder, epoch):
    return set(pq.read_table(folder.dynamics(epoch))["guid"].to_pylist())


def test_every_question_is_recorded_once_however_many_windows_it_has(trained):
    learnt = first_run(trained("curriculum=e2l"))
    data = DataModule(compose(learnt.path.parents[2], *QUESTIONS))
    features = data.features[TRAIN]
    assert len(features.lengths_S) > len(features.guids), "some have several windows"
    for epoch in (0, 1):
        guids = pq.read_table(learnt.dynamics(epoch))["guid"].to_pylist()
        assert sorted(guids) == sorted(features.guids)


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("e2l", lambda p: p.mean()),
        pytest.param("h2l", lambda p: -p.mean(), marks=pytest.mark.real),
        pytest.param("a", lambda p: p.std(), marks=pytest.mark.real),
    ],
)
def test_a_subset_is_the_third_of_the_questions_that_the_first_run_says(trained, name, best):
    folder = trained(f"curriculum={name}")
    values = {guid: best(np.array(ps)) for guid, ps in probabilities(first_run(folder)).items()}
    wanted = sorted(values, key=values.get, reverse=True)[: int(0.3319 * len(values)) + 1]
    seen = drawn(folder, 0) | drawn(folder, 1)
    assert len(seen) == len(wanted)
    # Of questions that are equal, either may be in.
    border = values[wanted[-1]]
    assert all(values[guid] >= border - 1e-6 for guid in seen)


def test_easy_questions_come_first_and_then_all(trained):
    folder = trained("curriculum=cart_clpp", "curriculum.difficulty=confidence", HALF)
    means = {guid: np.mean(ps) for guid, ps in probabilities(first_run(folder)).items()}
    order = sorted(means, key=means.get, reverse=True)
    easiest = set(order[: int(np.ceil(0.4 * len(order)))])
    assert drawn(folder, 0) == easiest
    stages = read_json(folder.ledger)["stages"]
    # A fixed number of batches may leave out what one more would hold, and no more.
    left_out = set(order) - drawn(folder, 1)
    assert len(left_out) <= np.ceil(len(order) / stages[1]["batches"])
    assert not set(order[-5:]) <= left_out
    assert [stage["unique"] for stage in stages] == [len(easiest), len(drawn(folder, 1))]
