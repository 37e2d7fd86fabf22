"""The options of a generated corpus; imports no other module of chronicle."""

from dataclasses import dataclass, field


@dataclass
class CorpusOptions:
    """The options of a generated corpus, besides its task and its language."""

    size: int = 2000  # rows of all splits, 100 to 1,000,000
    seed: int = 0  # same seed and size give identical bytes
    label_noise: float = 0.0  # share of training rows whose label is flipped
    # relative share of each true label; null: the natural mix. Rows are left out to reach it, so
    # windows lose some pairs.
    class_weights: list[float] | None = None
    label_set: str = "three"  # for the task `nli`: `three` or `four` classes
    # for `three`, `qa` and `summarization`: fewest and most sentences of a premise, context or
    # article (8 to 80; 40 are about 500 words). Beyond one story (four to seven sentences) they are
    # several stories one after the other.
    premise_sentences: list[int] = field(default_factory=lambda: [2, 4])
    keep_phrases: bool = False  # for `four`: keep linking phrases in the text
    # for `four`: lower-case the word after a removed phrase, as RoNLI did
    casing_artefact: bool = True
    # for `qa`: share of questions without an answer; above 0
    # needs both classes, answer and no_answer
    unanswerable: float = 0.0
    # for `qa`: wanted share of questions whose context has another candidate of the answer's type;
    # reached as far as contexts allow, not for "who"
    rivals: float = 0.7
