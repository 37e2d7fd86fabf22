"""Options for BERTScore of the commands that score summaries."""

from dataclasses import dataclass

from heron.config.parsing import parse
from heron.config.schema import BertScoreConfig


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
            ConfigError: an unknown value, or no layer for the encoder.
        """
        values = {
            name.removeprefix("bertscore_"): value
            for name, value in vars(self).items()
            if name.startswith("bertscore_")
        }
        names = {name: f"bertscore_{name}" for name in values} | {"model": "bertscore"}
        config = parse(BertScoreConfig, {"model": self.bertscore, **values}, names=names)
        return config if config.model else None
