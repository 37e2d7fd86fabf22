"""`model/`: a trained run in Hugging Face form, that plain `transformers` loads as well.

- `config.json`, `model.safetensors`, `tokenizer.json` and so on: for AutoModel and AutoTokenizer;
  by `architectures` in `config.json` for AutoModelForSequenceClassification,
  ...ForQuestionAnswering or ...ForSeq2SeqLM, too.
- `head.safetensors`: the head's weights; `config.yaml` has its shape.
- `checksums.json`: SHA-256 of each of these files.

A head that has no such class in transformers is in `head.safetensors` alone. `config.json` then
has an empty `id2label`, so that transformers cannot answer from a head drawn at random.

A run on a frozen pretrained encoder holds `encoder.json` instead, which names that encoder.
`heron.training.exported` loads what is written here.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import save_file
from torch import nn

from heron.base.files import seal, write_json
from heron.base.run_folder import HEAD
from heron.models.encoder import Encoder
from heron.tasks.config import Config
from heron.tasks.task import task_of

if TYPE_CHECKING:
    from heron.tasks.exported_heads import HeadWeights

POINTER = "encoder.json"


def export(
    folder: Path,
    encoder: Encoder | None,
    head: nn.Module,
    tokenizer: Any,
    config: Config,
    known: HeadWeights | None = None,
) -> None:
    """Write encoder, tokenizer, label names and head, `known` under other names, to a folder.

    Without an encoder, the run names the pretrained one that was frozen instead of copying it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if encoder is None:
        from heron.data.hub import identity

        write_json(
            folder / POINTER, {"name": config.encoder.name, "files": identity(config.encoder)}
        )
    else:
        in_task = task_of(config).model.in_transformers
        _save_model(folder, encoder, known or in_task(head, encoder, tokenizer, config))
        tokenizer.save_pretrained(folder)
    save_file({k: v.contiguous() for k, v in head.state_dict().items()}, folder / HEAD)
    seal(folder)


def _save_model(folder: Path, encoder: Encoder, known: HeadWeights | None) -> None:
    """Write the encoder, with the head where there is a class for both."""
    if known is None:
        _name_classes(encoder.model.config, [])
        return encoder.model.save_pretrained(folder)
    settings = copy.deepcopy(encoder.model.config)
    _name_classes(settings, known.labels)
    settings.update(known.settings)
    settings._attn_implementation = "eager"  # nothing is computed with it
    with torch.device("meta"):
        whole = known.auto.from_config(settings, dtype=encoder.model.dtype)
    inner = {f"{whole.base_model_prefix}.{k}": v for k, v in encoder.model.state_dict().items()}
    whole.save_pretrained(folder, state_dict={**inner, **known.layers})


def _name_classes(settings: Any, labels: Sequence[str]) -> None:
    settings.id2label = dict(enumerate(labels))
    settings.label2id = {label: index for index, label in enumerate(labels)}
