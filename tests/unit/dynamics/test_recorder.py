"""The recorder writes what the model thought of every row that a record saw, resumed or not."""

from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heron.base import ranks
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN, DataConfig
from heron.data.features import UNLABELLED, Features
from heron.dynamics.config import DynamicsConfig
from heron.dynamics.files import read_dynamics, read_meta, record_paths
from heron.dynamics.recorder import Recorder
from heron.tasks.class_module import ClassificationModule, StepOutput
from heron.tasks.config import Config, TaskConfig

ROWS, CLASSES = 7, 4
LABELS = ["a", "b", "c", "d"]
GOLD = [0, 1, 2, 3, 0, 1, 2]


def features_with(labels):
    rows = len(labels)
    return Features(
        tokens_T=np.zeros(rows, np.int32),
        offsets_S=np.arange(rows + 1),
        second_S=np.full(rows, -1, np.int32),
        sequences_R=np.arange(rows, dtype=np.int32),
        labels_R=np.asarray(labels, np.int32),
        truncated_R=np.zeros(rows, bool),
        guids=[f"g{row}" for row in range(rows)],
        refused=[],
    )


class Module:
    """Observes as every classifier does; `answers_RC` are its logits in evaluation."""

    def __init__(self, gold=GOLD):
        self.gold_R = torch.tensor(gold)
        self.training = True
        self.device = torch.device("cpu")
        self.answers_RC = None

    def observe(self, output):
        return ClassificationModule.observe(self, output)

    def observe_all(self, outputs):
        return ClassificationModule.observe_all(self, outputs)

    def output(self, rows, logits_RC):
        rows_R = torch.tensor(rows)
        return StepOutput(None, None, self.gold_R[rows_R], rows_R, logits_RC=logits_RC)

    def step(self, batch):
        assert not self.training
        return self.output(batch.rows, self.answers_RC[torch.tensor(batch.rows)])

    def eval(self):
        self.training = False

    def train(self):
        self.training = True


class Batch:
    def __init__(self, rows):
        self.rows = rows

    def to(self, device):
        return self


class Session:
    """A recorder, and a trainer that tells it about batches."""

    def __init__(self, path, gold=GOLD, mode="train", every=1.0, curriculum=None, trainer=()):
        self.folder = RunFolder(path)
        batches = [Batch([0, 1, 2]), Batch([3, 4]), Batch([5, 6])]
        data = SimpleNamespace(
            features={TRAIN: features_with(gold)},
            curriculum=curriculum,
            evaluation_loader=lambda split: batches,
        )
        config = Config(DataConfig(name="x", label_order=LABELS), task=TaskConfig(name="nli"))
        config.dynamics = DynamicsConfig(mode=mode, every=every)
        self.recorder, self.module = Recorder(self.folder), Module(gold)
        self.module.config, self.module.data = config, lambda: data
        self.trainer = SimpleNamespace(
            current_epoch=0,
            is_global_zero=True,
            strategy=SimpleNamespace(predict_step=lambda batch, _: self.module.step(batch)),
        )
        vars(self.trainer).update(dict(trainer))
        self.recorder.setup(self.trainer, self.module, "fit")

    def batch(self, rows, logits_RC, index=0, of=100):
        self.trainer.num_training_batches = of
        outputs = {"output": self.module.output(rows, torch.as_tensor(logits_RC))}
        self.recorder.on_train_batch_end(self.trainer, self.module, outputs, None, index)

    def end_epoch(self, epoch=0):
        self.trainer.current_epoch = epoch
        self.recorder.on_train_epoch_end(self.trainer, self.module)

    def written(self, epoch=0, part=None):
        return pq.read_table(self.folder.dynamics(epoch, part)).to_pydict()


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path)


def logits_of(seed, rows=ROWS):
    return torch.randn(rows, CLASSES, generator=torch.Generator().manual_seed(seed))


def by_hand(gold, logits_C):
    """Gold probability, correctness and margin of one row in float64, as on paper."""
    logits_C = np.asarray(logits_C, np.float64)
    shares_C = np.exp(logits_C - logits_C.max())
    others = [logit for place, logit in enumerate(logits_C) if place != gold]
    correct = float(int(np.argmax(logits_C)) == gold)
    return shares_C[gold] / shares_C.sum(), correct, logits_C[gold] - max(others)


LOGITS = arrays.arrays(np.float32, (ROWS, CLASSES), elements=st.floats(-50, 50, width=32))


@given(logits_RC=LOGITS)
def test_values_are_those_of_softmax_and_of_the_margin_by_hand(logits_RC, tmp_path_factory):
    session = Session(tmp_path_factory.getbasetemp() / "by_hand")
    session.batch(range(ROWS), logits_RC)
    session.end_epoch()
    found = session.written()
    expected = [by_hand(gold, logits_C) for gold, logits_C in zip(GOLD, logits_RC, strict=True)]
    p_gold, correct, margin = zip(*expected, strict=True)
    assert found["p_gold"] == pytest.approx(p_gold, abs=1e-6)
    assert found["correct"] == list(correct)
    assert found["margin"] == pytest.approx(margin, abs=1e-4)
    assert found["logits"] == logits_RC.tolist()
    assert found["guid"] == [f"g{row}" for row in range(ROWS)]
    assert found["gold"] == GOLD
    assert found["count"] == [1] * ROWS


def test_extreme_logits_do_not_overflow(session):
    logits_RC = np.full((ROWS, CLASSES), -3e4, np.float32)
    logits_RC[:, 0] = 3e4
    session.batch(range(ROWS), logits_RC)
    session.end_epoch()
    assert session.written()["p_gold"] == [float(gold == 0) for gold in GOLD]


def test_repeats_are_averaged_and_counted(session):
    """Oversampling shows row 1 three times, in two batches and twice in one of them."""
    first, second = logits_of(0, 3), logits_of(1, 2)
    session.batch([1, 4, 1], first)
    session.batch([1, 2], second, 1)
    session.end_epoch()
    found = session.written()
    assert found["guid"] == ["g1", "g2", "g4"]
    assert found["count"] == [3, 1, 1]
    visits = [by_hand(1, logits_C) for logits_C in (first[0], first[2], second[0])]
    p_gold, correct, margin = np.mean(visits, axis=0)
    assert found["p_gold"][0] == pytest.approx(p_gold, abs=1e-6)
    assert found["correct"][0] == pytest.approx(correct)
    assert found["margin"][0] == pytest.approx(margin, abs=1e-5)
    mean_C = (first[0] + first[2] + second[0]) / 3
    assert found["logits"][0] == pytest.approx(mean_C.tolist(), abs=1e-6)


def test_rows_that_a_record_did_not_visit_are_absent_and_each_starts_empty(session):
    session.batch([5, 1, 3], logits_of(0, 3))
    session.end_epoch(0)
    session.batch([2], logits_of(1, 1))
    session.end_epoch(1)
    assert session.written(0)["guid"] == ["g1", "g3", "g5"]
    assert session.written(1)["guid"] == ["g2"]
    assert session.written(1)["logits"] == [pytest.approx(logits_of(1, 1)[0].tolist())]
    read = read_dynamics(session.folder.path)
    assert read.count_EN.sum(axis=1).tolist() == [3, 1]


def test_rows_without_a_label_are_left_out(tmp_path):
    session = Session(tmp_path, gold=[0, UNLABELLED, 2, UNLABELLED, 0, 1, 2])
    session.batch(range(ROWS), logits_of(0))
    session.end_epoch()
    assert session.written()["guid"] == ["g0", "g2", "g4", "g5", "g6"]


def test_a_record_says_when_how_and_for_which_classes_it_was_made(tmp_path):
    session = Session(tmp_path, every=0.5)
    for index in range(2):
        session.batch(range(ROWS), logits_of(index), index, of=2)
    session.end_epoch()
    metas = [read_meta(pq.read_table(path)) for path in record_paths(tmp_path)]
    assert [meta.epoch for meta in metas] == [0.5, 1.0]
    for meta in metas:
        assert (meta.mode, meta.task, meta.labels) == ("train", "nli", tuple(LABELS))


@pytest.mark.parametrize("step", [0, 3])
def test_records_of_an_earlier_training_stay_only_if_it_is_continued(step, tmp_path):
    """The earlier one had more epochs, and two records in each."""
    earlier = Session(tmp_path, every=0.5)
    for epoch in range(3):
        earlier.trainer.current_epoch = epoch
        for index in range(2):
            earlier.batch(range(ROWS), logits_of(index), index, of=2)
        earlier.end_epoch(epoch)
    other_file = tmp_path / "dynamics" / "notes.txt"
    other_file.touch()

    session = Session(tmp_path, every=0.5 if step else 1.0)
    session.trainer.global_step = step
    session.recorder.on_train_start(session.trainer, session.module)
    assert other_file.exists()
    if step:
        assert len(record_paths(tmp_path)) == 6
        return

    session.batch(range(ROWS), logits_of(7))
    session.end_epoch()
    assert read_dynamics(tmp_path).epochs_E.tolist() == [1.0]


@pytest.mark.parametrize("batches", [1, 2, 3, 4, 5, 7, 8, 11, 23])
@pytest.mark.parametrize("parts", [1, 2, 4, 5])
def test_parts_of_an_epoch_cover_it_exactly(batches, parts, tmp_path):
    """Every batch is in one part; parts are as long as each other, but for whole batches."""
    session = Session(tmp_path, every=1 / parts)
    for epoch in range(2):
        session.trainer.current_epoch = epoch
        for index in range(batches):
            rows = [index % ROWS]
            session.batch(rows, logits_of(index, 1), index, of=batches)
        session.end_epoch(epoch)
    read = read_dynamics(tmp_path)
    per_record = read.count_EN.sum(axis=1).reshape(2, -1)
    ends = [epoch + part / parts for epoch in range(2) for part in range(1, parts + 1)]
    # A part that no batch ends in has no file: with fewer batches than parts.
    assert set(read.epochs_E) <= set(ends)
    assert {1.0, 2.0} <= set(read.epochs_E)
    for counts_E in per_record:
        assert counts_E.sum() == batches
        if batches >= parts:
            assert len(counts_E) == parts
            assert counts_E.max() - counts_E.min() <= 1


class TestEvaluationMode:
    """A pass of its own at the end of each record, over every row, without dropout."""

    def test_values_are_those_of_the_pass_and_not_of_training(self, tmp_path):
        session = Session(tmp_path, mode="evaluation")
        session.module.answers_RC = logits_of(7)
        session.batch([0, 1], logits_of(0, 2))
        session.end_epoch()
        found = session.written()
        assert found["guid"] == [f"g{row}" for row in range(ROWS)]
        assert found["logits"] == [pytest.approx(row) for row in logits_of(7).tolist()]
        assert found["count"] == [1] * ROWS
        assert session.module.training, "training goes on in train mode"
        assert read_dynamics(tmp_path).mode == "evaluation"

    def test_every_part_of_an_epoch_has_a_pass(self, tmp_path):
        session = Session(tmp_path, mode="evaluation", every=0.5)
        for index in range(2):
            session.module.answers_RC = logits_of(index)
            session.batch([0], logits_of(9, 1), index, of=2)
        session.end_epoch()
        for part in range(2):
            expected = logits_of(part).tolist()
            assert session.written(0, part)["logits"] == [pytest.approx(row) for row in expected]

    def test_a_curriculum_learns_the_loss_of_every_row_at_the_end_of_each_epoch(self, tmp_path):
        seen = []
        curriculum = SimpleNamespace(losses_U=None, observe=seen.append)
        session = Session(tmp_path, mode="evaluation", every=0.5, curriculum=curriculum)
        session.module.answers_RC = logits_of(7)
        session.batch([0], logits_of(9, 1), 0, of=2)
        assert not seen, "half an epoch is no epoch"
        session.end_epoch()
        (losses_R,) = seen
        expected = torch.nn.functional.cross_entropy(
            logits_of(7), torch.tensor(GOLD), reduction="none"
        )
        assert losses_R == pytest.approx(expected.numpy(), abs=1e-5)

    def test_a_row_without_a_label_has_no_loss(self, tmp_path):
        seen = []
        curriculum = SimpleNamespace(losses_U=None, observe=seen.append)
        gold = [0, UNLABELLED, 2, 3, 0, 1, 2]
        session = Session(tmp_path, gold=gold, mode="evaluation", curriculum=curriculum)
        session.module.answers_RC = logits_of(7)
        session.end_epoch()
        assert np.isnan(seen[0]).tolist() == [label == UNLABELLED for label in gold]


class TestResume:
    """What a record has seen, and a self-paced curriculum's losses, outlive a kill."""

    def stored(self, session, path):
        torch.save(session.recorder.state_dict(), path)
        return torch.load(path, weights_only=True)

    def test_a_record_that_was_cut_in_its_middle_is_whole(self, tmp_path):
        whole, before, after = (Session(tmp_path / name) for name in ("whole", "cut", "cut"))
        for each in (whole, before):
            each.batch([5, 1, 3], logits_of(0, 3))
        after.recorder.load_state_dict(self.stored(before, tmp_path / "state.pt"))
        for each in (whole, after):
            each.batch([0, 1], logits_of(1, 2), 1)
            each.end_epoch()
        assert after.written() == whole.written()

    def test_losses_come_back(self, tmp_path):
        curriculum = SimpleNamespace(losses_U=np.arange(3.0))
        state = self.stored(Session(tmp_path, curriculum=curriculum), tmp_path / "state.pt")
        fresh = SimpleNamespace(losses_U=None)
        Session(tmp_path, curriculum=fresh).recorder.load_state_dict(state)
        assert fresh.losses_U.tolist() == [0, 1, 2]

    def test_nothing_seen_yet_is_a_state_as_well(self, tmp_path):
        state = self.stored(Session(tmp_path), tmp_path / "state.pt")
        session = Session(tmp_path)
        session.recorder.load_state_dict(state)
        session.batch([2], logits_of(0, 1))
        session.end_epoch()
        assert session.written()["guid"] == ["g2"]


def test_epochs_already_written_survive_a_crash_in_the_next_one(session, monkeypatch, tmp_path):
    session.batch(range(ROWS), logits_of(0))
    session.end_epoch(0)
    before = session.written(0)

    def half(table, file, **options):
        file.write(b"PAR1 half a file")
        raise OSError("no space left on device")

    session.batch(range(ROWS), logits_of(1))
    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", half)
        with pytest.raises(OSError, match="no space"):
            session.end_epoch(1)
    assert session.written(0) == before
    assert [path.name for path in record_paths(tmp_path)] == ["epoch=0.parquet"]
    assert read_dynamics(tmp_path).epochs_E.tolist() == [1.0]


@pytest.mark.parametrize("is_first", [True, False])
def test_two_processes_write_one_record_of_all_rows(is_first, tmp_path, monkeypatch):
    alone, other = Session(tmp_path / "alone"), Session(tmp_path / "other")
    session = Session(tmp_path / "both", trainer={"is_global_zero": is_first})
    other.batch([0, 2, 6], logits_of(1, 3))
    session.batch([1, 2, 3], logits_of(0, 3))
    alone.batch([1, 2, 3], logits_of(0, 3))
    alone.batch([0, 2, 6], logits_of(1, 3))
    alone.end_epoch()
    other.recorder.state_dict()  # observes what waits

    def add_other(tensor):
        others = (other.recorder.sums_NK, other.recorder.visits_N)
        return tensor + next(each for each in others if each.shape == tensor.shape)

    monkeypatch.setattr(ranks, "sum_over_ranks", add_other)
    session.end_epoch()
    if is_first:
        assert session.written() == alone.written()
        assert session.written()["count"] == [1, 1, 2, 1, 1]
    else:
        assert not session.folder.dynamics(0).exists(), "one process writes"


def test_each_process_takes_its_own_part_of_a_record_back(tmp_path, monkeypatch):
    sessions = [Session(tmp_path / "first"), Session(tmp_path / "second")]
    for number, session in enumerate(sessions):
        session.batch([number, 3], logits_of(number, 2))
    states = [session.recorder.state_dict()["records"][0] for session in sessions]
    monkeypatch.setattr(ranks, "gather", lambda own: states)
    stored = sessions[0].recorder.state_dict()
    for number, session in enumerate(sessions):
        after = Session(tmp_path / "after")
        monkeypatch.setattr(ranks._here, "rank", number)
        monkeypatch.setattr(ranks._here, "ranks", 2)
        after.recorder.load_state_dict(stored)
        torch.testing.assert_close(after.recorder.sums_NK, session.recorder.sums_NK)
        torch.testing.assert_close(after.recorder.visits_N, session.recorder.visits_N)


@pytest.mark.parametrize("number", [0, 2])
def test_a_record_goes_on_in_another_number_of_processes(number, tmp_path, monkeypatch):
    sessions = [Session(tmp_path / "first"), Session(tmp_path / "second")]
    for place, session in enumerate(sessions):
        session.batch([place, 3], logits_of(place, 2))
    states = [session.recorder.state_dict()["records"][0] for session in sessions]
    monkeypatch.setattr(ranks._here, "rank", number)
    monkeypatch.setattr(ranks._here, "ranks", number + 1)
    after = Session(tmp_path / "after")
    after.recorder.load_state_dict({"records": states, "losses": None})
    if number:  # the third of three
        assert after.recorder.sums_NK is None
        assert after.recorder.visits_N.sum() == 0
    else:
        first, second = (session.recorder for session in sessions)
        torch.testing.assert_close(after.recorder.sums_NK, first.sums_NK + second.sums_NK)
        torch.testing.assert_close(after.recorder.visits_N, first.visits_N + second.visits_N)
