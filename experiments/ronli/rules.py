"""What is checked, stored and said of RoNLI's systems; loads neither torch nor word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heron.tasks.config import Config

TEMPLATE_FIELDS = ["hypothesis", "premise"]


def zero_shot_problems(config: Config) -> Iterator[str]:
    """Check the template, and that zero-shot entailment has a sentence for each class."""
    baseline, labels = config.baseline, config.data.label_order
    if baseline.zero_shot == "direct":
        if baseline.permutation != "none":
            yield "baseline.permutation=repo needs baseline.zero_shot=definitions"
        return
    try:
        parts = Formatter().parse(baseline.template)
        fields = sorted(name for _, name, _, _ in parts if name is not None)
    except ValueError:
        fields = []
    if fields != TEMPLATE_FIELDS:
        yield (
            f"baseline.template={baseline.template}: must hold {{premise}} and {{hypothesis}}, "
            "once each, and no other braces"
        )
    if missing := [label for label in labels if not baseline.hypotheses.get(label)]:
        every = ", ".join(f'{label}: "..."' for label in labels)
        yield (
            f"baseline.hypotheses has no sentence for {', '.join(missing)}: write one per class, "
            f"in the language of the data, '+baseline.hypotheses={{{every}}}', or set "
            "baseline.zero_shot=direct where the classes are the model's own"
        )


def zero_shot_files(config: Config) -> dict[str, Path]:
    """Name the weights of a model that is a folder."""
    weights = Path(config.baseline.model) / "model.safetensors"
    return {"model": weights} if weights.is_file() else {}


def vector_files(config: Config) -> dict[str, Path]:
    """Name the file of word vectors that are not trained here."""
    vectors = config.baseline.vectors
    return {} if vectors == "train" else {"vectors": Path(vectors).expanduser()}


def other_vectors(setting: Callable[[str], Any]) -> str:
    """Name a run's word vectors, unless they are fastText's published ones.

    Those (`cc.ro.300.bin`) are the paper's (section 4); a file is recognised by its name.
    """
    vectors, published = str(setting("baseline.vectors")), f"cc.{setting('data.language')}.300"
    if Path(vectors).name.startswith(f"{published}."):
        return ""
    which = "trained on the train split" if vectors == "train" else Path(vectors).name
    return f"word vectors: {which}, not fastText's published {published}"
