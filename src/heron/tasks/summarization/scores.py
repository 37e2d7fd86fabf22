"""How `heron score` scores summaries; checks, signatures and options of BERTScore for all commands.

This module imports quickly; torch and transformers are loaded when scores are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.folders import default_cache_dir
from heron.base.run_files import Scores
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.base.terminal import print_lines
from heron.config.parsing import parse
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Rows
from heron.languages import get_language
from heron.languages.language import Language
from heron.languages.unicode import speller
from heron.metrics.config import BertScoreConfig
from heron.metrics.paired import Floats
from heron.tasks.config import Config
from heron.tasks.scoring import TextScores
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.reader import as_given, open_articles

if TYPE_CHECKING:
    from heron.metrics.bertscore import BertScores


def require_bertscore(config: BertScoreConfig | None) -> None:
    """Check that the encoder of BERTScore can be loaded, if `config` names one.

    Raises:
        ConfigError: no such encoder or layer, or an unusable baseline.
    """
    if config is not None and config.model is not None:
        from heron.metrics.bertscore import require

        require(config)


def bertscore_signature(config: BertScoreConfig | None, references: Sequence[str]) -> str | None:
    """Make the signature of BERTScore against some references; None where it is not computed."""
    if config is None or config.model is None or not references:
        return None
    from heron.metrics.bertscore import sign

    return sign(config, references)


def sign_metrics(config: Config, folder: RunFolder, scores: Scores) -> None:
    """See `TextScores.sign`.

    Args:
        config: of the run.
        folder: of the run.
        scores: by split.
    """
    bertscore = SummarizationConfig.of(config).bertscore
    if not bertscore.model or not ranks.is_first():
        return
    signatures = {}
    for split in scores:
        if not folder.predictions(split).is_file():
            continue
        golds = read_table(folder.predictions(split)).values("gold")
        known = [gold for gold in golds if gold is not None]
        signature = bertscore_signature(bertscore, known)
        if signature:
            signatures[split] = {"bertscore": signature}

    folder.update_status(signatures=signatures)


def compute_bertscore(
    predictions: Sequence[str],
    references: Sequence[str],
    config: BertScoreConfig,
    cache: Path | None = None,
) -> BertScores:
    """Compute BERTScore of N texts, with quiet libraries; results are stored in `cache`.

    Args:
        predictions: N texts.
        references: the gold text of each.
        config: of BERTScore.
        cache: folder for its results; None: the default one.
    """
    from heron.base.libraries import silence_libraries

    silence_libraries()
    from heron.metrics.bertscore import bertscore

    return bertscore(predictions, references, config, cache or default_cache_dir())


def write_scores(out: Path, name: str, scores: Mapping[str, float], signature: str | None) -> None:
    """Write `{"<name>": scores}`, and the signature of BERTScore in `<out>.signatures.json`.

    Without a signature, an old `<out>.signatures.json` is deleted.
    """
    path = out.with_name(f"{out.name.removesuffix('.json')}.signatures.json")
    path.unlink(missing_ok=True)
    write_json(out, {name: scores})
    if signature:
        write_json(path, {name: {"bertscore": signature}})


@dataclass(kw_only=True)
class BertScoreOptions:
    """Options of every command that scores summaries; see `BertScoreConfig`."""

    bertscore: str | None = None  # encoder, hub id or folder; none: no BERTScore
    bertscore_layer: int | None = None  # layer of the encoder, from 1
    bertscore_idf: bool = False  # weight tokens by inverse document frequency in the references
    # `skip` or `cut`: texts that are too long for the encoder
    bertscore_long: str = "skip"
    bertscore_precision: str = "32-true"  # `32-true` or `bf16-mixed`
    bertscore_baseline: str | None = None  # file with LAYER,P,R,F to rescale by

    def bertscore_config(self) -> BertScoreConfig | None:
        """Read the options; None where BERTScore is not asked for.

        Raises:
            ConfigError: an unknown value, or no layer for the encoder.
        """
        values, names = {"model": self.bertscore}, {"model": "bertscore"}
        for option, value in vars(self).items():
            if option.startswith("bertscore_"):
                name = option.removeprefix("bertscore_")
                values[name], names[name] = value, option
        config = parse(BertScoreConfig, values, names=names)
        return config if config.model else None


def _items(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    language: Language | None,
    no_answer: bool | None,
) -> dict[str, Floats]:
    if language is None:
        raise ConfigError(
            "task=summarization: words depend on the language, which no run gives; set "
            "language=CODE, such as language=he"
        )
    from heron.metrics.summary import item_rouge

    return item_rouge(predictions, golds, language)


def file_scores(
    articles: Sequence[str], texts: Sequence[str], golds: Sequence[str], config: DataConfig
) -> dict[str, float]:
    """Describe the summaries of a file, and score them against other articles' references.

    Descriptions are of texts normalised by `data.unicode`.
    """
    from heron.metrics.summary import describe_summaries, exchanged_scores

    spell = speller(config.language, config.unicode)
    spelt = ([spell(text) for text in column] for column in (articles, texts, golds))
    scores = describe_summaries(*spelt)
    return scores | exchanged_scores(texts, golds, get_language(config.language))


def _rest(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> Mapping[str, float]:
    """Compute the scores of a whole file, those of extractive baselines included.

    Args:
        examples: with articles and gold summaries.
        texts: the summary of each.
        config: the data set.
    """
    from heron.metrics.summary import extractive_scores

    pairs = [as_given(example) for example in examples]
    articles = [article for article, _ in pairs]
    golds = [str(gold) for _, gold in pairs]
    spell = speller(config.language, config.unicode)
    changed_articles, changed_texts, changed_golds = (
        sum(spell(text) != text.strip() for text in column) for column in (articles, texts, golds)
    )
    if changed_articles or changed_texts or changed_golds:
        print_lines(
            f"Unicode variants (data.unicode) in {changed_articles} articles, {changed_golds} gold "
            f"summaries, {changed_texts} summaries: rouge1, rouge2, rougeL and BERTScore compare "
            "them as given, rouge1_heron and so on as equal"
        )
    scores = file_scores(articles, texts, golds, config)
    return scores | extractive_scores(articles, golds, get_language(config.language))


def _read(path: Path, config: DataConfig) -> Rows:
    """See `TextScores.read`."""
    side = dict.fromkeys(config.columns.side, SIDE)
    return open_articles(config, {})(path, "required", "", side)


def text_scores() -> TextScores:
    """Describe how summaries are scored."""
    return TextScores(
        items=_items,
        metric="rouge1",
        predicts="summary",
        data="own_summaries",
        columns=("prediction", "summary", "text"),
        group="guid",
        read=_read,
        golds=lambda example: [str(as_given(example)[1])],
        rest=_rest,
        by_encoder=True,
        require=lambda config: require_bertscore(SummarizationConfig.of(config).bertscore),
        sign=sign_metrics,
        signature=lambda config, references: bertscore_signature(
            SummarizationConfig.of(config).bertscore, references
        ),
    )
