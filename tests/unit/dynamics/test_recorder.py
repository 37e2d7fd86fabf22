"""The recorder writes what the model thought of every row in an epoch, resumed or not."""

from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heron.data.features import Features
from heron.dynamics.recorder import Recorder, dynamics_columns
from heron.runtime.run_folder import RunFolder
from heron.tasks.base import StepOutput

ROWS, CLASSES = 7, 4


def features_with(labels):
    rows = len(labels)
    return Features(
        tokens_T=np.zeros(rows, np.int32),
        offsets_S=np.arange(rows + 1),
        second_S=np.full(rows, -1, np.int32),
        sequences_R=np.arange(rows, dtype=np.int32),
        spans_R4=np.zeros((rows, 4), np.int32),
        markers_R2=np.zeros((rows, 2), np.int32),
        labels_R=np.asarray(labels, np.int32),
        truncated_R=np.zeros(rows, bool),
        guids=[f"g{row}" for row in range(rows)],
        refused=[],
    )


FEATURES = features_with([0, 1, 2, 3, 0, 1, 2])
LOGITS = arrays.arrays(np.float32, (ROWS, CLASSES), elements=st.floats(-50, 50, width=32))


@given(LOGITS)
def test_probability_of_gold_and_correctness_are_those_of_softmax(logits_RC):
    columns = dynamics_columns(FEATURES, logits_RC)
    probabilities_RC = torch.softmax(torch.from_numpy(logits_RC), dim=1)
    gold = FEATURES.labels_R.tolist()
    expected = [probabilities_RC[row, gold[row]].item() for row in range(ROWS)]
    assert columns["p_gold"] == pytest.approx(expected, abs=1e-6)
    assert columns["correct"] == (logits_RC.argmax(axis=1) == FEATURES.labels_R).tolist()
    assert columns["guid"] == FEATURES.guids
    assert columns["gold"] == gold
    assert columns["logits"] == logits_RC.tolist()


@given(LOGITS, arrays.arrays(bool, ROWS))
def test_rows_that_the_epoch_did_not_visit_are_left_out(logits_RC, seen_R):
    columns = dynamics_columns(FEATURES, np.where(seen_R[:, None], logits_RC, np.nan))
    whole = dynamics_columns(FEATURES, logits_RC)
    for name, values in columns.items():
        assert values == [v for v, seen in zip(whole[name], seen_R, strict=True) if seen]


def test_extreme_logits_do_not_overflow():
    logits_RC = np.full((ROWS, CLASSES), -3e4, np.float32)
    logits_RC[:, 0] = 3e4
    p_gold = dynamics_columns(FEATURES, logits_RC)["p_gold"]
    assert p_gold == [float(label == 0) for label in FEATURES.labels_R]


def step(recorder, rows, logits_RC):
    """Tell the recorder about one training batch."""
    rows_R = torch.tensor(rows)
    labels_R = torch.from_numpy(FEATURES.labels_R)[rows_R]
    output = StepOutput(None, logits_RC[rows_R], labels_R, rows_R)
    recorder.on_train_batch_end(None, SimpleNamespace(latest=output), None, None, 0)


def end_epoch(recorder, epoch):
    recorder.on_train_epoch_end(SimpleNamespace(current_epoch=epoch), None)


def written(folder, epoch):
    return pq.read_table(folder.dynamics(epoch)).to_pydict()


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def logits_of(epoch):
    return torch.randn(ROWS, CLASSES, generator=torch.Generator().manual_seed(epoch))


def test_each_epoch_has_a_file_with_every_row_by_guid(folder):
    recorder = Recorder(folder, FEATURES, CLASSES)
    for epoch in range(2):
        step(recorder, [5, 1, 3], logits_of(epoch))
        step(recorder, [0, 6, 2, 4], logits_of(epoch))
        end_epoch(recorder, epoch)
    for epoch in range(2):
        expected = dynamics_columns(FEATURES, logits_of(epoch).numpy())
        assert written(folder, epoch) == expected


def test_each_epoch_starts_empty(folder):
    recorder = Recorder(folder, FEATURES, CLASSES)
    step(recorder, [0, 1], logits_of(0))
    end_epoch(recorder, 0)
    step(recorder, [2], logits_of(1))
    end_epoch(recorder, 1)
    assert written(folder, 1)["guid"] == ["g2"]


def test_an_epoch_that_was_resumed_in_its_middle_is_whole(folder):
    before = Recorder(folder, FEATURES, CLASSES)
    step(before, [5, 1, 3], logits_of(0))
    torch.save(before.state_dict(), folder.path / "state.pt")
    after = Recorder(folder, FEATURES, CLASSES)
    after.load_state_dict(torch.load(folder.path / "state.pt", weights_only=True))
    step(after, [0, 6, 2, 4], logits_of(0))
    end_epoch(after, 0)
    assert written(folder, 0) == dynamics_columns(FEATURES, logits_of(0).numpy())
