"""Which settings of `baseline` cannot work together; imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from string import Formatter

from heron.base.errors import ConfigError
from heron.config.schema import Config

EXTRACTIVE = ("lead", "textrank", "oracle")
CBOW = ("cbow_svm", "cbow_softmax")
TEMPLATE_FIELDS = ("premise", "hypothesis")


def other_vectors(name: str, vectors: str, language: str) -> str:
    """Say which word vectors a system has, where they are not those that fastText has published.

    Args:
        name: `baseline.name`.
        vectors: `baseline.vectors`; a file is known by its name.
        language: of the data.

    Returns:
        Empty for systems without word vectors, and for fastText's (`cc.ro.300.bin`), which RoNLI's
        paper takes (section 4).
    """
    published, file = f"cc.{language}.300", Path(vectors).name
    if name not in CBOW or file.startswith(f"{published}."):
        return ""
    which = "trained on the train split" if vectors == "train" else file
    return f"word vectors: {which}, not fastText's published {published}"


def check_baseline(config: Config) -> None:
    """Check what the types and ranges of single keys do not say.

    Raises:
        ConfigError: names the key and what is allowed.
    """
    baseline = config.baseline
    for key in ("C", "tol"):
        value = getattr(baseline, key)
        if not value > 0:  # so that nan is refused as well
            raise ConfigError(f"baseline.{key}={value}: must be above 0")
    task = config.task.name
    if baseline.name in EXTRACTIVE:
        if task != "summarization":
            raise ConfigError(
                f"baseline={baseline.name} summarizes: it needs task=summarization, not {task}"
            )
        return
    if task == "qa":
        raise ConfigError(
            f"baseline={baseline.name} gives each row a class: task=qa has none, it finds spans"
        )
    if task == "summarization":
        raise ConfigError(
            f"baseline={baseline.name} gives each row a class: task=summarization has none, it "
            f"writes; baseline={', '.join(EXTRACTIVE)} copy sentences"
        )
    if config.task.name != "nli" and baseline.name != "majority":
        raise ConfigError(
            f"baseline={baseline.name} reads pairs of texts: it needs task=nli, not "
            f"{config.task.name}"
        )
    if baseline.name == "zero_shot":
        _check_zero_shot(config)


def _check_zero_shot(config: Config) -> None:
    baseline, labels = config.baseline, config.data.label_order
    if baseline.zero_shot == "direct":
        if baseline.permutation != "none":
            raise ConfigError("baseline.permutation=repo needs baseline.zero_shot=definitions")
        return
    missing = [label for label in labels if not baseline.hypotheses.get(label)]
    if missing:
        every = ", ".join(f'{label}: "..."' for label in labels)
        raise ConfigError(
            f"baseline.hypotheses has no sentence for {', '.join(missing)}: write one per class, "
            f"in the language of the data, '+baseline.hypotheses={{{every}}}', or set "
            "baseline.zero_shot=direct where the classes are the model's own"
        )
    try:
        fields = [
            name for _, name, _, _ in Formatter().parse(baseline.template) if name is not None
        ]
    except ValueError:
        fields = []
    if sorted(fields) != sorted(TEMPLATE_FIELDS):
        raise ConfigError(
            f"baseline.template={baseline.template}: must hold {{premise}} and {{hypothesis}}, "
            "once each, and no other braces"
        )
