"""Several question answering runs as one: the mean of their scores of every span decides."""

from itertools import product

import numpy as np
import pytest
import torch

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.base.tables import write_table
from heron.data.collate import Batch
from heron.data.datamodule import DataModule
from heron.tasks.qa.features import AnswerColumns
from heron.training.inference import open_trained, read_splits
from heron.training.job import run_job
from small_runs import TINY, compose, heron, in_folder

SMALL = (
    *("data=chronicle_qa", "data.generator.size=100", "data.generator.unanswerable=0.3"),
    *("data.label_order=[answer,no_answer]", "encoder.max_length=64", "encoder.stride=16"),
    *("task.max_answer_tokens=8", "task.n_best=5", "trainer.max_steps=2", "optim.lr=3e-3"),
    *("dynamics.enabled=false", "trainer.enable_progress_bar=false", "task.bootstrap=0"),
)
MEMBERS = {
    "span": (),
    "other-seed": ("seed=7",),
    "biaffine": ("head=biaffine", "head.hidden=[8]", "seed=3"),
    "unicode": ("data.unicode.niqqud=strip",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ensemble")


@pytest.fixture(scope="module")
def member(folder):
    """Return a function that trains a member, once; returns its run folder."""
    done = {}

    def train(name):
        if name not in done:
            done[name] = RunFolder(folder / "runs" / "qa" / name)
            run_job(compose(folder, *SMALL, *MEMBERS[name]), done[name])
        return done[name]

    return train


def spans_of(batch: Batch, window: int, longest: int) -> list[tuple[int, int]]:
    inside = AnswerColumns.of(batch).context_BL[window].nonzero()[:, 0].tolist()
    return [(i, j) for i, j in product(inside, inside) if i <= j < i + longest]


def score(logits, window, first, last):
    """Score one span of one window, from the head's outputs; "not here" is no pair of tokens."""
    total = float(logits.start_BL[window, first] + logits.end_BL[window, last])
    if logits.pair_start_BLH is not None and first > 0:
        u, v = logits.pair_start_BLH[window, first], logits.pair_end_BLH[window, last]
        total += float(sum(u * v))
    return total


@pytest.mark.parametrize(
    "others", [("biaffine",), pytest.param(("other-seed", "biaffine"), marks=pytest.mark.real)]
)
def test_the_score_of_every_span_is_the_mean_of_the_members(member, others):
    folders = [member(name) for name in ("span", *others)]
    several = [open_trained(folder) for folder in folders]
    together = open_trained(folders)
    examples = read_splits(several[0])["test"]
    data = DataModule(together.config, {"test": examples}, together.tokenizer)
    batch = next(iter(data.evaluation_loader("test")))
    with torch.inference_mode():
        logits = [each.module.logits(batch) for each in several]
        found = together.module.predict_step(batch, 0).candidates
    for window in range(len(batch.owners_B)):
        by_hand = {
            span: np.mean([score(each, window, *span) for each in logits])
            for span in [(0, 0), *spans_of(batch, window, 8)]
        }
        assert float(found.none_B[window]) == pytest.approx(by_hand.pop((0, 0)), abs=1e-5)
        best = sorted(by_hand.values(), reverse=True)[:5]
        assert found.scores_BN[window].tolist() == pytest.approx(best, abs=1e-5)
        first, last = found.spans_BN2[window, 0].tolist()
        assert by_hand[first, last] == pytest.approx(best[0], abs=1e-5)


def test_members_give_other_answers_alone_and_their_thresholds_are_averaged(member):
    folders = [member(name) for name in ("span", "biaffine")]
    several, together = [open_trained(folder) for folder in folders], open_trained(folders)
    examples = read_splits(several[0])["test"]
    alone = [each.predict(examples)[0] for each in several]
    both, refused = together.predict(examples)
    assert not refused
    assert alone[0].threshold != alone[1].threshold
    assert both.threshold == pytest.approx((alone[0].threshold + alone[1].threshold) / 2)
    firsts = [[best[0].text for best in each.best] for each in (*alone, both)]
    assert firsts[2] not in firsts[:2]


def test_members_that_read_texts_otherwise_are_refused(member):
    folders = [member("span"), member("unicode")]
    with pytest.raises(ConfigError, match=r"data\.unicode"):
        open_trained(folders)


@pytest.fixture
def parted(folder, tiny_encoder, tmp_path):
    """Return a function that trains on a user's own questions, parted by a seed."""
    rows = [
        {"context": f"דוד {n} נסע לחיפה.", "question": "לאן נסע?", "answer": "חיפה"}
        for n in range(40)
    ]
    for name in ("train", "test"):
        write_table(tmp_path / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})

    def train(seed):
        files = [f"data.files.{name}.path={tmp_path / name}.csv" for name in ("train", "test")]
        encoder = f"encoder={tiny_encoder}"
        words = (
            "data=own_qa",
            *files,
            *SMALL[-3:],
            encoder,
            "encoder.max_length=64",
            "encoder.stride=8",
            f"data.validation.seed={seed}",
        )
        assert heron("train", *TINY[1:], *in_folder(tmp_path), *words, f"run.job=seed{seed}") == 0
        return tmp_path / "runs" / "own_qa-qa" / f"seed{seed}"

    return train


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_member_that_was_trained_on_the_rows_to_score_is_refused(parted, capsys, monkeypatch):
    monkeypatch.setattr("heron.commands.train.report", lambda folder: None)
    runs = f"run={parted(0)},{parted(5)}"
    assert heron("evaluate", runs, "split=validation") == 2
    said = capsys.readouterr().err
    assert "seed5 was trained on 4 of the 4 validation rows of" in said
    assert "Traceback" not in said
    assert heron("evaluate", runs) == 0, "both held out the test file"
