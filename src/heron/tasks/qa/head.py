"""The span head: scores of the tokens where an answer begins and ends.

Shape suffixes: B sequences (windows), L tokens, D hidden, H biaffine width, W tokens of the longest
answer, R rows (questions), N candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForQuestionAnswering

from heron.data.collate import Batch
from heron.models.config import HeadConfig
from heron.models.encoder import Encoder
from heron.tasks.base import copied
from heron.tasks.config import Config
from heron.tasks.exported_heads import HeadWeights, named
from heron.tasks.qa.features import AnswerColumns

NEVER = -1e4  # the score of what is not allowed; finite, so that sums and gradients are finite
# Models whose question answering class in transformers has the linear layer `qa_outputs` on every
# token's state. Longformer's class differs.
_SPAN_FINDERS = ("bert", "camembert", "electra", "roberta", "xlm-roberta")


@dataclass(frozen=True, slots=True)
class SpanLogits:
    """The scores of each window, float32; those of tokens outside the text are `NEVER`."""

    start_BL: Tensor  # token 0 means "no answer in this window"
    end_BL: Tensor
    # Of a biaffine head, which adds their inner product to the score of a span.
    pair_start_BLH: Tensor | None = None
    pair_end_BLH: Tensor | None = None

    @property
    def none_B(self) -> Tensor:
        """Score of "no answer in this window", float32."""
        return self.start_BL[:, 0] + self.end_BL[:, 0]

    def span_B(self, spans_B2: Tensor) -> Tensor:
        """Score one span of each window; spans_B2 has its first and last token.

        Args:
            spans_B2: first and last token of each span, in the sequence, int64.

        Returns:
            score_B, float32.
        """
        first_B1 = spans_B2[:, :1]
        last_B1 = spans_B2[:, 1:]
        score_B1 = self.start_BL.gather(1, first_B1) + self.end_BL.gather(1, last_B1)
        score_B = score_B1[:, 0]
        if self.pair_start_BLH is None or self.pair_end_BLH is None:
            return score_B

        rows_B = torch.arange(len(spans_B2), device=spans_B2.device)
        u_BH = self.pair_start_BLH[rows_B, first_B1[:, 0]]
        v_BH = self.pair_end_BLH[rows_B, last_B1[:, 0]]
        return score_B + (u_BH * v_BH).sum(dim=1)

    def band_BLW(self, longest: int) -> Tensor:
        """Score every span of at most `longest` tokens: `[b, i, w]` is the span i to i + w.

        Spans beyond the text, and those of token 0, have `NEVER` or less. W is at most L.

        Returns:
            band_BLW, float32.
        """
        length = self.start_BL.shape[1]
        longest = min(longest, length)

        padded_BL = F.pad(self.end_BL, (0, longest - 1), value=NEVER)
        ends_BLW = padded_BL.unfold(1, longest, 1)
        band_BLW = self.start_BL[:, :, None] + ends_BLW

        if self.pair_start_BLH is not None and self.pair_end_BLH is not None:
            # One product for each width, because a single one would copy the factors W times.
            padded_BLH = F.pad(self.pair_end_BLH, (0, 0, 0, longest - 1))
            products = []
            for width in range(longest):
                end_BLH = padded_BLH[:, width : width + length]
                products.append((self.pair_start_BLH * end_BLH).sum(dim=2))
            band_BLW = band_BLW + torch.stack(products, dim=2)

        is_outside_BL = self.start_BL <= NEVER
        band_BLW = band_BLW.masked_fill(is_outside_BL[:, :, None], 2 * NEVER)
        band_BLW[:, 0] = 2 * NEVER
        return band_BLW


def borders(batch: Batch) -> Tensor:
    """Mark the tokens where an answer can begin or end: the text and token 0; bool [B, L].

    Args:
        batch: of questions; token 0 stands for "not here".
    """
    allowed_BL = AnswerColumns.of(batch).context_BL
    allowed_BL[:, 0] = True
    return allowed_BL


def mean_logits(several: Sequence[SpanLogits]) -> SpanLogits:
    """Average the scores of several heads for every span of the same windows.

    Args:
        several: of one batch; their heads may differ: of a linear one, the pairs score 0.

    Returns:
        Logits whose score of a span is the mean of all its scores.
    """
    start_BL = torch.stack([logits.start_BL for logits in several]).mean(dim=0)
    end_BL = torch.stack([logits.end_BL for logits in several]).mean(dim=0)

    pair_starts = []
    pair_ends = []
    for logits in several:
        if logits.pair_start_BLH is not None and logits.pair_end_BLH is not None:
            pair_starts.append(logits.pair_start_BLH)
            pair_ends.append(logits.pair_end_BLH)
    if not pair_starts:
        return SpanLogits(start_BL, end_BL)

    # The inner product of concatenated factors is the sum of the inner products.
    pair_start_BLH = torch.cat(pair_starts, dim=2) / len(several)
    return SpanLogits(start_BL, end_BL, pair_start_BLH, torch.cat(pair_ends, dim=2))


class SpanHead(nn.Module):
    """Scores of starts and ends, from the state of every token.

    "No answer" is predicted where it scores better than the best span by more than `threshold`,
    which is tuned on validation (`heron.tasks.qa.predictions`) and stored with the weights.

    `classifier` is `span` (a linear layer, as in BERT) or `biaffine` (adds the inner product of
    `hidden[0]` units for the first and for the last token).

    Source: Devlin et al. 2019, section 4.2; biaffine: after Dozat and Manning 2017.
    Deviates: in run_qa, tokens of the question can be answers; here only those of the text. The
    matrix of Dozat and Manning between both sides is part of the two layers.
    """

    threshold: Tensor

    def __init__(self, config: HeadConfig, width: int, classes: int = 2):
        super().__init__()
        self.config = config
        self.dropout = nn.Dropout(config.dropout)
        self.borders = nn.Linear(width, 2)
        self.pairs = None
        if config.classifier == "biaffine":
            self.pairs = nn.Linear(width, 2 * config.hidden[0])
        self.register_buffer("threshold", torch.zeros(()))

    def forward(self, states_BLD: Tensor, batch: Batch) -> SpanLogits:
        """Score every token, in full precision even under autocast.

        Args:
            states_BLD: the encoder's states, in any precision.
            batch: whose column `chars` tells which tokens are of the text.

        Returns:
            The scores, float32.
        """
        with torch.autocast(states_BLD.device.type, enabled=False):
            states_BLD = states_BLD.to(self.borders.weight.dtype)
            states_BLD = self.dropout(states_BLD)

            is_outside_BL = ~borders(batch)
            start_BL, end_BL = self.borders(states_BLD).float().unbind(dim=2)
            start_BL = start_BL.masked_fill(is_outside_BL, NEVER)
            end_BL = end_BL.masked_fill(is_outside_BL, NEVER)
            if self.pairs is None:
                return SpanLogits(start_BL, end_BL)

            u_BLH, v_BLH = self.pairs(states_BLD).float().chunk(2, dim=2)
            u_BLH = torch.relu(u_BLH)  # on one side only, so that a pair's score can be negative
            scale = u_BLH.shape[2] ** -0.5
            return SpanLogits(start_BL, end_BL, u_BLH * scale, v_BLH)


def span_head_in_transformers(
    head: nn.Module, encoder: Encoder, tokenizer: Any, config: Config
) -> HeadWeights | None:
    """See `ModelParts.in_transformers`."""
    if not isinstance(head, SpanHead) or head.pairs is not None:
        return None
    if encoder.model.config.model_type not in _SPAN_FINDERS:
        return None
    layers = named("qa_outputs", head.borders)
    return HeadWeights(AutoModelForQuestionAnswering, ["start", "end"], layers)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best spans of some windows."""

    scores_BN: Tensor  # best first, float32; `NEVER` or less where a window has fewer spans
    spans_BN2: Tensor  # first and last token in the sequence, int64
    none_B: Tensor  # score of "no answer in this window", float32
    total_B: Tensor  # log of the sum of all spans' exponentiated scores, float32

    to = copied


def best_spans(logits: SpanLogits, longest: int, n_best: int) -> Candidates:
    """Find the `n_best` best spans of at most `longest` tokens in each window.

    Of equal scores, the span that begins earlier comes first, then the shorter one.

    Args:
        logits: of a batch of windows.
        longest: most tokens of a span.
        n_best: N, the number of spans.
    """
    band_BLW = logits.band_BLW(longest)
    widest = band_BLW.shape[2]
    flat_BX = band_BLW.flatten(1)
    # A stable sort, because topk does not define the order of equal scores.
    scores_BX, order_BX = flat_BX.sort(dim=1, descending=True, stable=True)
    best_BN = order_BX[:, :n_best]
    first_BN = best_BN // widest
    last_BN = first_BN + best_BN % widest
    return Candidates(
        scores_BN=scores_BX[:, :n_best],
        spans_BN2=torch.stack([first_BN, last_BN], dim=2),
        none_B=logits.none_B,
        total_B=flat_BX.logsumexp(dim=1),
    )
