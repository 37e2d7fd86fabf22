"""Zero-shot: a trained NLI model labels pairs with classes that it was not trained on.

Shape suffixes: R rows, C classes, S sequences, B sequences of a batch, L tokens, M model's classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import log_softmax, softmax
from torch import Tensor

from heron.base.errors import ConfigError, nearest
from heron.base.terminal import tracked
from heron.data.batching import budget, fill_batches
from heron.data.examples import Example
from heron.data.features import Units
from heron.data.hub import origin, read_as_stored
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.tasks.class_baselines import ClassBaseline
from heron.tasks.config import Config

from .rules import ZeroShotConfig
from .word_vectors import read_side

_Pair = tuple[str, str]


@dataclass(frozen=True)
class ZeroShotBaseline(ClassBaseline):
    """An NLI model and one sentence per class; nothing is fitted.

    Under `definitions`, `baseline.template` joins the pair to one text, and a class's score is the
    entailment of the class's sentence by that text.

    Args:
        config: the run's.
        model: a sequence classifier, in eval mode.
        tokenizer: the model's.
        notes: the model's name and commit.

    Source: Yin, Hay and Roth 2019 ("definition": a label is asked for by its definition), as used
        by RoNLI, section 4, "Multilingual BERT".
    Deviates: RoNLI's repository asks for the bare class names, in an English sentence; that is
        `baseline.hypotheses={contrastive: This example is contrastive., ...}`.
    """

    config: Config
    model: Any
    tokenizer: Any
    notes: dict[str, Any]

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Return probabilities_RC, float32.

        Under `definitions` the classes' scores are normalised to sum to 1.
        """
        premises = read_side(examples, "text")
        hypotheses = read_side(examples, "text_pair")
        pairs = list(zip(premises, hypotheses, strict=True))

        if self.config.baseline.zero_shot == "direct":
            probabilities_RC = self._direct(pairs)
        else:
            probabilities_RC = self._by_definitions(pairs)
        return np.asarray(probabilities_RC, dtype=np.float32)

    def _direct(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Take the model's own classes of premise and hypothesis; returns probabilities_RC."""
        names = model_classes(self.model)
        columns = []
        for label in self.config.data.label_order:
            columns.append(class_index(names, label, self.config.baseline))

        logits_RM = self._logits(pairs)
        return np.asarray(softmax(logits_RM[:, columns], axis=1))

    def _by_definitions(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Let each pair entail or not the sentence of each class; returns probabilities_RC."""
        settings = self.config.baseline
        classes = self.config.data.label_order
        queries = []
        for premise, hypothesis in pairs:
            text = settings.template.format(premise=premise, hypothesis=hypothesis)
            for label in classes:
                queries.append((text, settings.hypotheses[label]))

        logits_SM = self._logits(queries)
        if settings.entailment == "probability":
            logits_SM = log_softmax(logits_SM, axis=1)

        entailment = class_index(model_classes(self.model), "entailment", settings)
        scores_RC = logits_SM[:, entailment].reshape(len(pairs), len(classes))
        probabilities_RC = softmax(scores_RC, axis=1)
        if settings.permutation == "repo":
            return misplace(probabilities_RC)
        return np.asarray(probabilities_RC)

    def save(self, folder: Path) -> None:
        """Write nothing: config.yaml names the model, and status.json its commit."""
        folder.mkdir(parents=True, exist_ok=True)

    def _logits(self, pairs: Sequence[_Pair]) -> np.ndarray:
        """Compute logits_SM of pairs, float64, in batches by length."""
        config = self.config
        logits_SM = np.zeros((len(pairs), len(model_classes(self.model))))
        if not pairs:
            return logits_SM

        # Truncate the pair, never the class's sentence; of two texts, the longer one.
        truncation = "longest_first" if config.baseline.zero_shot == "direct" else "only_first"
        encoded = self.tokenizer(
            [first for first, _ in pairs],
            [second for _, second in pairs],
            truncation=truncation,
            max_length=_limit(config.baseline, self.tokenizer),
        )
        lengths_S = np.array([len(ids) for ids in encoded["input_ids"]])
        shortest_first_S = np.argsort(lengths_S, kind="stable")
        plan = fill_batches(shortest_first_S, Units.single(lengths_S), budget(config.batching))

        for batch in tracked(plan, "zero-shot", config.trainer.enable_progress_bar):
            columns = {}
            for name, values in encoded.items():
                columns[name] = [values[row] for row in batch]
            logits_SM[batch] = self._forward(columns)
        return logits_SM

    @torch.inference_mode()
    def _forward(self, columns: dict[str, list[list[int]]]) -> np.ndarray:
        """Compute logits_BM of a batch."""
        inputs = self.tokenizer.pad(columns, return_tensors="pt").to(self.model.device)
        logits_BM: Tensor = self.model(**inputs).logits
        return logits_BM.double().cpu().numpy()


def load_zero_shot(config: Config, source: Any = None) -> ZeroShotBaseline:
    """Load `baseline.model`; remote code is never run.

    Nothing is fitted, so `source` (examples or folder) is not used.

    Raises:
        ConfigError: it cannot be loaded, or lacks a required class.
    """
    from transformers import (  # start-up time
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    settings = config.baseline
    encoder = EncoderConfig(name=settings.model, revision=settings.revision)
    try:
        hub_options = origin(encoder)
        tokenizer = AutoTokenizer.from_pretrained(settings.model, **hub_options)
        read_as_stored(tokenizer, encoder)
        model = load_weights(
            AutoModelForSequenceClassification,
            settings.model,
            use_safetensors=True,
            dtype=torch.float32,
            **hub_options,
        )
    except (ConfigError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].removeprefix(f"encoder.name={settings.model}: ")
        raise ConfigError(f"baseline.model={settings.model}: {reason}") from error

    names = model_classes(model)
    required = config.data.label_order if settings.zero_shot == "direct" else ["entailment"]
    for label in required:
        class_index(names, label, settings)
    commit = getattr(model.config, "_commit_hash", None)
    model = model.to(_device(config.trainer.accelerator)).eval()
    notes = {"model": settings.model, "commit": commit}
    return ZeroShotBaseline(config, model, tokenizer, notes)


def misplace(probabilities_RC: np.ndarray) -> np.ndarray:
    """Permute class probabilities as RoNLI's repository does, by mistake.

    transformers' pipeline returns sorted scores and the order of the classes. Score k belongs to
    class order[k]; the repository gives class k the score number order[k], the inverse permutation.

    Source: RoNLI repository, nli_learning/bert_multilingual_zero_shot; the .08 row of Table 4.
    """
    order_RC = np.argsort(-probabilities_RC, axis=1, kind="stable")
    sorted_RC = np.take_along_axis(probabilities_RC, order_RC, axis=1)
    return np.take_along_axis(sorted_RC, order_RC, axis=1)


def model_classes(model: Any) -> list[str]:
    """Name the classes of a sequence classifier, in the order of its logits."""
    names = model.config.id2label
    return [str(names[index]) for index in range(len(names))]


def class_index(names: Sequence[str], label: str, settings: ZeroShotConfig) -> int:
    """Find a class among the model's, ignoring case.

    Args:
        names: of the model's classes.
        label: the class.
        settings: of the baseline, for the message.

    Raises:
        ConfigError: the model has no such class.
    """
    folded = [name.casefold() for name in names]
    if label.casefold() not in folded:
        raise ConfigError(
            f"baseline.model={settings.model}: has no class '{label}'.{nearest(label, names)} "
            "It must be a model for natural language inference that names its classes"
        )
    return folded.index(label.casefold())


def _limit(settings: ZeroShotConfig, tokenizer: Any) -> int:
    """Limit the length to the model's; a tokenizer without a limit has a huge number."""
    return min(settings.max_length, int(tokenizer.model_max_length))


def _device(accelerator: str) -> torch.device:
    use_gpu = accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available()
    return torch.device("cuda" if use_gpu else "cpu")
