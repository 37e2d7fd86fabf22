"""What commands are told about BERTScore: options and their checks; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from heron.base.errors import ConfigError, nearest
from heron.config.schema import BertScoreConfig

LONG = ("skip", "cut", "windows")
PRECISIONS = ("32-true", "bf16-mixed")


@dataclass(kw_only=True)
class BertScoreOptions:
    """Options of every command that scores summaries; see `heron.config.schema.BertScoreConfig`.

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
        for name, allowed in (("long", LONG), ("precision", PRECISIONS)):
            if (value := getattr(config, name)) not in allowed:
                raise ConfigError(f"bertscore_{name}={value}.{nearest(value, allowed)}")
        check_bertscore(config, "bertscore=", "bertscore_")
        return config if config.model else None


def check_bertscore(
    config: BertScoreConfig, model: str = "task.bertscore.model=", key: str = "task.bertscore."
) -> None:
    """Refuse what cannot be computed, without looking at any file.

    Args:
        config: see `BertScoreConfig`; one without an encoder must leave everything else alone.
        model: how the encoder's key begins in messages.
        key: how the other keys begin.

    Raises:
        ConfigError: an encoder without a layer, or the reverse.
    """
    if config.model is None:
        if config != BertScoreConfig(long=config.long, precision=config.precision):
            raise ConfigError(f"{key}* say how BERTScore reads; {model}NAME says by which encoder")
        return
    if config.layer is None:
        raise ConfigError(
            f"{key}layer=: say after which layer {config.model} is read. Scores of two layers "
            "cannot be compared, and there is no common choice: bert-score's table has none for "
            "AlephBERT or Romanian BERT, and HeSum does not tell its own. It has 9 (of 12) for "
            f"multilingual BERT and XLM-R base, 17 (of 24) for XLM-R large: {key}layer=9 is a fair "
            "choice for an encoder of 12 layers"
        )
    if config.layer < 1:
        raise ConfigError(f"{key}layer={config.layer}: layers are counted from 1")
