"""Keys of a run on summaries."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge

from heron.config.constraints import ConstrainedConfig, Count, Natural
from heron.metrics.config import BertScoreConfig
from heron.tasks.config import TaskConfig


@dataclass
class GenerationConfig(ConstrainedConfig):
    """How a summary is generated."""

    num_beams: Count = 4  # beams of the search; 1 is greedy search
    # a beam's log probability is divided by its length to this power; above 0 favours long
    # summaries. No effect with one beam.
    length_penalty: float = 1.0
    # n-grams of this many tokens occur once in a summary; 0: no limit
    no_repeat_ngram_size: Natural = 3
    min_new_tokens: Natural = 0  # shortest summary, in tokens
    max_new_tokens: Count = 128  # longest summary, in tokens

    def problems(self) -> Iterator[str]:
        """Check that a summary may be as long as it must be."""
        if self.min_new_tokens > self.max_new_tokens:
            yield (
                f"task.generation.min_new_tokens={self.min_new_tokens}: must be at most "
                f"task.generation.max_new_tokens={self.max_new_tokens}"
            )


@dataclass
class SummarizationConfig(TaskConfig):
    """How summaries are learned, generated and scored."""

    # reference summaries are cut to this many tokens in training
    max_target_tokens: Annotated[int, Ge(2)] = 128
    # rows that are summarized after each epoch to choose the best one, always the same; null: all.
    # At the end of the run, all are.
    validation_samples: Count | None = None
    # how summaries are generated
    generation: GenerationConfig = field(default_factory=GenerationConfig)
    # computed at the end of a run
    bertscore: BertScoreConfig = field(default_factory=BertScoreConfig)
