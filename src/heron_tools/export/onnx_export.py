"""An exported folder's model as ONNX, compared with PyTorch on random tokens.

Shape suffixes: B sequences, L tokens.
"""

import importlib.util
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from heron.base.errors import ConfigError
from heron_tools.export.heron_model import HeronModel
from heron_tools.export.plain import OWN_CLASS, Plain

FILE = "model.onnx"
TOLERANCE = 1e-4  # of logits
_NEEDED = ("onnx", "onnxscript", "onnxruntime")
_OPSET = 20  # of the ONNX operators
_SHAPES = ((4, 12), (2, 9), (6, 29))  # sequences and tokens of the compared batches


class _Logits(torch.nn.Module):
    """A model of transformers as a function from tensors to tensors."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        spans: Tensor | None = None,
        markers: Tensor | None = None,
    ) -> Any:
        """Compute the logits; for question answering, those of starts and of ends."""
        some = {"token_type_ids": token_type_ids, "spans": spans, "markers": markers}
        given = {name: value for name, value in some.items() if value is not None}
        found = self.model(input_ids=input_ids, attention_mask=attention_mask, **given).to_tuple()
        return found[0] if len(found) == 1 else found


def require_onnx() -> None:
    """Raise a ConfigError if the packages for ONNX are not installed."""
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        raise ConfigError(f"onnx=true needs {', '.join(missing)}: pip install 'heron-nlu[onnx]'")


def export_onnx(plain: Plain, folder: Path) -> str:
    """Write `model.onnx` beside an exported model; returns a line with their largest difference.

    Raises:
        ConfigError: the model needs several passes per batch, or ONNX gives other logits.
    """
    if plain.loads_as == "AutoModelForSeq2SeqLM":
        raise ConfigError("onnx=true: not for summarization, which generates token by token")
    import onnxruntime  # an optional dependency

    own, config = plain.loads_as == OWN_CLASS, plain.config
    if own and (config.encoder.overflow == "windows" or config.head.both_ways):
        raise ConfigError("onnx=true: not for windows or both_ways, which need several passes")
    loader: Any = HeronModel if own else getattr(transformers, plain.loads_as)
    model, path = _Logits(loader.from_pretrained(folder)).eval(), folder / FILE
    encoder: Any = model.model.encoder.config if own else model.model.config
    batches = [_random_batch(encoder, own, *shape) for shape in _SHAPES]
    free = torch.export.Dim.DYNAMIC
    sizes = {
        name: dict.fromkeys(range(1 if name in ("spans", "markers") else 2), free)
        for name in batches[0]
    }
    names = ["start_logits", "end_logits"] if plain.threshold is not None else ["logits"]
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(
                model,
                (),
                str(path),
                kwargs=batches[0],
                dynamic_shapes=sizes,
                output_names=names,
                opset_version=_OPSET,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        except torch.onnx.OnnxExporterError as error:
            what = f"onnx=true: torch cannot export a {encoder.model_type} encoder"
            why = str(error.__cause__ or error).strip().partition("\n")[0]
            raise ConfigError(f"{what}: {why}") from error
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        worst = max(_difference(model, session, batch) for batch in batches)
    if not worst <= TOLERANCE:
        raise ConfigError(f"onnx=true: its logits differ from PyTorch's by {worst:.2g}")
    return f"{FILE}: logits differ from PyTorch's by {worst:.1g} at most, on {len(_SHAPES)} batches"


def _random_batch(settings: Any, own: bool, rows: int, tokens: int) -> dict[str, Tensor]:
    """Draw token ids, with padding in some rows, and positions of two events."""
    random = torch.Generator().manual_seed(tokens)
    ids_BL = torch.randint(5, settings.vocab_size, (rows, tokens), generator=random)
    mask_BL = torch.ones_like(ids_BL)
    mask_BL[::2, -3:] = 0
    batch = {"input_ids": ids_BL, "attention_mask": mask_BL}
    if own or getattr(settings, "type_vocab_size", 1) > 1:
        batch["token_type_ids"] = (torch.arange(tokens) > 4).long() * mask_BL
    if own:
        batch["spans"] = torch.tensor([[1, 2, 4, 5], [5, 5, 2, 3]] * (rows // 2))
        batch["markers"] = batch["spans"][:, [0, 2]]
    return batch


def _difference(model: Any, session: Any, batch: dict[str, Tensor]) -> float:
    """Compute the largest difference between the logits of both models."""
    taken = {each.name for each in session.get_inputs()}
    found = session.run(None, {n: value.numpy() for n, value in batch.items() if n in taken})
    wanted = model(**batch)
    pairs = zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True)
    return max(float(np.abs(one - other.numpy()).max()) for one, other in pairs)
