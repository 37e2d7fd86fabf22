"""The line of an epoch says what the whole epoch was like, though its process saw half of it."""

from types import SimpleNamespace

import pytest
import torch

from heron.runtime.progress import EpochLines


def test_train_loss_of_an_epoch_that_was_cut_is_the_mean_over_all_its_batches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trainer = SimpleNamespace(
        is_global_zero=True, callback_metrics={}, current_epoch=0, max_epochs=2
    )
    before = EpochLines("macro_f1")
    for loss in (1.0, 2.0):
        feed(before, trainer, loss)
    after = EpochLines("macro_f1")
    after.load_state_dict(before.state_dict())
    feed(after, trainer, 6.0)
    after.on_train_epoch_end(trainer, None)
    feed(after, trainer, 0.5)
    after.on_train_epoch_end(trainer, None)
    losses = [
        line.split("train loss ")[1].split()[0]
        for line in capsys.readouterr().out.split("\n")
        if line
    ]
    assert losses == ["3.000", "0.500"]


def feed(lines: EpochLines, trainer: SimpleNamespace, loss: float) -> None:
    module = SimpleNamespace(latest=SimpleNamespace(loss=torch.tensor(loss)))
    lines.on_train_batch_end(trainer, module, None, None, 0)


def test_rouge_of_an_epoch_has_beside_it_what_copying_sentences_reaches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {"rouge1": 0.25, "lead3_rouge1": 0.128, "oracle_rouge1": 0.234, "rouge2": 0.1}
    metrics = {f"validation/{name}": torch.tensor(value) for name, value in known.items()}
    trainer = SimpleNamespace(
        is_global_zero=True, callback_metrics=metrics, current_epoch=0, max_epochs=2
    )
    EpochLines("rouge1").on_train_epoch_end(trainer, None)
    expected = "rouge1 0.250  validation lead3_rouge1 0.128  validation oracle_rouge1 0.234  "
    assert f"validation {expected}" in capsys.readouterr().out
