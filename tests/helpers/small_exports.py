"""Runs that are exported without having been trained, and the code of model cards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from tokenizers.processors import TemplateProcessing

from heron.base.files import atomic_open
from heron.base.run_folder import RunFolder, config_text
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.tasks.config import Config
from heron.training.exported import export
from heron.training.trainer import build_module
from tiny_models import save_model, tokenizer_of


def encoder_of_kind(kind: str, tiny_encoder: Path, folder: Path) -> Path:
    """Save a tiny encoder whose segments transformers and heron number alike."""
    tokenizer = tokenizer_of(tiny_encoder)
    types = {"bert": 2, "electra": 2, "deberta-v2": 0}.get(kind, 1)
    if types == 2:  # as BERT's own tokenizer does
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(each, tokenizer.vocab[each]) for each in ("[CLS]", "[SEP]")],
        )
        tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    own = {"longformer": {"attention_window": 16}, "electra": {"embedding_size": 32}}.get(kind, {})
    own |= {"hidden_size": 96, "max_position_embeddings": 260, "type_vocab_size": types}
    return save_model(kind, tokenizer, folder, **own)


class Exported:
    """A run that is exported without having been trained, and a batch to try it on."""

    def __init__(self, config: Config, path: Path, scale: float = 1):
        data = DataModule(config)
        torch.manual_seed(1)
        module = build_module(config, data).eval()
        self.encoder, self.head, self.tokenizer = module.encoder, module.head, data.tokenizer
        with torch.no_grad():
            for weight in list(module.head.parameters())[-2:]:
                weight *= scale  # so that answers are far from uniform
        self.folder = RunFolder(path)
        with atomic_open(self.folder.config) as file:
            file.write(config_text(config))
        export(self.folder.model, self.encoder, self.head, self.tokenizer, config)
        self.data = data
        self.texts = [example.text for example in data.examples["test"][:4]]
        self.batch = next(iter(data.evaluation_loader("test")))

    def rows(self) -> list[Example]:
        """Name the examples of the batch's rows, in order."""
        known = {example.guid: example for example in self.data.examples["test"]}
        guids = self.data.features["test"].guids
        return [known[guids[row]] for row in self.batch.rows_R.tolist()]


def run_card(folder: Path, **texts: str) -> Any:
    """Run the code of an exported folder's card on other texts; returns its last value.

    `texts` replace the card's: `context=...` for "a context".
    """
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.S)
    code = code.replace(f'"{folder.name}"', repr(str(folder)))
    for name, text in texts.items():
        code = re.sub(rf'"a {name}\b[^"]*"', lambda _, text=text: repr(text), code)
    *before, last = code.rstrip().split("\n")
    names: dict[str, Any] = {}
    exec("\n".join(before), names)
    return eval(last, names)
