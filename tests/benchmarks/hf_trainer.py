"""The rival of every training: the Hugging Face Trainer, on heron's tokens and weights.

Shape suffixes: B sequences of a batch, L tokens, D hidden, C classes.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import torch
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import (
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    DataCollatorForSeq2Seq,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.tasks.summarization.seq2seq import load_seq2seq

from .epoch import ChosenBatches
from .hf_rows import trainer_rows


class EventStart(nn.Module):
    """ESS as a plain model for the Trainer: both opening markers' states, one linear layer."""

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


def train_trainer(config: Config, data: ChosenBatches, watch: Any, compiled: bool) -> None:
    """Train with the Hugging Face Trainer on the chosen batches, in their order."""
    assert data.chosen is not None
    on_cpu = config.trainer.accelerator == "cpu" or not torch.cuda.is_available()
    arguments = TrainingArguments(
        output_dir=tempfile.gettempdir(),
        per_device_train_batch_size=len(data.chosen[0]),
        num_train_epochs=1,
        train_sampling_strategy="sequential",  # the sampler has had its say in the plan
        bf16=config.trainer.precision == "bf16-mixed",
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
    if compiled:
        getattr(model, "encoder", model).compile(dynamic=True)
    ends = TrainerCallback()
    ends.on_step_end = watch.lap
    rows = trainer_rows(data.features[TRAIN], np.concatenate(data.chosen))
    Trainer(model, arguments, collator(data.tokenizer), rows, callbacks=[ends]).train()


def build_plain(config: Config, data: DataModule) -> Any:
    """Build the Trainer's model: the same weights, as transformers loads them by default."""
    name, classes = config.encoder.name, len(config.data.label_order)
    if config.task.name == "summarization":
        return load_seq2seq(config, data.tokenizer).train()
    if config.task.name == "qa":
        return AutoModelForQuestionAnswering.from_pretrained(name, dtype=torch.float32)
    if config.task.name in ("nli", "classification"):
        return AutoModelForSequenceClassification.from_pretrained(
            name, num_labels=classes, dtype=torch.float32
        )
    encoder = AutoModel.from_pretrained(name, add_pooling_layer=False, dtype=torch.float32)
    if len(encoder.get_input_embeddings().weight) < len(data.tokenizer):
        encoder.resize_token_embeddings(len(data.tokenizer))
    return EventStart(encoder, classes, config.head.dropout)
