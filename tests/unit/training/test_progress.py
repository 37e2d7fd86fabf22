"""The line of an epoch says what the whole epoch was like, though its process saw half of it."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.training.callbacks import EpochLines, StepCount


def test_train_loss_of_an_epoch_that_was_cut_is_the_mean_over_all_its_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trainer = SimpleNamespace(
        is_global_zero=True, callback_metrics={}, current_epoch=0, max_epochs=2
    )
    before = EpochLines("macro_f1")
    for loss, rows in ((1.0, 2.0), (4.0, 1.0)):
        feed(before, trainer, loss, rows)
    after = EpochLines("macro_f1")
    after.load_state_dict(before.state_dict())
    feed(after, trainer, 6.0, 1.0)
    after.on_train_epoch_end(trainer, None)
    feed(after, trainer, 0.5)
    after.on_train_epoch_end(trainer, None)
    losses = [
        line.split("train loss ")[1].split()[0]
        for line in capsys.readouterr().out.split("\n")
        if line
    ]
    assert losses == ["3.000", "0.500"]


def test_losses_of_a_checkpoint_and_of_another_device_are_averaged_together() -> None:
    lines = EpochLines("macro_f1")
    lines.load_state_dict({"losses": [1.0]})
    output = SimpleNamespace(loss=torch.tensor(2.0), weight=torch.tensor(1.0))
    output = SimpleNamespace(**{k: v.to("meta") for k, v in vars(output).items()})
    outputs = {"output": output}
    lines.on_train_batch_end(None, None, outputs, None, 0)
    lines.on_train_epoch_end(SimpleNamespace(is_global_zero=False), None)  # raises no error


def feed(lines: EpochLines, trainer: SimpleNamespace, loss: float, weight: float = 1.0) -> None:
    output = SimpleNamespace(loss=torch.tensor(loss), weight=torch.tensor(weight))
    outputs = {"output": output}
    lines.on_train_batch_end(trainer, None, outputs, None, 0)


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


def test_steps_within_an_epoch_are_written_and_said_where_no_bar_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = SimpleNamespace(
        is_global_zero=True,
        global_step=12,
        current_epoch=0,
        max_epochs=2,
        progress_bar_callback=None,
    )
    clock = iter([0.0, 1.0, 6.0, 31.0])
    monkeypatch.setattr("heron.training.callbacks.time.monotonic", lambda: next(clock))
    count = StepCount(RunFolder(tmp_path))
    module = SimpleNamespace(total_steps=lambda: 40)
    for expected in (None, {"done": 12, "of": 40}, {"done": 12, "of": 40}):
        count.on_train_batch_end(trainer, module, None, None, 0)
        status = RunFolder(tmp_path).status
        assert (read_json(status)["steps"] if status.is_file() else None) == expected
    assert capsys.readouterr().out == "epoch 1/2  step 12/40\n"
