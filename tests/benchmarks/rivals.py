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
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import RandomSampler, Sampler
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    DataCollatorForSeq2Seq,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer_pt_utils import LengthGroupedSampler

from heron.base.libraries import silence_libraries
from heron.config.constraints import Count, OneOf, Seed
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.features import Features
from heron.models.precision import precision
from heron.tasks.config import Config
from heron.tasks.summarization.features import TARGET
from heron.tasks.summarization.seq2seq import load_seq2seq
from heron.training.compose import compose

from . import epoch
from .epoch import TRAINING, ChosenBatches, Stopwatch, choose_batches, train_heron
from .frame import Found, main

BATCH = 32  # sequences per batch, as in the released TRC code


class Rival(NamedTuple):
    """One way to train.

    Args:
        title: what it is, for the table.
        framework: `trainer` (Hugging Face) or `heron`.
        precision: `32-true`, `bf16-mixed` or, of heron, `auto`.
        grouped: the Trainer's grouping of sequences by length.
        head: heron's head; `ess` is the same computation as the Trainer's.
        compiled: whether the encoder is, by `torch.compile`.
    """

    title: str
    framework: str
    precision: str
    grouped: bool = False
    head: str = "ess"
    compiled: bool = False


RIVALS = {
    "trainer": Rival("Trainer, dynamic padding, fp32", "trainer", "32-true"),
    "trainer_bf16": Rival("Trainer, dynamic padding, bf16", "trainer", "bf16-mixed"),
    "trainer_grouped": Rival("Trainer, group_by_length, fp32", "trainer", "32-true", True),
    "trainer_grouped_bf16": Rival("Trainer, group_by_length, bf16", "trainer", "bf16-mixed", True),
    "heron_fp32": Rival("heron, buckets, fp32", "heron", "32-true"),
    "heron_bf16": Rival("heron, buckets, bf16", "heron", "bf16-mixed"),
    "heron": Rival("heron, buckets, default precision", "heron", "auto"),
    "heron_window": Rival("heron, window head, default precision", "heron", "auto", head="window"),
}


@dataclass
class Options:
    """Options of the measuring process."""

    rival: Annotated[str, OneOf(*RIVALS)]
    encoder: str
    data: str  # the folder of `trc/`
    cache: str  # of tokenized features
    steps: Count = 4  # that are timed; one more comes first
    threads: Count = 1
    seed: Seed = 0  # decides the epoch's plan
    overrides: list[str] = field(default_factory=list)  # configuration of heron's rivals


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one rival achieved in one round.

    Args:
        cpu_seconds: processor time of 1,000 event pairs, all threads together.
        seconds: clock time of them.
        padding_efficiency: share of the epoch's tokens that are not padding, from 0 to 1.
        gemm_share: floating-point operations of the encoder's layers on real tokens per second of
            processor time, as a share of what this machine reaches in nothing but the products of
            these layers, in the same precision; None where it was not measured.
    """

    cpu_seconds: float
    seconds: float
    padding_efficiency: float
    gemm_share: float | None = None


class TrainerStopwatch(TrainerCallback):
    """The Hugging Face Trainer's view of the stopwatch."""

    def __init__(self, watch: Stopwatch):
        self.on_step_end = watch.lap


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
    own = (f"head={rival.head}", f"trainer.precision={rival.precision}", f"seed={options.seed}")
    own += (f"trainer.threads={options.threads}", "encoder.max_length=256")
    config = compose(["data=trc", *TRAINING, *own, *options.overrides])
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
    data, watch = ChosenBatches(config), Stopwatch()
    plan, lengths, samples = plan_rival(rival, config, data)
    chosen, ones = choose_batches(plan, lengths, steps), np.ones_like(lengths)
    data.chosen = epoch.warmed(chosen)
    train(rival, config, data, watch)
    order = np.concatenate(plan)
    spent = watch.laps().sum(axis=0) * epoch.scale(plan, chosen, lengths, ones)
    spent *= 1000 / samples[order].sum()
    padded = sum(epoch.padded_tokens(plan, lengths, ones))
    share = None
    if rival.head != "window":  # its pairs share a forward pass
        share = 1000 * gflop_per_sample(config, lengths) / spent[0] / gemm_rate(config)
    return Measurement(*spent.tolist(), float(lengths[order].sum()) / padded, share)


def plan_rival(
    rival: Rival, config: Config, data: ChosenBatches, batch: int = BATCH
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Plan a rival's epoch, in batches of `batch` sequences or as many tokens.

    Returns:
        The batches, of heron's units or the Trainer's rows (of questions: windows), and the tokens
        of the longest sequence and the number of samples of each of those.
    """
    features, units = data.features[TRAIN], data.units[TRAIN]
    if rival.framework == "heron":
        config.batching.tokens = equal_tokens(features.lengths_S, batch)
        samples_U = np.maximum(np.diff(units.rows_V), units.sizes_U)
        return data.plan(epoch=0), units.longest_U, samples_U
    lengths_R = features.lengths_S
    if not is_windowed(features):
        lengths_R = lengths_R[features.sequences_R]
    plan = plan_trainer_epoch(lengths_R, rival.grouped, config.seed, batch)
    return plan, lengths_R, np.ones_like(lengths_R)


def is_windowed(features: Features) -> bool:
    """Tell whether the Trainer trains on sequences, windows of a question, and not on rows."""
    return "answers" in features.columns


def train(rival: Rival, config: Config, data: ChosenBatches, watch: Stopwatch) -> None:
    """Train one rival on the chosen batches."""
    if rival.framework == "heron":
        train_heron(config, data, watch, rival.compiled)
    else:
        train_trainer(rival, config, data, watch)


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


def equal_tokens(lengths_S: np.ndarray, batch: int = BATCH) -> int:
    """Set heron's tokens per batch so that an epoch has as many steps as in batches of `batch`."""
    return round(batch * float(lengths_S.mean()))


def plan_trainer_epoch(
    lengths_R: np.ndarray, grouped: bool, seed: int, batch: int = BATCH
) -> list[np.ndarray]:
    """Plan an epoch with the samplers that the Hugging Face Trainer uses.

    Returns:
        Full batches; the rest of the epoch, less than one batch, is left out.
    """
    generator = torch.Generator().manual_seed(seed)
    sampler: Sampler[int] = (
        LengthGroupedSampler(batch, lengths=lengths_R.tolist(), generator=generator)
        if grouped
        else RandomSampler(lengths_R, generator=generator)
    )
    order = np.fromiter(sampler, dtype=np.int64)
    size = min(batch, len(order))
    return [order[i : i + size] for i in range(0, len(order) - size + 1, size)]


def train_trainer(rival: Rival, config: Config, data: ChosenBatches, watch: Stopwatch) -> None:
    """Train with the Hugging Face Trainer on the chosen batches, in their order."""
    assert data.chosen is not None
    on_cpu = config.trainer.accelerator == "cpu"
    arguments = TrainingArguments(
        output_dir=tempfile.gettempdir(),
        per_device_train_batch_size=len(data.chosen[0]),
        num_train_epochs=1,
        train_sampling_strategy="sequential",  # the sampler has had its say in the plan
        bf16=rival.precision == "bf16-mixed",
        use_cpu=on_cpu,
        optim="adamw_torch_fused",
        learning_rate=config.optim.lr,
        weight_decay=config.optim.weight_decay,
        max_grad_norm=config.trainer.gradient_clip_val,
        seed=config.seed,
        dataloader_pin_memory=not on_cpu,
        dataloader_num_workers=0 if on_cpu else 4,
        remove_unused_columns=False,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    AcceleratorState._reset_state(reset_partial_state=True)  # it keeps the first precision
    model, writes = build_plain(config, data), config.task.name == "summarization"
    collator: Any = DataCollatorForSeq2Seq if writes else DataCollatorWithPadding
    if rival.compiled:
        getattr(model, "encoder", model).compile(dynamic=True)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=trainer_rows(data.features[TRAIN], np.concatenate(data.chosen)),
        data_collator=collator(data.tokenizer),
        callbacks=[TrainerStopwatch(watch)],
    )
    trainer.train()


def build_plain(config: Config, data: DataModule) -> Any:
    """Build the Trainer's model: the same weights, as transformers loads them by default."""
    name, classes = config.encoder.name, len(config.data.label_order)
    if config.task.name == "summarization":
        return load_seq2seq(config, data.tokenizer).train()
    if config.task.name == "qa":
        return AutoModelForQuestionAnswering.from_pretrained(name, dtype=torch.float32)
    if config.task.name == "nli":
        return AutoModelForSequenceClassification.from_pretrained(
            name, num_labels=classes, dtype=torch.float32
        )
    encoder = AutoModel.from_pretrained(name, add_pooling_layer=False, dtype=torch.float32)
    if len(encoder.get_input_embeddings().weight) < len(data.tokenizer):
        encoder.resize_token_embeddings(len(data.tokenizer))
    return EventStart(encoder, classes, config.head.dropout)


def trainer_rows(features: Features, order_R: Sequence[int] | np.ndarray) -> list[dict[str, Any]]:
    """Turn rows of a split (of questions: windows) into the Trainer's form, in a given order."""
    columns, rows = features.columns, []
    for row in order_R:
        sequence = row if is_windowed(features) else features.sequences_R[row]
        start, end = features.offsets_S[sequence:][:2]
        found = {
            "input_ids": features.tokens_T[start:end].tolist(),
            "attention_mask": [1] * int(end - start),
        }
        if (second := features.second_S[sequence]) >= 0:
            found["token_type_ids"] = [int(place >= second) for place in range(end - start)]
        if is_windowed(features):
            first, last = columns["answers"].array[sequence].tolist()[:2]
            found |= {"start_positions": max(first, 0), "end_positions": max(last, 0)}
        elif TARGET in columns:
            start, end = columns[TARGET].offsets[row:][:2]
            found["labels"] = columns[TARGET].array[start:end].tolist()
        else:
            found["labels"] = int(features.labels_R[row])
        if "markers" in columns:
            found["markers"] = columns["markers"].array[row].tolist()
        rows.append(found)
    return rows


def run(options: Options) -> Found:
    """Measure one rival; the line printed is the measurement as JSON."""
    rival = RIVALS[options.rival]
    measured = measure(rival, configure(rival, options), options.steps)
    return Found(lines=[json.dumps(asdict(measured))])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
