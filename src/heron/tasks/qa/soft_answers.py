"""Every gold answer of a window as its target, where people marked more than one.

Shape suffixes: S sequences (windows) of the split, B windows of a batch, K answers of a window,
A answers of the split.
"""

import numpy as np
import torch
from torch import Tensor

from heron.data.collate import Batch
from heron.data.features import Features


class AllAnswers:
    """The gold answers of the windows of train.

    The first one is that of `Features.answers_S2`, which is 0, 0 for a window without an answer.
    """

    def __init__(self, features: Features):
        assert features.golds_A3 is not None
        assert features.answers_S2 is not None
        sequence_A = features.golds_A3[:, 0]
        number_A = np.arange(len(sequence_A)) - np.searchsorted(sequence_A, sequence_A)
        answers_SK2 = np.full((len(features.answers_S2), number_A.max(initial=0) + 1, 2), -1)
        answers_SK2[:, 0] = features.answers_S2
        answers_SK2[sequence_A, number_A] = features.golds_A3[:, 1:]
        self.answers_SK2 = torch.from_numpy(answers_SK2)
        self.first_R = torch.from_numpy(np.array(features.sequences_R))

    def __call__(self, batch: Batch) -> Tensor:
        """List first and last token of each answer, int64 [B, K, 2]; -1 where there are fewer."""
        owners_B = batch.owners_B.cpu()
        # The windows of a question are side by side, in the split as in the batch.
        within_B = torch.arange(len(owners_B)) - batch.sequences_R.cpu()[owners_B]
        first_B = self.first_R[batch.rows_R.cpu()[owners_B]]
        return self.answers_SK2[first_B + within_B].to(batch.owners_B.device)
