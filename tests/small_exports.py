"""Runs that are exported without having been trained, and the code of model cards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch

from heron.base.files import atomic_open
from heron.base.run_folder import RunFolder
from heron.config.schema import Config
from heron.config.stored import to_yaml
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.training.build import build_module
from heron.training.export import export


class Exported:
    """A run that is exported without having been trained, and a batch to try it on."""

    def __init__(self, config: Config, path: Path):
        data = DataModule(config)
        torch.manual_seed(1)
        module = build_module(config, data).eval()
        self.encoder, self.head, self.tokenizer = module.encoder, module.head, data.tokenizer
        self.folder = RunFolder(path)
        with atomic_open(self.folder.config) as file:
            file.write(to_yaml(config))
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
    code = code.replace('"FOLDER"', repr(str(folder)))
    for name, text in texts.items():
        code = re.sub(rf'"a {name}\b[^"]*"', lambda _, text=text: repr(text), code)
    *before, last = code.rstrip().split("\n")
    names: dict[str, Any] = {}
    exec("\n".join(before), names)
    return eval(last, names)
