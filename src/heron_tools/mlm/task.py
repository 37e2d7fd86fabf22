"""Masked language modelling: predict the masked tokens of raw text.

It continues the pretraining of an encoder, before fine-tuning or as a run's first stage.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from heron.base.registry import Registry, on_demand
from heron.config.constraints import Share
from heron.data import SettingRules
from heron.data.config import DataConfig, second_text_problems
from heron.tasks.config import Config, TaskConfig
from heron.tasks.task import FOR_CLASSES, FOR_TEXTS, About, Task

TEXT = "text"  # the only class


def problems(config: Config) -> Iterator[str]:
    """List settings of a run that do not work with this task."""
    if config.baseline.name != "none":
        return  # encoder and head are not used
    if config.trainer.strategy == "fsdp":
        yield (
            "trainer.strategy=fsdp shards the word embeddings, which task=mlm needs whole: use "
            "trainer.strategy=ddp"
        )


def data_problems(config: DataConfig) -> Iterator[str]:
    """List settings of a data set that do not work with raw texts."""
    if config.label_order not in ([], [TEXT]):
        yield f"data.label_order={config.label_order}: data.task=mlm has the one class [{TEXT}]"
    yield from second_text_problems(config, is_needed=False)
    if config.generator:
        yield "data.generator: data.task=mlm reads files"
    if config.name in (*config.texts.sets, *config.texts.unseen):
        yield f"data.texts: {config.name} is this data set itself: name others"


def reading(config: DataConfig) -> dict[str, str]:
    """Describe which texts are read, and which are left out."""
    texts = config.texts
    evaluated = dict.fromkeys([*texts.sets, *texts.unseen])
    rule = ""
    if evaluated:
        names = ", ".join(evaluated)
        rule = f"{texts.overlap} words in a row of validation or test of {names}"
    return {"texts of": ", ".join(texts.sets), "without": rule}


@dataclass
class MlmConfig(TaskConfig):
    """Settings of masking."""

    mask_share: Share = 0.15  # share of a sequence's tokens to predict
    whole_words: bool = False  # whole-word masking


TASK = Task(
    forms=("masked",),
    formats=Registry("data format", {"texts": "heron_tools.mlm.reader:TEXTS"}),
    head="mlm",
    options=MlmConfig,
    has_classes=False,
    rules=SettingRules(
        long_forms=("masked",),
        classifiers=("mlm",),
        ignores=(*FOR_CLASSES, *FOR_TEXTS, "data.label_aliases"),
        problems=problems,
        data_problems=data_problems,
    ),
    features=on_demand("heron_tools.mlm.masking:text_sequences"),
    model=on_demand("heron_tools.mlm.module:model"),
    score_names=lambda config: ["accuracy", "perplexity"],
    scores=on_demand("heron_tools.mlm.predictions:text_scores"),
    about=About(hub_name="fill-mask", reading=reading),
)
