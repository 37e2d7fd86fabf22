"""What summarization asks of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from heron.config.data import DataConfig
from heron.config.schema import Config
from heron.config.tasks import changed_keys

SUMMARY = "summary"  # the one class
CLASSIFIERS = ("seq2seq", "warm_start")
_OF_OTHERS = (
    "columns.text_pair",
    "columns.truth",
    "join",
    "label_field",
    "label_aliases",
    "phrases.remove",
    "normalize_case",
)


def problems(config: Config) -> Iterator[str]:
    """List what in a run's settings writing a summary cannot do."""
    encoder, head = config.encoder, config.head
    if config.baseline.name != "none":
        return  # encoder and head are left unused
    if config.optim.class_weights != "none":
        yield "optim.class_weights weighs classes; task=summarization has one"
    if encoder.overflow == "windows":
        yield (
            "encoder.overflow=windows reads a text in parts; with task=summarization it is read "
            "once: raise encoder.max_length, and leave encoder.overflow=truncate"
        )
    if config.trainer.strategy == "fsdp":
        yield (
            "trainer.strategy=fsdp gives no process the whole model, which writing needs; with "
            "task=summarization use trainer.strategy=ddp, encoder.gradient_checkpointing=true and "
            "optim.name=adafactor"
        )
    if head.pooling != "tokens" or head.classifier not in CLASSIFIERS:
        yield (
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task=summarization "
            f"needs head.pooling=tokens and head.classifier={' or '.join(CLASSIFIERS)}, as "
            f"{' and '.join(f'head={name}' for name in CLASSIFIERS)} have"
        )
    elif head.classifier == "seq2seq" and encoder.name == "scratch":
        yield (
            "head=seq2seq takes the decoder that encoder.name brings, and encoder=scratch has "
            "none: name a sequence-to-sequence model, or set head=warm_start"
        )
    elif head.classifier == "seq2seq" and encoder.num_layers is not None:
        yield "encoder.num_layers: the decoder of head=seq2seq was trained with all layers"


def data_problems(config: DataConfig) -> Iterator[str]:
    """List what in a data set's settings does not go with summaries."""
    if config.label_order not in ([], [SUMMARY]):
        yield (
            f"data.label_order={config.label_order}: data.task=summarization has the one class "
            f"[{SUMMARY}]"
        )
    for key in changed_keys(config, *_OF_OTHERS):
        yield f"{key}: not for data.task=summarization"
    if config.generator and config.generator.class_weights:
        yield (
            f"data.generator.class_weights={config.generator.class_weights}: not for "
            "data.task=summarization, whose rows are all of one class"
        )


def reading(config: DataConfig) -> dict[str, str]:
    """Say where summaries are and which rows are left out."""
    options = config.summaries
    limit = options.other_script
    script = "any script" if limit is None else f"at most {limit:g} of letters of another script"
    fewest = f"{options.min_summary_tokens} words or more"
    return {"summaries": f"{config.columns.target}, {options.empty} empty rows, {script}, {fewest}"}
