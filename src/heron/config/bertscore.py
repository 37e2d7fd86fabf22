"""Options for BERTScore of the commands that score summaries."""

from dataclasses import dataclass

from heron.base.errors import ConfigError
from heron.config.constraints import check
from heron.config.schema import BertScoreConfig

_KEY = "task.bertscore."


@dataclass(kw_only=True)
class BertScoreOptions:
    """Options of every command that scores summaries; see `BertScoreConfig`."""

    bertscore: str | None = None  # encoder, hub id or folder; none: no BERTScore
    bertscore_layer: int | None = None  # layer of the encoder, from 1
    bertscore_idf: bool = False  # weight tokens by inverse document frequency in the references
    # `skip`, `cut` or `windows`: texts that are too long for the encoder
    bertscore_long: str = "skip"
    bertscore_precision: str = "32-true"  # `32-true` or `bf16-mixed`
    bertscore_baseline: str | None = None  # file with LAYER,P,R,F to rescale by

    def bertscore_config(self) -> BertScoreConfig | None:
        """Read the options; None where BERTScore is not asked for.

        Raises:
            ConfigError: an unknown value, or further options without an encoder.
        """
        config = BertScoreConfig(
            self.bertscore,
            self.bertscore_layer,
            self.bertscore_idf,
            self.bertscore_long,
            self.bertscore_precision,
            self.bertscore_baseline,
        )
        try:
            check(config, _KEY)
        except ConfigError as error:
            text = str(error).replace(f"{_KEY}model", "bertscore").replace(_KEY, "bertscore_")
            raise ConfigError(text) from error
        return config if config.model else None
