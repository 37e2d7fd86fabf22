"""BERTScore of summaries: how similar the states of two texts' tokens are in an encoder.

Each token of a text is matched with the most similar token of the other one. Precision is the
weighted mean of these similarities over the candidate's tokens, recall over the reference's.
Special tokens weigh nothing, but can be matched. A text without a token of weight, such as an empty
one, scores 0 against every text, as in bert-score, and is counted.

Scores with different signatures (see `sign`) cannot be compared. Scores are rescaled only where a
baseline is given, and have names of their own then.

Higher layers are left out of the encoder, so the states are its `last_hidden_state`. In encoders
that normalise before each block (ModernBERT, GPT-2, T5), these include the final normalisation.

Shape suffixes: N pairs, B sequences, K tokens of a candidate, L tokens of a reference (or of the
longest text), D hidden.
Source: Zhang et al. 2020, section 3; bert-score 0.3.13, which has no layer and no baseline for
AlephBERT.
Deviates: bert-score cuts long texts (`long=cut`); HeSum compares pairs of at most 512 tokens only,
which is `long=skip`, the default. bert-score pads batches with similarity 0, so that a token whose
best similarity is negative counts 0 in some batches; here it never does. F1 of a positive and a
negative number can be anything there; here it is 0. The end token of T5 and GPT-2 weighs as much as
a word there; here nothing, as CLS and SEP do.
"""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, GPT2Tokenizer, PreTrainedModel, RobertaTokenizer

from heron.base.errors import ConfigError
from heron.base.files import Arrays, fingerprint, load_or_build, sha256_file
from heron.base.terminal import tracked
from heron.config.parsing import check
from heron.data.batching import plan_evaluation
from heron.data.features import Units
from heron.data.hub import identity, load_tokenizer, loading, origin, vocabulary_size
from heron.metrics import require_rows
from heron.metrics.arrays import Floats, Ids
from heron.metrics.config import BertScoreConfig
from heron.models.config import EncoderConfig
from heron.models.encoder import encoding_part, load_encoder
from heron.models.levels import count_positions

VERSION = 1  # raise it when this module computes other scores
MEASURES = ("precision", "recall", "f1")
# Padded tokens per batch. On a CPU, 8192 take 1.5 times as long.
TOKENS = 1024
GPU_TOKENS = 16384
PAIRS = 256  # pairs with states in memory at once


@dataclass(frozen=True, slots=True)
class BertScores:
    """BERTScore of N pairs."""

    # Float64 `[N]` by name: `bertscore_precision`, `bertscore_recall`, `bertscore_f1`, cosines;
    # with a baseline also `bertscore_f1_rescaled` and so on. NaN where left out.
    items: dict[str, Floats]
    # `bertscore_long`, pairs with a text longer than the encoder's input; `bertscore_empty`, pairs
    # with a text without a token of weight.
    counts: dict[str, int]
    signature: str  # see `sign`

    def known(self) -> dict[str, Floats]:
        """Return `items` without scores that are all NaN."""
        items = self.items.items()
        return {name: values_N for name, values_N in items if not np.isnan(values_N).all()}

    def means(self) -> dict[str, float]:
        """Average over the pairs that were not left out; counts come last."""
        means = {name: float(np.nanmean(values_N)) for name, values_N in self.known().items()}
        return means | self.counts


def bertscore(
    predictions: Sequence[str],
    references: Sequence[str],
    config: BertScoreConfig,
    cache: Path | None = None,
    *,
    device: torch.device | None = None,
    progress: bool | None = None,
) -> BertScores:
    """Score every one of N predictions by itself.

    Args:
        predictions: N texts.
        references: N texts, in the same order.
        config: encoder and layer; how long texts and rare tokens are treated.
        cache: folder for results; None stores nothing.
        device: None takes a GPU where there is one.
        progress: show a bar; None: on terminals.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
        DataError: not one reference for each prediction.
    """
    source, content = _backbone(config)
    require_rows("bertscore", predictions, references)
    baseline = _read_baseline(config)

    def build() -> tuple[Arrays, Mapping[str, Any]]:
        encoder = TokenEncoder.load(source, config.precision, device)
        return score_pairs(encoder, config, predictions, references, progress)

    if cache is None or not len(predictions):
        arrays, counts = build()
    else:
        scorer = (VERSION, content, config.layer, config.long, config.precision)
        versions = metadata.version("transformers"), config.idf
        key = fingerprint(scorer, versions, list(predictions), list(references))
        arrays, counts = load_or_build(cache, "bertscore", key, build)

    items = {}
    for column, name in enumerate(MEASURES):
        items[f"bertscore_{name}"] = np.array(arrays["scores"][:, column])
    for name, value in baseline.items():
        score_N = items[f"bertscore_{name}"]
        items[f"bertscore_{name}_rescaled"] = (score_N - value) / (1 - value)
    return BertScores(items, dict(counts), sign(config, references))


def require(config: BertScoreConfig) -> None:
    """Check encoder, layer and baseline before anything is computed; raises as `sign`."""
    _backbone(config)
    _read_baseline(config)


def sign(config: BertScoreConfig, references: Sequence[str] = ()) -> str:
    """Make the signature: everything a score depends on, like bert-score's hash code.

    That is the encoder (with a fingerprint of its files), layer, precision, baseline, versions,
    treatment of long texts, and with idf all references, in any order.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    source, content = _backbone(config)
    content_id = content.get("commit") or fingerprint(content)
    folder = Path(source.name)
    name = folder.resolve().name if folder.is_dir() else source.name
    transformers = metadata.version("transformers")

    words = [f"{name}@{content_id[:12]}", f"L{config.layer}"]
    words.append("idf" if config.idf else "no-idf")
    words.append(f"version=heron-{VERSION}(hug_trans={transformers})")
    words.append(f"long={config.long}")
    if config.idf:
        corpus = fingerprint(sorted(text.strip() for text in references))
        words.append(f"idf-references={len(references)}@{corpus[:12]}")
    if config.precision != "32-true":
        words.append(config.precision)
    if config.baseline:
        _read_baseline(config)
        words.append(f"custom-rescaled@{sha256_file(config.baseline)[:12]}")
    return "_".join(words)


@dataclass(frozen=True, slots=True)
class TokenEncoder:
    """An encoder up to one of its layers, and its tokenizer."""

    model: PreTrainedModel  # in evaluation mode, on its device
    tokenizer: Any  # a fast one
    positions: int | None  # its longest input, in tokens; None without a limit
    precision: str = "32-true"  # `32-true` or `bf16-mixed`

    @classmethod
    def load(
        cls, source: EncoderConfig, precision: str = "32-true", device: torch.device | None = None
    ) -> "TokenEncoder":
        """Load an encoder (of an encoder-decoder its encoder).

        Without a device, a GPU is taken where there is one.
        """
        tokenizer = load_tokenizer(source, (), (), Path())
        whole = load_encoder(source, vocabulary_size(tokenizer), tokenizer.pad_token_id)
        model = encoding_part(whole)
        if device is None:
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return cls(model.eval().to(device), tokenizer, count_positions(model), precision)

    def ids(self, texts: Sequence[str], cut: bool = False) -> list[Ids]:
        """Tokenize stripped texts.

        Args:
            texts: to tokenize.
            cut: drop the tokens beyond the encoder's input.
        """
        stripped = [text.strip() for text in texts]
        if isinstance(self.tokenizer, GPT2Tokenizer | RobertaTokenizer):
            # These distinguish words after a space; bert-score puts a space there, too.
            stripped = [f" {text}" if text else "" for text in stripped]
        if not stripped:
            return []
        options: dict[str, Any] = {"verbose": False}
        if cut and self.positions is not None:
            options |= {"truncation": True, "max_length": self.positions}
        tokenized = self.tokenizer(stripped, **options)
        return [np.asarray(ids, dtype=np.int64) for ids in tokenized["input_ids"]]

    def is_long(self, ids: Ids) -> bool:
        """Tell whether a text is longer than the encoder's input."""
        return self.positions is not None and len(ids) > self.positions

    def states(self, texts: Sequence[Ids]) -> list[Tensor]:
        """Encode texts, none of which is longer than the encoder's input.

        Args:
            texts: token ids of each text.

        Returns:
            For each text the states of its tokens, float32 [tokens, D], on the CPU.
        """
        lengths_N = np.array([len(ids) for ids in texts])
        tokens = TOKENS if self.model.device.type == "cpu" else GPU_TOKENS
        states: dict[int, Tensor] = {}
        for rows_B in plan_evaluation(Units.single(lengths_N), tokens):
            states_BLD = self._forward([texts[row] for row in rows_B])
            for row, states_LD in zip(rows_B.tolist(), states_BLD, strict=True):
                states[row] = states_LD[: lengths_N[row]].clone()
        return [states[row] for row in range(len(texts))]

    @torch.inference_mode()
    def _forward(self, texts: Sequence[Ids]) -> Tensor:
        """Run a batch; returns states_BLD, float32 on the CPU."""
        tensors = [torch.from_numpy(ids) for ids in texts]
        ones = [torch.ones_like(ids) for ids in tensors]
        pad_id = self.tokenizer.pad_token_id or 0
        tokens_BL = pad_sequence(tensors, batch_first=True, padding_value=pad_id)
        mask_BL = pad_sequence(ones, batch_first=True)
        device = self.model.device
        with torch.autocast(device.type, torch.bfloat16, enabled=self.precision == "bf16-mixed"):
            output = self.model(input_ids=tokens_BL.to(device), attention_mask=mask_BL.to(device))
        return output.last_hidden_state.float().cpu()


def score_pairs(
    encoder: TokenEncoder,
    config: BertScoreConfig,
    predictions: Sequence[str],
    references: Sequence[str],
    progress: bool | None = None,
) -> tuple[Arrays, dict[str, int]]:
    """Score every pair of a prediction and its reference; each distinct text is encoded once.

    Args:
        encoder: up to the layer of `config`.
        config: how long texts and the weights of tokens are treated.
        predictions: N texts.
        references: N texts.
        progress: show a bar; None: on terminals.

    Returns:
        Precision, recall and F1 as `scores`, float64 `[N, 3]`, and the counts of `BertScores`.
    """
    texts = list(dict.fromkeys([*references, *predictions]))
    ids = dict(zip(texts, encoder.ids(texts), strict=True))
    long = {text for text in texts if encoder.is_long(ids[text])}
    ids |= zip(long, encoder.ids([*long], cut=True), strict=True)
    left_out = long if config.long == "skip" else set()

    tokenizer = encoder.tokenizer
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
    special |= {tokenizer.bos_token_id, tokenizer.eos_token_id}
    special.discard(None)
    weights = Weights(dict.fromkeys(special, 0.0), 1.0)
    if config.idf:
        weights = idf_weights([ids[text] for text in references if text not in left_out], special)
    weights_of = {text: weights.of(ids[text]) for text in texts}

    pairs = list(zip(predictions, references, strict=True))
    scores_N3 = np.full((len(pairs), len(MEASURES)), np.nan)
    read = 0  # pairs that are not left out
    full = []  # the rows of those without an empty text
    for row, pair in enumerate(pairs):
        if left_out.intersection(pair):
            continue
        scores_N3[row] = 0.0
        read += 1
        if all(weights_of[text].any() for text in pair):
            full.append(row)

    parts = [full[start : start + PAIRS] for start in range(0, len(full), PAIRS)]
    for part in tracked(parts, "BERTScore", progress):
        wanted = list(dict.fromkeys(text for row in part for text in pairs[row]))
        states = {}
        encoded = encoder.states([ids[text] for text in wanted])
        for text, states_LD in zip(wanted, encoded, strict=True):
            states[text] = F.normalize(states_LD, dim=1)
        for row in part:
            prediction, reference = pairs[row]
            scores_N3[row] = match_tokens(
                states[prediction],
                states[reference],
                weights_of[prediction],
                weights_of[reference],
            )

    counts = {
        "bertscore_long": sum(not long.isdisjoint(pair) for pair in pairs),
        "bertscore_empty": read - len(full),
    }
    return {"scores": scores_N3}, counts


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of tokens by id: `known` ones, and that of all others."""

    known: dict[int, float]
    other: float

    def of(self, ids: Ids) -> Floats:
        """Look up the tokens of a text."""
        return np.array([self.known.get(token, self.other) for token in ids.tolist()])


def idf_weights(references: Sequence[Ids], special: Iterable[int]) -> Weights:
    """Weigh tokens by inverse document frequency, log((N + 1) / (n + 1)).

    The logarithms are natural; a token that no reference has weighs log(N + 1).

    Args:
        references: the token ids of N references; repeated ones count twice.
        special: ids that weigh nothing, as in bert-score, because all references have them.
    """
    counts = Counter(token for ids in references for token in set(ids.tolist()))
    total = len(references) + 1
    known = {token: math.log(total / (count + 1)) for token, count in counts.items()}
    return Weights(known | dict.fromkeys(special, 0.0), math.log(total))


def match_tokens(
    candidate_KD: Tensor, reference_LD: Tensor, weights_K: np.ndarray, weights_L: np.ndarray
) -> tuple[float, float, float]:
    """Match the tokens of two texts.

    Args:
        candidate_KD, reference_LD: states of the tokens, float32, of length 1.
        weights_K, weights_L: weights of the tokens, not all 0.

    Returns:
        Precision and recall, cosines from -1 to 1, and their harmonic mean, F1; it is 0 where one
        of them is not positive.
    """
    similarity_KL = candidate_KD @ reference_LD.T
    best_K = similarity_KL.amax(dim=1).double().numpy()
    best_L = similarity_KL.amax(dim=0).double().numpy()
    precision = float(np.average(best_K, weights=weights_K))
    recall = float(np.average(best_L, weights=weights_L))
    f1 = 0.0
    if min(precision, recall) > 0:
        f1 = 2 * precision * recall / (precision + recall)
    return precision, recall, f1


def _backbone(config: BertScoreConfig) -> tuple[EncoderConfig, dict[str, str]]:
    """Configure the encoder up to a layer, and identify it; checks both without loading weights."""
    check(config, "task.bertscore.")
    assert config.model is not None
    name = str(Path(config.model).expanduser())
    layer = config.layer or 0
    source = EncoderConfig(name=name, num_layers=layer, max_length=8, kernels="torch")
    try:
        with loading(name):
            content = identity(source)
            settings = AutoConfig.from_pretrained(name, **origin(source))
    except ConfigError as error:
        raise ConfigError(f"bertscore: {error}") from error
    layers = settings.num_hidden_layers
    if layer > layers:
        raise ConfigError(f"bertscore layer {layer}: {name} has {layers} layers")
    return source, content


def _read_baseline(config: BertScoreConfig) -> dict[str, float]:
    """Read the layer's row of a baseline file in bert-score's format; empty without a file.

    Raises:
        ConfigError: the file is not in this format, or has no row of the layer.
    """
    if config.baseline is None:
        return {}
    path = Path(config.baseline)
    try:
        text = path.read_text(encoding="utf-8")
        delimiter = "\t" if "\t" in text else ","
        rows = {}
        for row in csv.DictReader(text.splitlines(), delimiter=delimiter):
            rows[int(row["LAYER"])] = row
        of_layer = rows[config.layer or 0]
        return {measure: float(of_layer[measure[0].upper()]) for measure in MEASURES}
    except (OSError, KeyError, TypeError, ValueError) as error:
        what = f"no numbers LAYER,P,R,F of layer {config.layer}"
        raise ConfigError(f"bertscore baseline {path}: {what} ({error})") from error
