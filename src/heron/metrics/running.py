"""Classification scores accumulated batch by batch, across processes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torchmetrics import Metric

from heron.metrics.classification import headline, score_matrix


class ConfusionScores(Metric):
    """The scores of `score_task`, over all rows since the last reset.

    Its state is the confusion matrix, so scores are those of the whole split, never means over
    batches; processes add their matrices.

    Args:
        task: its name.
        classes: class names, in the order of the class ids.
        relaxed: what `relaxed_*` stands for: `recode`, `drop` or `matres_micro`.

    Raises:
        ConfigError: an unknown task or mode.
    """

    full_state_update = False
    higher_is_better = True
    matrix: Tensor

    def __init__(self, task: str, classes: Sequence[str], relaxed: str = "recode"):
        super().__init__()
        headline(task, classes, relaxed)  # reports a wrong name now, not after the first epoch
        self.task, self.classes, self.relaxed = task, list(classes), relaxed
        zeros = torch.zeros(len(classes), len(classes), dtype=torch.int64)
        self.add_state("matrix", zeros, dist_reduce_fx="sum")

    def update(self, prediction_B: Tensor, gold_B: Tensor) -> None:
        """Count one batch of class ids."""
        size = len(self.classes)
        cells_B = gold_B * size + prediction_B
        self.matrix += torch.bincount(cells_B, minlength=size * size).view(size, size)

    def compute(self) -> dict[str, float]:
        """Compute the scores so far, as `score_matrix`."""
        matrix = self.matrix.cpu().numpy()
        return score_matrix(self.task, matrix, self.classes, relaxed=self.relaxed)
