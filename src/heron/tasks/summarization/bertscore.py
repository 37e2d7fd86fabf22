"""BERTScore where a command or a run asks for it: missed early, computed once, signed.

Light to import: torch and transformers are loaded where scores are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.files import write_json
from heron.config.schema import BertScoreConfig, Config

if TYPE_CHECKING:
    from heron.metrics.bertscore import BertScores


def require_asked(config: BertScoreConfig | None) -> None:
    """Miss an encoder that is missing before anything is read.

    Args:
        config: what was asked for; None, or one without an encoder, where nothing was.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    if config is not None and config.model is not None:
        from heron.metrics.bertscore import require

        require(config)


def sign_asked(config: BertScoreConfig | None, references: Sequence[str]) -> str | None:
    """Name what decides BERTScore of texts with these references.

    Args:
        config: as for `require_asked`.
        references: of all texts that were scored together; without any there is no score.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    if config is None or config.model is None or not references:
        return None
    from heron.metrics.bertscore import sign

    return sign(config, references)


def require_metrics(config: Config) -> None:
    """Make sure that a run's encoder for BERTScore is there; see `require_asked`."""
    require_asked(config.task.bertscore)


def sign_metrics(config: Config, golds: Sequence[str]) -> dict[str, str]:
    """Name what decides a run's BERTScore; see `sign_asked`."""
    signature = sign_asked(config.task.bertscore, golds)
    return {"bertscore": signature} if signature else {}


def compute_asked(
    predictions: Sequence[str],
    references: Sequence[str],
    config: BertScoreConfig,
    cache: Path | None = None,
) -> BertScores:
    """Compute BERTScore for a command: libraries say nothing, results are kept.

    Args:
        predictions: N texts.
        references: N texts.
        config: what was asked for.
        cache: where results go; None is the usual folder.
    """
    from heron.base.folders import default_cache_dir
    from heron.base.libraries import silence_libraries
    from heron.metrics.bertscore import bertscore

    silence_libraries()
    return bertscore(predictions, references, config, cache or default_cache_dir())


def write_scores(out: Path, name: str, scores: Mapping[str, float], signature: str | None) -> None:
    """Write scores, and the signature in a file beside it: `scores.json` holds numbers only.

    Args:
        out: `{"<name>": scores}`.
        name: of the system or split.
        scores: numbers by name.
        signature: of BERTScore (`heron.metrics.bertscore`), for `<out>.signatures.json`; None
            removes that of other scores that stood in `out`.
    """
    path = out.with_name(f"{out.name.removesuffix('.json')}.signatures.json")
    path.unlink(missing_ok=True)
    write_json(out, {name: scores})
    if signature:
        write_json(path, {name: {"bertscore": signature}})
