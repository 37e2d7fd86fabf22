"""How summaries are scored outside a run: one by one, by ROUGE."""

from collections.abc import Mapping, Sequence

from heron.base.errors import ConfigError
from heron.base.terminal import print_lines
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE
from heron.languages import get_language
from heron.languages.language import Language
from heron.languages.spelling import speller
from heron.metrics.paired import Floats
from heron.metrics.summary import (
    describe_summaries,
    exchanged_scores,
    extractive_scores,
    item_rouge,
)
from heron.tasks.summarization.bertscore import require_asked, sign_metrics
from heron.tasks.summarization.reader import as_given, open_articles
from heron.tasks.task import TextScores


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
    return item_rouge(predictions, golds, language)


def _rest(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> Mapping[str, float]:
    """Describe the summaries, normalised by `data.unicode`, and score copied sentences."""
    language, spell = get_language(config.language), speller(config.language, config.unicode)
    articles, golds = [as_given(e)[0] for e in examples], [str(as_given(e)[1]) for e in examples]
    given = (articles, texts, golds)
    spelt = [[spell(text) for text in each] for each in given]
    changed = [
        sum(one != other.strip() for one, other in zip(*pair, strict=True))
        for pair in zip(spelt, given, strict=True)
    ]
    rest = describe_summaries(*spelt) | exchanged_scores(texts, golds, language)
    if any(changed):
        print_lines(
            f"Unicode variants (data.unicode) in {changed[0]} articles, {changed[2]} gold "
            f"summaries, {changed[1]} summaries: rouge1, rouge2, rougeL and BERTScore compare them "
            "as given, rouge1_heron and so on as one"
        )
    return rest | extractive_scores(articles, golds, language)


def text_scores() -> TextScores:
    """Describe how summaries are scored."""
    return TextScores(
        items=_items,
        metric="rouge1",
        predicts="summary",
        data="own_summaries",
        columns=("prediction", "summary", "text"),
        group="guid",
        read=lambda path, config: open_articles(config, {})(
            path, "required", "", dict.fromkeys(config.columns.side, SIDE)
        ),
        golds=lambda example: [str(as_given(example)[1])],
        rest=_rest,
        by_encoder=True,
        require=lambda config: require_asked(config.task.bertscore),
        sign=sign_metrics,
    )
