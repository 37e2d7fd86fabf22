"""Keys of the systems without a trained encoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge

from heron.config.constraints import Count, OneOf, Positive


@dataclass
class BaselineConfig:
    """A system without a trained encoder, in place of encoder and head.

    Args:
        name: `none`; `majority`; `cbow_svm` and `cbow_softmax` (mean word vectors, then a support
            vector machine or multinomial logistic regression); `zero_shot` (a finished NLI model).
            Of `summarization`, sentences of the article: `lead` (the first ones), `textrank` (those
            most similar to all others), `oracle` (chosen greedily by the reference: a ceiling, not
            a system).
        sentences: most sentences of `lead`, `textrank` and `oracle`.
        input: what is read: `pair`, only the `premise`, or only the `hypothesis`.
        vectors: word vectors: `train` (fastText on the train split's own texts), or a file: .bin
            in fastText's format, .vec or .vec.gz.
        words: tokenization: `words` (`heron.languages.words`, case kept), `folded` (those in lower
            case) or `whitespace`, as RoNLI's repository has it.
        dim, epochs, min_count, buckets: of `vectors=train`: width of the vectors, passes over the
            texts, fewest occurrences of a word, rows for character n-grams.
        scale: scaling of the features, fitted on the train split: `none`, `standard` (mean 0,
            variance 1) or `minmax` (0 to 1).
        C: inverse strength of the l2 penalty.
        kernel: `linear` or `rbf`, for `cbow_svm`.
        max_iter: most iterations of the optimizer.
        tol: tolerance at which it stops.
        class_weight: `none` or `balanced` (N / (C n_c)).
        model, revision: of `zero_shot`, a Hugging Face model for sequence pairs with an entailment
            class, by hub id or folder.
        zero_shot: `definitions` asks for each class whether the pair entails its sentence in
            `hypotheses`; `direct` takes the model's own classes, for data with the same classes.
        hypotheses: a sentence per class.
        template: how a pair becomes the one text that may entail the sentence.
        entailment: what is compared between classes: the `probability` of entailment among the
            model's classes, or its `logit`, as transformers' pipeline does.
        permutation: `repo` orders the scores as RoNLI's repository does, which is a mistake: the
            prediction becomes the rank of the first class. `none` does not.
        max_length: longest sequence of the `zero_shot` model, in tokens; the pair is cut.
    """

    name: Annotated[str, OneOf("none", registry="heron.config.registries:BASELINES")] = "none"
    sentences: Count = 3
    input: Annotated[str, OneOf("pair", "premise", "hypothesis")] = "pair"
    vectors: str = "train"
    words: Annotated[str, OneOf("words", "folded", "whitespace")] = "words"
    dim: Count = 300
    epochs: Count = 10
    min_count: Count = 2
    buckets: Count = 100_000
    scale: Annotated[str, OneOf("none", "standard", "minmax")] = "none"
    C: Positive = 1.0
    kernel: Annotated[str, OneOf("linear", "rbf")] = "linear"
    max_iter: Count = 1000
    tol: Positive = 1e-3
    class_weight: Annotated[str, OneOf("none", "balanced")] = "none"
    model: str = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
    revision: str | None = None
    zero_shot: Annotated[str, OneOf("definitions", "direct")] = "definitions"
    hypotheses: dict[str, str] = field(default_factory=dict)
    template: str = "{premise} {hypothesis}"
    entailment: Annotated[str, OneOf("probability", "logit")] = "probability"
    permutation: Annotated[str, OneOf("none", "repo")] = "none"
    max_length: Annotated[int, Ge(8)] = 512
