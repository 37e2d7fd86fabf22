"""What a training prints of its progress."""

from types import SimpleNamespace

import torch

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.training.callbacks import Progress


def test_rouge_of_an_epoch_has_beside_it_what_copying_sentences_reaches(tmp_path, capsys):
    known = {"rouge1": 0.25, "lead3_rouge1": 0.128, "oracle_rouge1": 0.234, "rouge2": 0.1}
    metrics = {f"validation/{name}": torch.tensor(value) for name, value in known.items()}
    trainer = SimpleNamespace(
        is_global_zero=True, callback_metrics=metrics, current_epoch=0, max_epochs=2
    )
    module = SimpleNamespace(epoch_loss=lambda: 0.5)
    Progress(RunFolder(tmp_path), "rouge1").on_train_epoch_end(trainer, module)
    expected = "rouge1 0.250  validation lead3_rouge1 0.128  validation oracle_rouge1 0.234  "
    assert f"validation {expected}" in capsys.readouterr().out


def test_steps_within_an_epoch_are_written_and_said_where_no_bar_is(tmp_path, capsys, monkeypatch):
    trainer = SimpleNamespace(
        is_global_zero=True,
        global_step=12,
        current_epoch=0,
        max_epochs=2,
        progress_bar_callback=None,
    )
    clock = iter([0.0, 1.0, 6.0, 31.0])
    monkeypatch.setattr("heron.training.callbacks.time.monotonic", lambda: next(clock))
    count = Progress(RunFolder(tmp_path), "macro_f1")
    module = SimpleNamespace(total_steps=lambda: 40, device=torch.device("cpu"))
    outputs = {"output": SimpleNamespace(loss=torch.tensor(1.0), weight=torch.tensor(1.0))}
    for expected in (None, {"done": 12, "of": 40}, {"done": 12, "of": 40}):
        count.on_train_batch_end(trainer, module, outputs, None, 0)
        status = RunFolder(tmp_path).status
        assert (read_json(status)["steps"] if status.is_file() else None) == expected
    (line,) = capsys.readouterr().out.splitlines()
    assert "12/40" in line
    assert "14 min left" in line  # 12 steps in 30 s
