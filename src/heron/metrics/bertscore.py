"""BERTScore of summaries: how similar the tokens of two texts are to an encoder.

Each token of a text is matched with the most similar token of the other one. Precision is the
weighted mean of these similarities over the candidate's tokens, recall over the reference's.
Special tokens weigh nothing, but can be matched. A text without a token of weight, such as an empty
one, scores 0 against every text, as in bert-score, and is counted.

Scores with different signatures (see `sign`) cannot be compared. Scores are rescaled only where a
baseline is given, and have names of their own then.

Shape suffixes: N pairs, T tokens of all texts, K tokens of a candidate, L tokens of a reference,
D hidden.
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

from heron.base.errors import ConfigError, DataError
from heron.base.files import Arrays, fingerprint, load_or_build, sha256_file
from heron.config.parsing import check
from heron.metrics import require_rows
from heron.metrics.config import BertScoreConfig
from heron.models.token_states import Pieces, TokenEncoder, check_backbone

Floats = np.ndarray  # float64
Ids = np.ndarray  # int64

VERSION = 1  # of what is computed here
MEASURES = ("precision", "recall", "f1")
_PART = 2**17  # tokens of references whose states are in memory at once


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
        return {name: each for name, each in self.items.items() if not np.isnan(each).all()}

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
        cache: folder for results, and for the references' states (`4 * D` bytes a token), which
            other systems' scores reuse; None stores nothing.
        device: None takes a GPU where there is one.
        progress: show a bar; None: on terminals.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
        DataError: not one reference for each prediction, or idf with fewer than two different
            references.
    """
    name, layer = _backbone(config)
    require_rows("bertscore", predictions, references)
    identity = check_backbone(name, layer)
    baseline = _read_baseline(config)
    transformers = metadata.version("transformers")
    scorer_key = (VERSION, identity, config.layer, config.long, config.precision, transformers)

    def build() -> tuple[Arrays, Mapping[str, Any]]:
        encoder = TokenEncoder.load(name, layer, config.precision, device)
        scorer = _Scorer(encoder, config, cache, fingerprint(*scorer_key), progress)
        return scorer.score(predictions, references)

    if cache is None or not len(predictions):
        arrays, counts = build()
    else:
        key = fingerprint(scorer_key, config.idf, list(predictions), list(references))
        arrays, counts = load_or_build(cache, "bertscore", key, build)
    columns = zip(MEASURES, arrays["scores"].T, strict=True)
    items = {f"bertscore_{name}": np.array(column_N) for name, column_N in columns}
    for name, value in baseline.items():
        raw_N = items[f"bertscore_{name}"]
        items[f"bertscore_{name}_rescaled"] = (raw_N - value) / (1 - value)
    return BertScores(items, dict(counts), sign(config, references))


def require(config: BertScoreConfig) -> None:
    """Check encoder, layer and baseline before anything is computed; raises as `sign`."""
    check_backbone(*_backbone(config))
    _read_baseline(config)


def sign(config: BertScoreConfig, references: Sequence[str] = ()) -> str:
    """Make the signature: everything a score depends on, like bert-score's hash code.

    That is the encoder (with a fingerprint of its files), layer, version of transformers, treatment
    of long texts, and with idf all references, in any order.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    name, layer = _backbone(config)
    identity = check_backbone(name, layer)
    content = identity.get("commit") or fingerprint(identity)
    shown = Path(name).resolve().name if Path(name).is_dir() else name
    words = [f"{shown}@{content[:12]}", f"L{layer}", "idf" if config.idf else "no-idf"]
    words.append(f"version=heron-{VERSION}(hug_trans={metadata.version('transformers')})")
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
class _Scorer:
    """Scores pairs by an encoder; `key` fingerprints everything that its states depend on."""

    encoder: TokenEncoder
    config: BertScoreConfig
    cache: Path | None
    key: str
    progress: bool | None

    def score(
        self, predictions: Sequence[str], references: Sequence[str]
    ) -> tuple[Arrays, dict[str, int]]:
        """Return precision, recall and F1 as `scores`, float64 `[N, 3]`, and the counts."""
        texts = list(dict.fromkeys([*references, *predictions]))
        pieces = dict(zip(texts, self.encoder.pieces(texts), strict=True))
        long = {text for text in texts if self.encoder.is_long(pieces[text])}
        if self.config.long == "cut":
            pieces |= {text: self.encoder.cut(pieces[text]) for text in long}
        left_out = long if self.config.long == "skip" else set()
        golds = [text for text in references if text not in left_out]
        if self.config.idf and len(set(golds)) < 2:
            what = f"idf over {len(set(golds))} different references"
            fix = "set idf=false: tokens that all references have weigh nothing"
            raise DataError("bertscore", what, fix)
        special = {int(i) for each in pieces.values() for i in (*each.before, *each.after)}
        tokenizer = self.encoder.tokenizer
        special |= {i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None}
        if self.config.idf:
            weights = idf_weights([pieces[text].ids for text in golds], special)
        else:
            weights = Weights(dict.fromkeys(special, 0.0), 1.0)
        weighed = {text: weights.of(pieces[text].ids) for text in texts}

        pairs = list(zip(predictions, references, strict=True))
        scores_N3 = np.full((len(pairs), len(MEASURES)), np.nan)
        empty = 0
        places: dict[str, list[int]] = {}
        for place, pair in enumerate(pairs):
            if left_out.intersection(pair):
                continue
            if all(weighed[text].any() for text in pair):
                places.setdefault(pair[1], []).append(place)
            else:
                scores_N3[place], empty = 0.0, empty + 1
        for part in _parts(sorted(set(golds)), pieces):
            mine = [place for text in part for place in places.get(text, ())]
            states = self._references(part, pieces)
            others = {pairs[place][0]: None for place in mine if pairs[place][0] not in states}
            states |= self._encode(list(others), pieces, "BERTScore: summaries")
            for place in mine:
                one, other = pairs[place]
                scores_N3[place] = match_tokens(
                    states[one], states[other], weighed[one], weighed[other]
                )
        over = sum(1 for pair in pairs if long.intersection(pair))
        return {"scores": scores_N3}, {"bertscore_long": over, "bertscore_empty": empty}

    def _references(self, part: Sequence[str], pieces: Mapping[str, Pieces]) -> dict[str, Tensor]:
        """Encode references, or load their states."""

        def encode() -> dict[str, Tensor]:
            return self._encode(part, pieces, "BERTScore: references")

        def build() -> tuple[Arrays, Mapping[str, Any]]:
            return {"states": torch.cat(list(encode().values())).numpy()}, {}

        if self.cache is None:
            return encode()
        key = fingerprint(self.key, list(part))
        arrays, _ = load_or_build(self.cache, "token_states", key, build)
        states_TD = torch.from_numpy(np.array(arrays["states"]))
        lengths = [len(pieces[text].ids) for text in part]
        return dict(zip(part, states_TD.split(lengths), strict=True))

    def _encode(
        self, texts: Sequence[str], pieces: Mapping[str, Pieces], title: str
    ) -> dict[str, Tensor]:
        """Encode texts; states are normalised to length 1."""
        found = self.encoder.states([pieces[text] for text in texts], title, self.progress)
        unit = (F.normalize(states_TD, dim=1) for states_TD in found)
        return dict(zip(texts, unit, strict=True))


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
    """Match the tokens of two texts, by states of length 1 (float32) and weights not all 0.

    Returns:
        Precision and recall, cosines from -1 to 1, and their harmonic mean, F1; it is 0 where one
        of them is not positive.
    """
    similarity_KL = candidate_KD @ reference_LD.T
    precision = float(np.average(similarity_KL.amax(dim=1).double().numpy(), weights=weights_K))
    recall = float(np.average(similarity_KL.amax(dim=0).double().numpy(), weights=weights_L))
    both = min(precision, recall) > 0
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0


def _parts(texts: Sequence[str], pieces: Mapping[str, Pieces]) -> list[list[str]]:
    """Divide texts into parts of at most `_PART` tokens, at least one text each."""
    parts: list[list[str]] = []
    held = 0
    for text in texts:
        held += len(pieces[text].ids)
        if not parts or held > _PART:
            parts.append([])
            held = len(pieces[text].ids)
        parts[-1].append(text)
    return parts


def _backbone(config: BertScoreConfig) -> tuple[str, int]:
    check(config, "task.bertscore.")
    assert config.model is not None
    assert config.layer is not None
    return str(Path(config.model).expanduser()), config.layer


def _read_baseline(config: BertScoreConfig) -> dict[str, float]:
    """Read the layer's row of a baseline file in bert-score's format; empty without a file."""
    if config.baseline is None:
        return {}
    path = Path(config.baseline)
    try:
        text = path.read_text(encoding="utf-8")
        rows = csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in text else ",")
        found = {int(row["LAYER"]): [float(row[name]) for name in "PRF"] for row in rows}
        return dict(zip(MEASURES, found[config.layer or 0], strict=True))
    except (OSError, KeyError, TypeError, ValueError) as error:
        what = f"no numbers LAYER,P,R,F of layer {config.layer}"
        raise ConfigError(f"bertscore baseline {path}: {what} ({error})") from error
