"""A training step never waits for a GPU: it asks for no number of a tensor and for no slow copy.

Tensors on torch's `meta` device stand for those on a GPU: they have no numbers, so that whatever
asks for one (`item`, `cpu`, `bool`, a mask as an index) fails.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from heron.base.errors import HeronError
from heron.data.collate import Batch
from heron.data.datamodule import evaluated_tokens
from heron.dynamics.recorder import Recorder
from heron.models.optim import build_optimizer
from heron.training.callbacks import Progress
from small_tasks import CASES, build, teach

# Beside the tasks' own: what else decides how a step is computed.
MORE = {
    "events in marked texts": ("relation", "head=ess"),
    "events with their words": ("relation", "head=emp", "optim.class_weights=balanced"),
    "windows of a pair": (
        *("nli", "head=cross", "encoder.overflow=windows", "encoder.max_length=24"),
        *("data.on_cut=drop", "encoder.stride=4", "head.over_windows=mean_logits"),
    ),
    "spans in pairs": ("qa", "head=biaffine"),
    "unlike lengths": ("nli", "head=cross", "batching.plan=shuffle"),
}


class NoSlowCopies(TorchDispatchMode):
    """Refuses copies between devices that the program would wait for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default):
            source = args[func is torch.ops.aten.copy_.default]
            waits = not ((kwargs or {}).get("non_blocking") or args[2:3] == (True,))
            assert source.device == found.device or not waits, "a copy to a device that waits"
        return found


def train_on_gpu(module: Any, data: Any, folder: Any, steps: int = 3) -> Recorder:
    """Train as Lightning would, with the callbacks that see each step."""
    trainer = SimpleNamespace(
        **{"accumulate_grad_batches": 2, "world_size": 1, "global_step": 0, "callbacks": []},
        **{"log_every_n_steps": 0, "progress_bar_callback": None, "is_global_zero": False},
        strategy=SimpleNamespace(reduce=lambda tensor, reduce_op: tensor),
        **{"num_training_batches": steps, "datamodule": data, "current_epoch": 0},
    )
    batch = next(iter(data.train_dataloader()))
    module.trainer = trainer
    recorder, progress = Recorder(folder), Progress(folder, "loss")
    recorder.setup(trainer, module, "fit")
    module.to("meta")
    for index in range(steps):
        with NoSlowCopies():
            moved = batch.to("meta")
            output = module.training_step(moved, index)
            output["loss"].backward()
            if index % 2:
                module.on_before_optimizer_step(None)
                torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            for callback in (recorder, progress):
                callback.on_train_batch_end(trainer, module, output, moved, index)
    return recorder


@pytest.fixture
def built(tmp_path, tiny_encoder, monkeypatch):
    """Return a function that builds a task's module and data as on a GPU."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # it knows no `meta`
    monkeypatch.setattr("heron.dynamics.recorder._TOGETHER", 2)
    words = ("encoder.kernels=torch", "dynamics.enabled=true", "batching.tokens=300")
    return lambda task, *more: build(task, tmp_path, tiny_encoder, *words, *more)


@pytest.mark.parametrize("task", CASES)
def test_a_step_of_every_task_waits_for_nothing(built, task, tmp_path):
    module, data = built(task)
    for kind in CASES[task]:
        teach(module, data, kind)
        recorder = train_on_gpu(module, data, tmp_path)
        assert recorder.sums_NK.device.type == recorder.visits_N.device.type == "meta"


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
def test_a_step_of_other_heads_waits_for_nothing(built, more, tmp_path):
    module, data = built(*more)
    optimizer = build_optimizer(module.encoder, module.head, module.config.optim)
    assert optimizer.defaults["fused"]
    train_on_gpu(module, data, tmp_path)


def test_a_slow_copy_and_a_number_are_noticed():
    on_gpu = torch.ones(3, device="meta")
    with NoSlowCopies():
        torch.ones(3).to("meta", non_blocking=True)
        with pytest.raises(AssertionError):
            torch.ones(3).to("meta")
        for asks in (on_gpu.sum().item, on_gpu.cpu, on_gpu.any().__bool__, on_gpu.nonzero):
            with pytest.raises((RuntimeError, NotImplementedError)):
                asks()


def test_a_loss_that_nobody_has_looked_at_is_never_stored(built):
    module, _ = built("nli")
    weight = torch.tensor(1.0)
    module._losses = [(6, torch.tensor(1.0), weight), (7, torch.tensor(torch.nan), weight)]
    with pytest.raises(HeronError, match="the loss is nan at step 7"):
        module.on_save_checkpoint({})


def test_batches_are_pinned_where_there_is_a_gpu_and_evaluated_in_large_ones(built, monkeypatch):
    _, data = built("nli", "trainer.accelerator=auto", "batching.tokens=null")
    assert evaluated_tokens(data.config) == 3072
    assert not data.train_dataloader().pin_memory
    batch, pinned = next(iter(data.train_dataloader())), []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    of_80_gib = SimpleNamespace(total_memory=80 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: of_80_gib)
    assert data.train_dataloader().pin_memory
    assert evaluated_tokens(data.config) == 30_720
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self)
    assert isinstance(batch.pin_memory(), Batch)
    assert len(pinned) == 7
