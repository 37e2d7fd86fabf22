"""`python -m tests.benchmarks.token_loss`: cross-entropy over a vocabulary beside torch's.

Scores of some target tokens in bf16, as autocast leaves them: loss and gradient by
`torch.nn.functional.cross_entropy` of a float32 copy, and by
`heron.tasks.token_loss`; both again with what the recorder keeps of every token.
Losses are compared in the same run. See README.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from heron.base.cells import Formatted, Table
from heron.base.errors import HeronError
from heron.config.constraints import Count
from heron.tasks.token_loss import token_loss

from .frame import Found, Times, main, ratio

Loss = Callable[[Tensor, Tensor], Tensor]

VOCABULARIES = (32_000, 46_000, 250_000)  # of a scratch or BERT model, me5-small-he-ro, mT5


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        tokens: target tokens of one batch.
        rounds: every way is timed so often; ratios are taken within a round.
        out: JSON file with every measurement.
    """

    tokens: Count = 700
    rounds: Count = 5
    out: Path = Path("runs/benchmark_token_loss.json")


def torch_loss(logits_NV: Tensor, gold_N: Tensor, looks: bool = False) -> Tensor:
    """Compute the mean loss of a float32 copy, and perhaps what the recorder keeps."""
    scores_NV = logits_NV.float()
    loss_N = F.cross_entropy(scores_NV, gold_N, reduction="none")
    if looks:
        with torch.no_grad():
            scores_NV.topk(2, dim=1)
            scores_NV.gather(1, gold_N[:, None])
    return loss_N.mean()


def heron_loss(logits_NV: Tensor, gold_N: Tensor, looks: bool = False) -> Tensor:
    """Compute the mean loss, and perhaps what the recorder keeps, a few tokens at a time."""
    return token_loss(logits_NV, gold_N, looks=looks)[0].mean()


WAYS: dict[str, Loss] = {
    "torch": torch_loss,
    "heron": heron_loss,
    "torch, recorded": lambda logits_NV, gold_N: torch_loss(logits_NV, gold_N, looks=True),
    "heron, recorded": lambda logits_NV, gold_N: heron_loss(logits_NV, gold_N, looks=True),
}


def measure(vocabulary: int, options: Options) -> Times:
    """Time every way once a round: processor seconds of a loss and its gradient."""
    torch.manual_seed(0)
    scores_NV = torch.randn(options.tokens, vocabulary).bfloat16()
    gold_N = torch.randint(0, vocabulary, (options.tokens,))
    times: Times = {name: [] for name in WAYS}
    losses = []
    for _ in range(options.rounds + 1):
        for name, way in WAYS.items():
            logits_NV = scores_NV.clone().requires_grad_()
            began = time.process_time()
            loss = way(logits_NV, gold_N)
            loss.backward()
            times[name].append(time.process_time() - began)
            losses.append(float(loss.detach()))
    if max(losses) - min(losses) > 1e-4:
        raise HeronError(f"the losses differ: {min(losses)} to {max(losses)}")
    return {name: spent[1:] for name, spent in times.items()}  # the first round warms up


def run(options: Options) -> Found:
    """Time every way on every vocabulary."""
    torch.set_num_threads(1)
    measured = {vocabulary: measure(vocabulary, options) for vocabulary in VOCABULARIES}
    rows = []
    for name in WAYS:
        seconds = [statistics.median(times[name]) for times in measured.values()]
        rival = name.replace("heron", "torch")
        shown = " ".join(f"{ratio(times, rival, name):.1f}" for times in measured.values())
        rows.append((name, *(Formatted(value, ".3f") for value in seconds), shown))
    columns = ("way", *(f"{each:,} words: s" for each in VOCABULARIES), "times torch")
    title = f"loss and gradient of {options.tokens} tokens, one thread"
    return Found({"seconds": measured}, [Table(title, columns, tuple(rows))])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
