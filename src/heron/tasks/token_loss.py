"""Cross-entropy over a vocabulary, a few tokens at a time.

The logits of one batch's target tokens are the largest tensor of the model. The usual computation
stores several copies of them; here only they and their gradient are stored, and everything else is
computed for as many tokens as fit into a core's cache or, on other devices, 64 MiB.

Shape suffixes: N target tokens, K of them at a time, V vocabulary.
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_AT_ONCE = {"cpu": 2**18}  # float32 logits at a time
_AT_ONCE_ELSEWHERE = 2**24


def token_loss(
    logits_NV: Tensor, gold_N: Tensor, smoothing: float = 0.0, looks: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute each token's cross-entropy, and how well the model predicts the token.

    Args:
        logits_NV: of any floating precision; the computation is in float32 at least.
        gold_N: the target tokens, int64, 0 to V - 1.
        smoothing: share of the target that is spread over the vocabulary.
        looks: whether to tell how well the model predicts.

    Returns:
        loss_N, in nats, float32 or float64; and, if `looks`, seen_N3 without gradients: the gold
        token's log probability, 1 where it is the most probable, and its logit minus the largest
        other one.

    Source: Szegedy et al. 2016, section 7, for label smoothing.
    """
    return cast(tuple[Tensor, Tensor], _TokenLoss.apply(logits_NV, gold_N, smoothing, looks))


class _TokenLoss(torch.autograd.Function):
    """Cross-entropy whose gradient is computed from the logits again, and not stored."""

    @staticmethod
    def forward(
        ctx: Any, logits_NV: Tensor, gold_N: Tensor, smoothing: float, looks: bool
    ) -> tuple[Tensor, Tensor]:
        """Compute what `token_loss` returns.

        Args:
            ctx: keeps what `backward` needs.
            logits_NV: see `token_loss`, as the others.
        """
        empty_N = torch.zeros(0, dtype=_precise(logits_NV), device=logits_NV.device)
        losses = [empty_N]
        totals = [empty_N]
        seen = [empty_N.new_zeros(0, 3)]
        for tokens, scores_KV in _parts(logits_NV):
            gold_K1 = gold_N[tokens, None]
            gold_K = scores_KV.gather(1, gold_K1)[:, 0]
            total_K = scores_KV.logsumexp(dim=1)

            loss_K = total_K - (1 - smoothing) * gold_K
            if smoothing:
                loss_K -= smoothing * scores_KV.mean(dim=1)

            losses.append(loss_K)
            totals.append(total_K)

            if looks:
                top_K2, best_K2 = scores_KV.topk(2, dim=1)
                is_right_K = best_K2[:, 0] == gold_K1[:, 0]
                other_K = torch.where(is_right_K, top_K2[:, 1], top_K2[:, 0])
                log_p_K = gold_K - total_K
                margin_K = gold_K - other_K
                right_K = is_right_K.to(total_K.dtype)
                seen.append(torch.stack([log_p_K, right_K, margin_K], dim=1))

        seen_N3 = torch.cat(seen)
        ctx.save_for_backward(logits_NV, gold_N, torch.cat(totals))
        ctx.smoothing = smoothing
        ctx.mark_non_differentiable(seen_N3)
        return torch.cat(losses), seen_N3

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, loss_N: Tensor, _: Tensor) -> tuple[Tensor, None, None, None]:
        # softmax - (1 - smoothing) * one-hot - smoothing / V, times the gradient of the loss
        logits_NV, gold_N, total_N = ctx.saved_tensors
        gradient_NV = torch.empty_like(logits_NV)
        for tokens, scores_KV in _parts(logits_NV):
            p_KV = scores_KV.sub(total_N[tokens, None]).exp_()
            if ctx.smoothing:
                p_KV -= ctx.smoothing / p_KV.shape[1]
            less_K1 = p_KV.new_full((len(p_KV), 1), ctx.smoothing - 1)
            p_KV.scatter_add_(1, gold_N[tokens, None], less_K1)
            gradient_NV[tokens] = p_KV.mul_(loss_N[tokens, None])
        return gradient_NV, None, None, None


def _parts(logits_NV: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield the logits of a few tokens at a time, and which tokens they are of.

    Args:
        logits_NV: of all tokens.

    Yields:
        Indices from 0 to N - 1, and scores_KV, float32 at least.
    """
    tokens, vocabulary = logits_NV.shape
    at_once = _AT_ONCE.get(logits_NV.device.type, _AT_ONCE_ELSEWHERE)
    step = max(1, at_once // vocabulary)
    for start in range(0, tokens, step):
        part = slice(start, start + step)
        yield part, logits_NV[part].to(_precise(logits_NV))


def _precise(logits_NV: Tensor) -> torch.dtype:
    return torch.promote_types(logits_NV.dtype, torch.float32)
