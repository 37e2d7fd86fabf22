"""Keys of BERTScore, and the modes of relaxed scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from heron.config.constraints import ConstrainedConfig, Count, OneOf

Relaxed = Annotated[str, OneOf("recode", "drop", "matres_micro")]  # see `tasks.relation`


@dataclass
class BertScoreConfig(ConstrainedConfig):
    """Whether and how summaries are scored by BERTScore (`heron.metrics.bertscore`)."""

    model: str | None = None  # encoder, hub id or folder; null: no BERTScore
    # layer of the encoder, from 1. There is no default: scores of different layers cannot be
    # compared, and papers seldom name theirs.
    layer: Count | None = None
    idf: bool = False  # weight tokens by inverse document frequency in the references
    # texts that are longer than the encoder can read, counted in any case: `skip` leaves their
    # pairs out, as HeSum does; `cut` reads the beginning, as the bert-score package does
    long: Annotated[str, OneOf("skip", "cut")] = "skip"
    # `32-true`, or `bf16-mixed`, which changes scores by about 0.0002
    precision: Annotated[str, OneOf("32-true", "bf16-mixed")] = "32-true"
    # a file in bert-score's format (LAYER,P,R,F), to add rescaled scores; null: none
    baseline: str | None = None

    def problems(self) -> Iterator[str]:
        """Check that a layer is named: scores of different layers cannot be compared."""
        unset = BertScoreConfig(long=self.long, precision=self.precision)
        if self.model is None and self != unset:
            yield "task.bertscore.* needs task.bertscore.model=NAME (bertscore=NAME)"
        if self.model is not None and self.layer is None:
            yield (
                f"scores of different layers of {self.model} cannot be compared: name one, such as "
                "task.bertscore.layer=9 (bertscore_layer=9), a fair choice for 12 layers; "
                "bert-score uses 9 for multilingual BERT and XLM-R base, 17 (of 24) for XLM-R large"
            )
