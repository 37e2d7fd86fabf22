"""Abstractive summarization: a few sentences that say what an article says."""

from collections.abc import Iterator
from typing import Any

from heron.base.registry import Registry
from heron.data import SettingRules
from heron.data.config import DataConfig, second_text_problems
from heron.data.rows import Format
from heron.metrics.names import rouge_names
from heron.tasks.config import Config
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.reader import ARTICLE_TABLE, SUMMARY
from heron.tasks.summarization.scores import text_scores
from heron.tasks.task import FOR_CLASSES, About, Task

FORMATS: Registry[Format] = Registry("data format")
FORMATS.register("article_table", ARTICLE_TABLE)


def feature_options(config: Config, training: bool) -> Any:
    """Set the length of targets, and whether they begin with the tokenizer's first token.

    A warm-started decoder always receives that token as its first input.
    """
    from heron.tasks.summarization.features import SummaryOptions  # start-up time

    starts = config.head.classifier != "warm_start"
    return SummaryOptions(SummarizationConfig.of(config).max_target_tokens, starts)


def sources(config: Config) -> dict[str, str | None]:
    """See `Task.sources`: BERTScore's encoder and its baseline."""
    bertscore = SummarizationConfig.of(config).bertscore
    return {"bertscore": bertscore.model, "bertscore.baseline": bertscore.baseline}


def problems(config: Config) -> Iterator[str]:
    """List settings of a run that do not work with this task."""
    encoder = config.encoder
    head = config.head
    if config.baseline.name != "none":
        return  # encoder and head are not used
    if encoder.overflow == "windows":
        yield (
            "encoder.overflow=windows reads a text in parts; task=summarization reads it once: "
            "raise encoder.max_length, and leave encoder.overflow=truncate"
        )
    if config.trainer.strategy == "fsdp":
        yield (
            "trainer.strategy=fsdp gives no process the whole model, which generation needs; with "
            "task=summarization use trainer.strategy=ddp, encoder.gradient_checkpointing=true and "
            "optim.name=adafactor"
        )
    if head.classifier == "seq2seq" and encoder.name == "scratch":
        yield (
            "head=seq2seq uses the decoder of encoder.name, and encoder=scratch has none: name a "
            "sequence-to-sequence model, or set head=warm_start"
        )
    elif head.classifier == "seq2seq" and encoder.num_layers is not None:
        yield "encoder.num_layers: the decoder of head=seq2seq was trained with all layers"


def data_problems(config: DataConfig) -> Iterator[str]:
    """List settings of a data set that do not work with summaries."""
    if config.label_order not in ([], [SUMMARY]):
        yield (
            f"data.label_order={config.label_order}: data.task=summarization has the one class "
            f"[{SUMMARY}]"
        )
    yield from second_text_problems(config, is_needed=False)


def reading(config: DataConfig) -> dict[str, str]:
    """Describe where summaries are and which rows are left out."""
    options = config.summaries
    limit = options.other_script
    script = "any script" if limit is None else f"at most {limit:g} of letters of another script"
    fewest = f"{options.min_summary_tokens} words or more"
    return {"summaries": f"{config.columns.target}, {options.empty} empty rows, {script}, {fewest}"}


def features(*arguments: Any) -> Any:
    """Tokenize a split."""
    from heron.tasks.summarization.features import summary_features

    return summary_features(*arguments)


def model() -> Any:
    """See `Task.model`; the head does nothing: the decoder writes."""
    from torch import nn

    from heron.tasks.base import ModelParts
    from heron.tasks.summarization.module import SummarizationModule
    from heron.tasks.summarization.seq2seq import build_seq2seq

    return ModelParts(SummarizationModule, build_seq2seq, head=lambda *_: nn.Identity())


def from_texts(*arguments: Any) -> Any:
    """Read the summaries that a language model wrote."""
    from heron.tasks.summarization.predictions import SummaryPredictions

    return SummaryPredictions(*arguments[:2])


TASK = Task(
    forms=("article",),
    formats=FORMATS,
    head="warm_start",
    options=SummarizationConfig,
    has_classes=False,
    rules=SettingRules(
        classifiers=("seq2seq", "warm_start"),
        ignores=(*FOR_CLASSES, "optim.soft.answers", "data.label_aliases"),
        problems=problems,
        data_problems=data_problems,
    ),
    features=features,
    feature_options=feature_options,
    model=model,
    score_names=lambda config: rouge_names(),
    # Each ROUGE is followed by those of extractive baselines.
    headline_scores=(
        *("rouge1", "lead3_rouge1", "oracle_rouge1", "rouge2", "lead3_rouge2", "oracle_rouge2"),
        *("rougeL", "lead3_rougeL", "oracle_rougeL", "bertscore_f1"),
    ),
    sources=sources,
    scores=text_scores,
    from_texts=from_texts,
    about=About(
        hub_name="summarization",
        does="writes a summary of an article",
        writes="summary",
        reading=reading,
    ),
)
