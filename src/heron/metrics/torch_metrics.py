"""heron's scores as `torchmetrics.Metric`: for heron's modules, yours, and any `MetricCollection`.

Each gives what its pure function gives for all rows since the last reset, of every process, to the
last bit: rows, or counts of them, are kept, never means of batches.

Legend: N rows, C classes, K values of a row.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from heron.base.errors import DataError
from heron.data.features import UNLABELLED
from heron.languages import get_language
from heron.metrics.arrays import Floats
from heron.metrics.calibration import calibration_of_rows, calibration_rows
from heron.metrics.classification import score_matrix
from heron.metrics.names import rouge_names

# Late imports: a run of one task needs the scores of no other.


class Scores(Metric):
    """What the metrics here share: `compute` gives every score by name, or one of them.

    Args:
        only: the score to return, as a float64 tensor, which is what `self.log(name, metric)`
            needs. None returns all, for `self.log_dict(metric.compute())`.
    """

    full_state_update = False
    higher_is_better: bool | None = True
    is_differentiable = False

    def __init__(self, only: str | None = None):
        super().__init__()
        self.only = only

    def scores(self) -> dict[str, float]:
        """Score all rows."""
        raise NotImplementedError

    def compute(self) -> dict[str, float] | Tensor:
        """Score all rows."""
        scores = self.scores()
        return scores if self.only is None else torch.tensor(scores[self.only], dtype=torch.float64)


class ClassificationScores(Scores):
    """`score_matrix`: accuracy, macro and weighted F1, the task's own, and those of each class.

    Args:
        classes: names in the order of the class ids.
        task: whose headline scores; `relation` has relaxed F1.
        relaxed, only: see `headline` and `Scores`.
    """

    matrix: Tensor

    def __init__(
        self,
        classes: Sequence[str],
        task: str = "classification",
        relaxed: str = "recode",
        only: str | None = None,
    ):
        super().__init__(only)
        self.task = task
        self.classes = list(classes)
        self.relaxed = relaxed
        zeros = torch.zeros(len(classes), len(classes), dtype=torch.int64)
        self.add_state("matrix", zeros, dist_reduce_fx="sum")

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Count class ids, or logits or probabilities [N, C]; skips targets `UNLABELLED`."""
        preds = preds.argmax(dim=1) if preds.ndim > target.ndim else preds
        size = len(self.classes)
        both_2N = torch.stack([preds, target])[:, target != UNLABELLED]
        if both_2N.numel():
            lowest = int(both_2N.min())
            highest = int(both_2N.max())
            if lowest < 0 or highest >= size:
                what = f"class ids from {lowest} to {highest}"
                raise DataError("scores", what, f"allowed: 0 to {size - 1}")
        cells_N = both_2N[1] * size + both_2N[0]
        self.matrix += torch.bincount(cells_N, minlength=size * size).view(size, size)

    def scores(self) -> dict[str, float]:
        """See `Scores`."""
        matrix_CC = self.matrix.cpu().numpy()
        return score_matrix(self.task, matrix_CC, self.classes, relaxed=self.relaxed)


class RowScores(Scores):
    """Scores of K values that each row has: their means, unless `scores` is overridden.

    Args:
        names: of the K values.
        of: what they depend on beside the rows: a `MetricCollection` lets metrics share states of
            one name that are equal after the first batch.
        only: see `Scores`.
    """

    def __init__(self, names: Sequence[str], of: str = "", only: str | None = None):
        super().__init__(only)
        self.names = list(names)
        self.state = f"rows_{type(self).__name__}_{of}"
        self.add_state(self.state, [], dist_reduce_fx="cat")
        self.set_dtype(torch.float64)  # also in a process without rows

    def keep(self, columns: Sequence[Floats] | Floats) -> None:
        """Add rows, given as K columns of N values."""
        values_NK = torch.from_numpy(np.stack([*columns], axis=1))
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # MPS has no more
        getattr(self, self.state).append(values_NK.flatten().to(self.device, dtype))

    def columns(self) -> dict[str, Floats]:
        """Give all rows as columns of N values, by name."""
        batches = getattr(self, self.state)
        flat = dim_zero_cat(batches).cpu() if len(batches) else []
        values_NK = np.asarray(flat, dtype=np.float64).reshape(-1, len(self.names))
        return dict(zip(self.names, values_NK.T, strict=True))

    def scores(self) -> dict[str, float]:
        """See `Scores`."""
        from heron.metrics.span import mean_scores

        return mean_scores(self.columns())


class SpanScores(RowScores):
    """`item_scores` of answers, averaged: exact match, F1, the language's own, TLNLS.

    Args:
        language: code of the language whose scores to add (`he`: `he_f1`); None or `und`: none.
        no_answer: whether a question may have no answer; see `item_scores`.
        only: see `Scores`.
    """

    def __init__(
        self, language: str | None = None, no_answer: bool = False, only: str | None = None
    ):
        self.language = get_language(language) if language else None
        self.no_answer = no_answer
        names = [*self._items([], [])]
        if no_answer:  # each score of the answer, each of "no answer", and `none`
            names += [*(f"never_{name}" for name in names), "none"]
        super().__init__(names, f"{language}_{no_answer}", only)

    def update(
        self,
        preds: Sequence[str],
        target: Sequence[str | Sequence[str]],
        none: Sequence[float] | None = None,
    ) -> None:
        """Score N answers.

        Args:
            preds: empty for no answer.
            target: right answers, one or a list for each question.
            none: how far the score of "no answer" is ahead of that of each answer. Answers are
                then kept up to the threshold with the highest F1 (`best_threshold`).
        """
        golds = [[gold] if isinstance(gold, str) else list(gold) for gold in target]
        columns = [*self._items(preds, golds).values()]
        if self.no_answer:
            no_answers = [""] * len(preds)
            columns += self._items(no_answers, golds).values()
            none_N = np.full(len(preds), np.nan)
            if none is not None:
                none_N = np.asarray(none, dtype=np.float64)
            columns.append(none_N)
        self.keep(columns)

    def _items(self, preds: Sequence[str], golds: Sequence[Sequence[str]]) -> Mapping[str, Floats]:
        from heron.metrics.span import item_scores, language_profiles

        profiles = language_profiles(self.language)
        return item_scores(preds, golds, profiles, no_answer=self.no_answer)

    def scores(self) -> dict[str, float]:
        """See `Scores`.

        Where `update` got `none`, answers up to the best threshold count, and it is among the
        scores as `threshold`.
        """
        from heron.metrics.span import best_threshold, mean_scores

        if not self.no_answer:
            return super().scores()
        columns = self.columns()
        none_N = columns.pop("none")
        never = {name: columns.pop(f"never_{name}") for name in [*columns][: len(columns) // 2]}
        if np.isnan(none_N).all():
            return mean_scores(columns)

        threshold = best_threshold(none_N, columns["f1"] - never["f1"])
        is_none_N = none_N > threshold
        kept = {name: np.where(is_none_N, never[name], columns[name]) for name in columns}
        return {**mean_scores(kept), "threshold": threshold}


class RougeScores(RowScores):
    """`item_rouge` of summaries, averaged; see `Scores` for `only`."""

    def __init__(self, language: str, only: str | None = None):
        super().__init__(rouge_names(), language, only)
        self.language = language

    def update(self, preds: Sequence[str], target: Sequence[str] | Sequence[Sequence[str]]) -> None:
        """Score N summaries; `target` has for each its reference, or several."""
        from heron.metrics.summary import item_rouge

        self.keep([*item_rouge(preds, target, get_language(self.language)).values()])


class CalibrationError(RowScores):
    """`calibration_scores`: `ece`, `mce` and `brier`; `only` chooses one."""

    higher_is_better = False

    def __init__(self, bins: int = 15, only: str | None = None):
        super().__init__(("confidence", "right", "squares"), only=only)
        self.bins = bins

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add probabilities [N, C] and class ids [N]; skips targets `UNLABELLED`."""
        labelled = target != UNLABELLED
        probabilities_NC = preds[labelled].double().cpu().numpy()
        rows_N3 = calibration_rows(probabilities_NC, target[labelled].cpu())
        self.keep(rows_N3.T)

    def scores(self) -> dict[str, float]:
        """See `Scores`."""
        return calibration_of_rows(np.stack([*self.columns().values()], axis=1), self.bins)
