"""How summaries are scored.

This module imports quickly: libraries of scores are loaded when scores are computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.run_files import Scores
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.base.terminal import print_lines
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Rows
from heron.languages import get_language
from heron.languages.language import Language
from heron.languages.unicode import speller
from heron.metrics.paired import Floats
from heron.tasks.config import Config
from heron.tasks.scoring import TextScores, bertscore_signature, require_bertscore
from heron.tasks.summarization.config import SummarizationConfig
from heron.tasks.summarization.reader import as_given, open_articles


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
        bertscore_key="task.bertscore",
        require=lambda config: require_bertscore(SummarizationConfig.of(config).bertscore),
        sign=sign_metrics,
        signature=lambda config, references: bertscore_signature(
            SummarizationConfig.of(config).bertscore, references
        ),
    )
