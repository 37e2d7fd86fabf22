"""`QaConfig`: the keys of `task` that question answering has."""

from dataclasses import dataclass
from typing import Annotated

from heron.config.constraints import Count, OneOf
from heron.tasks.config import TaskConfig


@dataclass
class QaConfig(TaskConfig):
    """How answers are found."""

    max_answer_tokens: Count = 30  # longest answer, in tokens
    n_best: Count = 20  # spans kept for each window and each question
    # which of these spans is the answer: `argmax`, the most probable one, or `mbr`, the minimum
    # Bayes risk: the one with the highest F1 on average over all of them, by their probabilities
    decoding: Annotated[str, OneOf("argmax", "mbr")] = "argmax"
