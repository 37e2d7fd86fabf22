"""The rivals, and `python -m tests.benchmarks.rivals`: measure one of them in this process.

All train the same encoder on the same tokenized event pairs with AdamW (fused), the same learning
rate and gradient norms clipped at 1. Reading, tokenizing and planning are done before the clock
starts; the clock runs from the end of one step to the end of the next, so that batch assembly,
forward, backward, clipping, optimizer, schedule, logging and callbacks are all in it.

Shape suffixes: S sequences, B sequences of a batch, L tokens, D hidden, R rows, C classes.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import RandomSampler, Sampler
from transformers import (
    AutoConfig,
    AutoModel,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer_pt_utils import LengthGroupedSampler

from heron.base.libraries import silence_libraries
from heron.base.run_folder import RunFolder
from heron.config.constraints import Count, OneOf, Seed
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.features import Features
from heron.models.precision import precision
from heron.tasks.config import Config
from heron.training.build import build_module
from heron.training.checkpointing import History
from heron.training.compose import compose
from heron.training.trainer import build_trainer

from .epoch import Measurement, choose_batches, estimate
from .frame import Found, main
from .names import RIVALS, Rival

BATCH = 32  # sequences per batch, as in the released TRC code


@dataclass
class Options:
    """Options of the measuring process.

    Args:
        rival: a name in `RIVALS`.
        encoder: folder or hub id of the encoder.
        data: folder that holds `trc/`.
        cache: where tokenized features are kept.
        steps: timed steps; one more comes first, untimed.
        threads: CPU threads.
        seed: decides the epoch's plan.
        overrides: configuration of heron's rivals.
    """

    rival: Annotated[str, OneOf(*RIVALS)]
    encoder: str
    data: str
    cache: str
    steps: Count = 4
    threads: Count = 1
    seed: Seed = 0
    overrides: list[str] = field(default_factory=list)


class Stopwatch:
    """Notes processor and clock time at the end of every step."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []

    def lap(self) -> None:
        """Note that a step has ended."""
        self._marks.append((time.process_time(), time.perf_counter()))

    def laps(self) -> np.ndarray:
        """Seconds between two ends: [steps - 1, 2]; the first step is the warm-up."""
        return np.diff(np.asarray(self._marks), axis=0)


class HeronStopwatch(pl.Callback):
    """Lightning's view of the stopwatch."""

    def __init__(self, watch: Stopwatch):
        self.watch = watch

    def on_train_batch_end(self, *_: Any) -> None:
        """End a step."""
        self.watch.lap()


class TrainerStopwatch(TrainerCallback):
    """The Hugging Face Trainer's view of the stopwatch."""

    def __init__(self, watch: Stopwatch):
        self.watch = watch

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """End a step."""
        self.watch.lap()


class ChosenBatches(DataModule):
    """heron's DataModule, made to train on given batches alone.

    Args:
        config: the run's configuration.
    """

    chosen: list[np.ndarray] | None = None

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Return the chosen batches, or the epoch's own plan while none are chosen."""
        return super().plan(epoch) if self.chosen is None else self.chosen


class EventStart(nn.Module):
    """ESS as a plain PyTorch model for the Trainer: both opening markers' states, one linear layer.

    Args:
        encoder: a Hugging Face encoder.
        classes: C.
        dropout: probability before the linear layer.
    """

    def __init__(self, encoder: Any, classes: int, dropout: float):
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(2 * encoder.config.hidden_size, classes)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, markers: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the mean loss and logits_BC."""
        encoded = self.encoder(input_ids=input_ids, attention_mask=attention_mask)
        states_BLD = encoded.last_hidden_state
        rows_B1 = torch.arange(len(markers), device=markers.device)[:, None]
        logits_BC = self.linear(self.dropout(states_BLD[rows_B1, markers].flatten(1))).float()
        return F.cross_entropy(logits_BC, labels), logits_BC


def configure(rival: Rival, options: Options) -> Config:
    """Compose heron's configuration of one rival."""
    overrides = [
        "data=trc",
        "encoder=pretrained",
        "encoder.name=given below",
        "encoder.max_length=256",
        f"head={rival.head}",
        "batching=bucket",
        f"trainer.precision={rival.precision}",
        f"trainer.threads={options.threads}",
        f"seed={options.seed}",
        # Nothing but training: the clock stands still at an epoch's end, but time is precious.
        "data.validation.fraction=0",
        "trainer.select=last",
        "trainer.max_epochs=1",
        "trainer.enable_progress_bar=false",
        *options.overrides,
    ]
    config = compose(overrides)
    config.encoder.name = options.encoder
    config.paths.data, config.paths.cache = options.data, options.cache
    return config


def measure(rival: Rival, config: Config, steps: int) -> Measurement:
    """Time a few steps of one rival and estimate its epoch.

    Args:
        rival: who trains.
        config: heron's configuration; the Trainer takes data, encoder and optimizer from it, and
            batches of 32.
        steps: timed steps.
    """
    silence_libraries()
    torch.set_num_threads(config.trainer.threads or 1)
    pl.seed_everything(config.seed, verbose=False)
    data = ChosenBatches(config)
    features = data.features[TRAIN]
    if rival.framework == "heron":
        lengths = features.lengths_S
        samples = np.bincount(features.sequences_R, minlength=len(lengths))
        config.batching.tokens = equal_tokens(lengths)
        plan = data.plan(epoch=0)
    else:
        lengths = features.lengths_S[features.sequences_R]
        samples = np.ones(len(lengths), dtype=np.int64)
        plan = plan_trainer_epoch(lengths, rival.grouped, config.seed)
    chosen = choose_batches(plan, lengths, steps)
    data.chosen = [chosen[len(chosen) // 2], *chosen]  # the first one warms up
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        if rival.framework == "heron":
            train_heron(config, data, watch, Path(folder))
        else:
            train_trainer(rival, config, data, watch, Path(folder))
    measured = estimate(plan, chosen, lengths, samples, watch.laps())
    if rival.head == "window":  # its pairs share a forward pass
        return measured
    gflop = gflop_per_sample(config, lengths)
    share = gflop * measured.samples_per_cpu_second / gemm_rate(config)
    return replace(measured, gemm_share=share)


def gflop_per_sample(config: Config, lengths_S: np.ndarray) -> float:
    """Count the operations of the encoder's layers, forward and backward, on real tokens."""
    shape = AutoConfig.from_pretrained(config.encoder.name)
    width, inner = shape.hidden_size, shape.intermediate_size
    products = 6 * (4 * width * width + 2 * width * inner) * lengths_S.mean()
    attention = 12 * width * float(np.mean(lengths_S.astype(float) ** 2))
    return float(shape.num_hidden_layers * (products + attention)) / 1e9


def gemm_rate(config: Config, tokens: int = 2048, rounds: int = 5) -> float:
    """Measure GFLOP per second of processor time in the products of one layer and nothing else."""
    shape = AutoConfig.from_pretrained(config.encoder.name)
    dtype = torch.bfloat16 if precision(config) == "bf16-mixed" else torch.float32
    widths = shape.hidden_size, shape.intermediate_size
    shapes = [(widths[0], widths[0])] * 4 + [widths, widths[::-1]]
    layers = [nn.Linear(*each, bias=False).to(dtype) for each in shapes]
    inputs = [torch.randn(tokens, each[0], dtype=dtype, requires_grad=True) for each in shapes]
    outputs = [torch.randn(tokens, each[1], dtype=dtype) for each in shapes]
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for layer, states, gradient in zip(layers, inputs, outputs, strict=True):
            layer(states).backward(gradient)
        best = min(best, time.process_time() - begin)
    return sum(6 * tokens * one * two for one, two in shapes) / best / 1e9


def equal_tokens(lengths_S: np.ndarray) -> int:
    """Set heron's tokens per batch so that an epoch has as many steps as with batches of 32."""
    return round(BATCH * float(lengths_S.mean()))


def train_heron(config: Config, data: ChosenBatches, watch: Stopwatch, folder: Path) -> None:
    """Train as `heron train` does: its module, its Trainer, its callbacks, and the stopwatch."""
    run = RunFolder(folder)
    trainer = build_trainer(config, run, data, History(run.metrics))
    trainer.callbacks.append(HeronStopwatch(watch))  # type: ignore[attr-defined]
    trainer.fit(build_module(config, data), datamodule=data)


def plan_trainer_epoch(lengths_R: np.ndarray, grouped: bool, seed: int) -> list[np.ndarray]:
    """Plan an epoch with the samplers that the Hugging Face Trainer uses.

    Returns:
        Full batches of 32; the rest of the epoch, less than one batch, is left out.
    """
    generator = torch.Generator().manual_seed(seed)
    sampler: Sampler[int] = (
        LengthGroupedSampler(BATCH, lengths=lengths_R.tolist(), generator=generator)
        if grouped
        else RandomSampler(lengths_R, generator=generator)
    )
    order = np.fromiter(sampler, dtype=np.int64)
    size = min(BATCH, len(order))
    return [order[i : i + size] for i in range(0, len(order) - size + 1, size)]


def train_trainer(
    rival: Rival, config: Config, data: ChosenBatches, watch: Stopwatch, folder: Path
) -> None:
    """Train with the Hugging Face Trainer on the chosen batches, in their order."""
    assert data.chosen is not None
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=len(data.chosen[0]),
        num_train_epochs=1,
        train_sampling_strategy="sequential",  # the sampler has had its say in the plan
        bf16=rival.precision == "bf16-mixed",
        use_cpu=True,
        optim="adamw_torch_fused",
        learning_rate=config.optim.lr,
        weight_decay=config.optim.weight_decay,
        max_grad_norm=config.trainer.gradient_clip_val,
        seed=config.seed,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=build_event_start(config, data),
        args=arguments,
        train_dataset=trainer_rows(data.features[TRAIN], np.concatenate(data.chosen)),
        data_collator=DataCollatorWithPadding(data.tokenizer),
        callbacks=[TrainerStopwatch(watch)],
    )
    trainer.train()


def build_event_start(config: Config, data: DataModule) -> EventStart:
    """Build the Trainer's model: the same weights, as transformers loads them by default."""
    encoder = AutoModel.from_pretrained(
        config.encoder.name, add_pooling_layer=False, dtype=torch.float32
    )
    encoder.resize_token_embeddings(len(data.tokenizer))
    return EventStart(encoder, len(config.data.label_order), config.head.dropout)


def trainer_rows(features: Features, order_R: Sequence[int] | np.ndarray) -> list[dict[str, Any]]:
    """Turn rows of a marked split into the Trainer's form, in a given order."""
    rows = []
    for row in order_R:
        start, end = features.offsets_S[features.sequences_R[row] :][:2]
        rows.append(
            {
                "input_ids": features.tokens_T[start:end].tolist(),
                "attention_mask": [1] * int(end - start),
                "markers": features.columns["markers"].array[row].tolist(),
                "labels": int(features.labels_R[row]),
            }
        )
    return rows


def run(options: Options) -> Found:
    """Measure one rival; the line printed is the measurement as JSON."""
    rival = RIVALS[options.rival]
    measured = measure(rival, configure(rival, options), options.steps)
    return Found(lines=[json.dumps(asdict(measured))])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
