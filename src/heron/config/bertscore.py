"""BERTScore's keys and options: imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from heron.base.errors import ConfigError
from heron.config.constraints import Count, OneOf, broken


@dataclass
class BertScoreConfig:
    """Whether summaries are scored by BERTScore too, and by what; see `heron.metrics.bertscore`.

    Args:
        model: the encoder whose states are compared, hub id or folder; null leaves BERTScore out.
        layer: after which of its layers, from 1; there is no default, because scores of two layers
            cannot be compared and the literature seldom says its own.
        idf: weigh tokens by how few references have them.
        long: what becomes of texts that are longer than the encoder can read: `skip` leaves their
            pairs out, as HeSum does; `cut` reads the beginning, as the bert-score package does;
            `windows` reads everything, in overlapping windows. Counted in any case.
        precision: `32-true`, or `bf16-mixed`, which changes scores by some 0.0002.
        baseline: a file as bert-score has them (LAYER,P,R,F): rescaled scores come beside the
            others; null: none.
    """

    model: str | None = None
    layer: Count | None = None
    idf: bool = False
    long: Annotated[str, OneOf("skip", "cut", "windows")] = "skip"
    precision: Annotated[str, OneOf("32-true", "bf16-mixed")] = "32-true"
    baseline: str | None = None

    def problems(self) -> Iterator[str]:
        """List what cannot be computed, without looking at any file."""
        yield from _problems(self)


@dataclass(kw_only=True)
class BertScoreOptions:
    """Options of every command that scores summaries; see `BertScoreConfig`.

    Args:
        bertscore: an encoder, hub id or folder: scores by BERTScore as well.
        bertscore_layer: after which of its layers.
        bertscore_idf: weigh tokens by how few references have them.
        bertscore_long: `skip`, `cut` or `windows`: texts that are too long for the encoder.
        bertscore_precision: `32-true` or `bf16-mixed`.
        bertscore_baseline: file with LAYER,P,R,F to rescale by.
    """

    bertscore: str | None = None
    bertscore_layer: int | None = None
    bertscore_idf: bool = False
    bertscore_long: str = "skip"
    bertscore_precision: str = "32-true"
    bertscore_baseline: str | None = None

    def asked(self) -> BertScoreConfig | None:
        """Read the options; None where BERTScore is not asked for.

        Raises:
            ConfigError: an unknown value, or options that say how but not by which encoder.
        """
        config = BertScoreConfig(
            self.bertscore,
            self.bertscore_layer,
            self.bertscore_idf,
            self.bertscore_long,
            self.bertscore_precision,
            self.bertscore_baseline,
        )
        if problems := [
            *broken(config, "bertscore_"),
            *_problems(config, "bertscore=", "bertscore_"),
        ]:
            raise ConfigError("\n".join(problems))
        return config if config.model else None


def check_bertscore(config: BertScoreConfig) -> None:
    """Refuse what cannot be computed, without looking at any file.

    Raises:
        ConfigError: an encoder without a layer, or the reverse.
    """
    if problems := [*broken(config, "task.bertscore."), *_problems(config)]:
        raise ConfigError("\n".join(problems))


def _problems(
    config: BertScoreConfig, model: str = "task.bertscore.model=", key: str = "task.bertscore."
) -> Iterator[str]:
    """List what cannot be computed.

    Args:
        config: one without an encoder must leave everything else alone.
        model: how the encoder's key begins in messages.
        key: how the other keys begin.
    """
    if config.model is None:
        if config != BertScoreConfig(long=config.long, precision=config.precision):
            yield f"{key}* say how BERTScore reads; {model}NAME says by which encoder"
    elif config.layer is None:
        yield (
            f"{key}layer=: say after which layer {config.model} is read. Scores of two layers "
            "cannot be compared, and there is no common choice: bert-score's table has none for "
            "AlephBERT or Romanian BERT, and HeSum does not tell its own. It has 9 (of 12) for "
            f"multilingual BERT and XLM-R base, 17 (of 24) for XLM-R large: {key}layer=9 is a fair "
            "choice for an encoder of 12 layers"
        )
