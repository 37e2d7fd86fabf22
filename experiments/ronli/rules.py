"""Options and checks of RoNLI's systems; loads neither torch nor word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge

from heron.config.constraints import Count, OneOf, Positive
from heron.tasks import BaselineConfig

if TYPE_CHECKING:
    from heron.tasks.config import Config

TEMPLATE_FIELDS = ["hypothesis", "premise"]


@dataclass
class CbowConfig(BaselineConfig):
    """`cbow_svm` and `cbow_softmax`: mean word vectors, then a linear or kernel classifier."""

    # the texts read: `pair`, only the `premise`, or only the `hypothesis`
    input: Annotated[str, OneOf("pair", "premise", "hypothesis")] = "pair"
    # word vectors: `train` (fastText on the train split's own texts), or a file: .bin in fastText's
    # format, .vec or .vec.gz
    vectors: str = "train"
    # tokenization: `words` (`heron.languages.words`, case kept), `folded` (lower-cased words) or
    # `whitespace`, as RoNLI's repository has it
    words: Annotated[str, OneOf("words", "folded", "whitespace")] = "words"
    # dim, epochs, min_count, buckets: for `vectors=train`: width of the vectors, epochs, minimum
    # count of a word, hash buckets of character n-grams
    dim: Count = 300
    epochs: Count = 10
    min_count: Count = 2
    buckets: Count = 100_000
    # scaling of the features, fitted on the train split: `none`, `standard` (mean 0, variance 1) or
    # `minmax` (0 to 1)
    scale: Annotated[str, OneOf("none", "standard", "minmax")] = "none"
    C: Positive = 1.0  # inverse strength of the l2 penalty
    kernel: Annotated[str, OneOf("linear", "rbf")] = "linear"  # `linear` or `rbf`, for `cbow_svm`
    max_iter: Count = 1000  # maximum iterations of the optimizer
    tol: Positive = 1e-3  # tolerance at which it stops
    # `none` or `balanced` (N / (C n_c))
    class_weight: Annotated[str, OneOf("none", "balanced")] = "none"


@dataclass
class ZeroShotConfig(BaselineConfig):
    """`zero_shot`: a trained NLI model."""

    # model, revision: a Hugging Face model for sequence pairs with an entailment class, by hub id
    # or folder
    model: str = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
    revision: str | None = None
    # `definitions`: for each class, does the pair entail its sentence in `hypotheses`? `direct`:
    # the model's own classes, for data with the same classes
    zero_shot: Annotated[str, OneOf("definitions", "direct")] = "definitions"
    hypotheses: dict[str, str] = field(default_factory=dict)  # a sentence per class
    # template that joins a pair to the premise of that sentence
    template: str = "{premise} {hypothesis}"
    # the score of a class: the `probability` of entailment among the model's classes, or its
    # `logit`, as in transformers' pipeline
    entailment: Annotated[str, OneOf("probability", "logit")] = "probability"
    # `repo` permutes the scores as RoNLI's repository does by mistake: the prediction is then the
    # rank of the first class
    permutation: Annotated[str, OneOf("none", "repo")] = "none"
    max_length: Annotated[int, Ge(8)] = 512  # longest sequence, in tokens; the pair is truncated


def zero_shot_problems(config: Config) -> Iterator[str]:
    """Check the template, and that zero-shot entailment has a sentence for each class."""
    baseline = config.baseline
    if baseline.zero_shot == "direct":
        if baseline.permutation != "none":
            yield "baseline.permutation=repo needs baseline.zero_shot=definitions"
        return
    try:
        parts = Formatter().parse(baseline.template)
        fields = [field for _, field, _, _ in parts if field is not None]
    except ValueError:
        fields = []
    if sorted(fields) != TEMPLATE_FIELDS:
        yield (
            f"baseline.template={baseline.template}: must hold {{premise}} and {{hypothesis}}, "
            "once each, and no other braces"
        )

    classes = config.data.label_order
    missing = [name for name in classes if not baseline.hypotheses.get(name)]
    if missing:
        example = ", ".join(f'{name}: "..."' for name in classes)
        yield (
            f"baseline.hypotheses has no sentence for {', '.join(missing)}: write one per class, "
            f"in the language of the data, '+baseline.hypotheses={{{example}}}', or set "
            "baseline.zero_shot=direct where the classes are the model's own"
        )


def zero_shot_files(config: Config) -> dict[str, Path]:
    """Find the weights of a model in a folder."""
    weights = Path(config.baseline.model) / "model.safetensors"
    return {"model": weights} if weights.is_file() else {}


def vector_files(config: Config) -> dict[str, Path]:
    """Find the file of word vectors, unless they are trained by the run."""
    vectors = config.baseline.vectors
    return {} if vectors == "train" else {"vectors": Path(vectors).expanduser()}


def other_vectors(setting: Callable[[str], Any]) -> str:
    """Name a run's word vectors, unless they are the paper's.

    Those are fastText's `cc.ro.300.bin` (section 4), recognised by the file's name.

    Args:
        setting: returns a key of the run's configuration.

    Returns:
        A caveat for the run's results; empty: the vectors are the paper's.
    """
    vectors = str(setting("baseline.vectors"))
    language = setting("data.language")
    published = f"cc.{language}.300"
    name = Path(vectors).name
    if name.startswith(f"{published}."):
        return ""
    if vectors == "train":
        name = "trained on the train split"
    return f"word vectors: {name}, not fastText's published {published}"
