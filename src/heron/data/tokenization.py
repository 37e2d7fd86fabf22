"""From examples to `Features`: which input form a head reads decides how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from heron.data.examples import Example
from heron.data.features import FeatureOptions, Features
from heron.data.pair_features import pair_features
from heron.tasks.qa.features import qa_features
from heron.tasks.relation.features import relation_features
from heron.tasks.summarization.features import summary_features

# `head.input`: what makes its features.
BUILDERS: dict[str, Callable[[Sequence[Example], Any, FeatureOptions], Features]] = {
    "marked": relation_features,
    "window": relation_features,
    "pair": pair_features,
    "premise": pair_features,
    "hypothesis": pair_features,
    "separate": pair_features,
    "question": qa_features,
    "article": summary_features,
}


def build_features(
    examples: Sequence[Example], tokenizer: Any, options: FeatureOptions
) -> Features:
    """Tokenize a split in the form that `options.input` names."""
    return BUILDERS[options.input](examples, tokenizer, options)
