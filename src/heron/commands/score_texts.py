"""`heron score task=qa|summarization`: any system's texts against gold ones, from two files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import read_table, table_stem
from heron.commands.score_rows import (
    GUIDS,
    match_rows,
    read_data_set,
    read_predictions,
    refuse_itself,
    typed_columns,
)
from heron.config.bertscore import BertScoreOptions
from heron.config.data import Columns, DataConfig
from heron.config.options import parse_options
from heron.config.schema import BertScoreConfig
from heron.config.settings import TAKES, advising, override, sort_words
from heron.data.examples import Example
from heron.data.formats import Rows
from heron.tasks.qa.options import ANSWER, NO_ANSWER
from heron.tasks.qa.reader import REPAIRED, count_mended, read_questions
from heron.tasks.qa.squad import is_squad
from heron.tasks.summarization.bertscore import compute_asked, require_asked, write_scores
from heron.tasks.summarization.reader import as_given, read_articles

if TYPE_CHECKING:
    from heron.metrics.bertscore import BertScores

_TAKES = TAKES["score"]
_Items = dict[str, np.ndarray]


@dataclass
class TextOptions(BertScoreOptions):
    """Options of `heron score task=qa|summarization`; it also takes keys: `heron.config.settings`.

    Args:
        task: `qa` or `summarization`.
        gold: SQuAD's JSON, or a table with context, question and answer; a table with article and
            summary, or a run's `predictions/<split>.parquet`, which has both beside its own texts.
        predictions: `{id: text}` as SQuAD's evaluation takes it, or a table with `prediction` (or
            `prediction_text`, `answer`, `summary`, `text`) and `guid` or `id`. An empty answer is
            "no answer". All texts are scored as they stand; `*_heron` and the scores of a language
            read Unicode variants as one, and what summaries are like is counted in texts spelt as
            `data.unicode` reads them.
        data: the data set whose column names and Unicode options `gold` has; default `own_qa` or
            `own_summaries`.
        language: default the data set's.
        join: `position` joins rows by their order; default: on the guid, by order where neither
            file has one.
        out: JSON file for the scores, `{"<name>": {"<score>": number}}`.
        name: the name in that file; default: the predictions file's, without its suffix.
        resamples: bootstrap resamples of whole articles; 0 computes no intervals.
        seed: of the resamples.

    Of summaries also `bertscore=` and what belongs to it: `heron.config.bertscore`.
    """

    task: str
    gold: Path
    predictions: Path
    data: str | None = None
    language: str | None = None
    join: str | None = None
    out: Path | None = None
    name: str | None = None
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """What a task's texts are called and how they are scored.

    Args:
        data: the data set whose form files have by default.
        gives: what a system gives, `answer`.
        to: what it is given to, `question`.
        columns: names of the predictions' column.
        group: what stays whole in a draw where a row names no group: its `text`, or its `guid`.
        score: makes of examples, texts and data set the values of each item, and what else is
            scored of the whole.
    """

    data: str
    gives: str
    to: str
    columns: tuple[str, ...]
    group: str
    score: Callable[
        [Sequence[Example], Sequence[str], DataConfig], tuple[_Items, Mapping[str, float]]
    ]


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options or data set.
        DataError: unreadable rows; gold rows without a prediction, predictions without a gold row.
    """
    words = sort_words(arguments, _TAKES)
    options = parse_options(TextOptions, words.options)
    if options.resamples < 0:
        raise ConfigError(f"resamples={options.resamples}: expected 0 or more")
    if (by_encoder := options.asked()) and options.task != "summarization":
        raise ConfigError(f"bertscore= scores summaries, not task={options.task}")
    require_asked(by_encoder)
    kind = KINDS[options.task]
    config = override(_data_set(options, kind, words.data), words.data)
    if options.task == "qa":  # any file may have questions without an answer
        config.label_order = [ANSWER, *([] if config.qa.no_answer == "drop" else [NO_ANSWER])]
    from heron.metrics.span import mean_scores, score_intervals

    with advising(_TAKES):
        examples, texts = _read(options, config, kind)
    items, rest = kind.score(examples, texts, config)
    scores, signature = mean_scores(items), None
    if by_encoder:
        found = _by_encoder(examples, texts, by_encoder)
        items, scores = items | found.known(), scores | found.means()
        signature = found.signature
    scores |= rest
    if options.resamples:
        groups = [e.group or getattr(e, kind.group) or e.guid for e in examples]
        scores |= score_intervals(items, groups, resamples=options.resamples, seed=options.seed)
    _show(f"{options.task}, {len(examples)} {kind.to}s", scores, options.resamples)
    if signature:
        print(f"BERTScore: {signature}")
    if options.out:
        write_scores(
            options.out, options.name or table_stem(options.predictions), scores, signature
        )
        print(f"scores written to {options.out}")
    return 0


def _read(options: TextOptions, config: DataConfig, kind: Kind) -> tuple[list[Example], list[str]]:
    """Read the gold rows that count and the text for each; says how many are left out."""
    rows = _read_gold(options.gold, config)
    if rows.problems:
        raise DataError(rows.problems)
    if left_out := len(rows.guids) - len(rows.examples):
        print(f"{options.gold}: rows left out: {left_out}")
    if not rows.examples:
        raise DataError(Problem(str(options.gold), "no row can be scored: all are left out"))
    if away := count_mended(rows.examples).get(REPAIRED):
        print(
            f"{options.gold}: {away} questions have a gold answer that is not at its answer_start; "
            "answers are scored as texts"
        )
    return rows.examples, _read_texts(options, config, kind, rows)


def _read_gold(path: Path, config: DataConfig) -> Rows:
    """Read gold texts; answers are texts, as in SQuAD's evaluation, wherever they stand."""
    if config.task == "qa":
        placed = config.qa.misaligned == "drop"  # leaves out those that are not in their place
        return read_questions(path, config, "required", config.columns.side, placed)
    return read_articles(path, config, "required", config.columns.side)


def _read_texts(options: TextOptions, config: DataConfig, kind: Kind, rows: Rows) -> list[str]:
    """Read the text for each gold row that counts; see `heron.commands.score_rows.match_rows`.

    Raises:
        ConfigError: ids in the gold file alone.
        DataError: no column of texts; cells that hold none; rows that do not fit the gold ones.
    """
    path = options.predictions
    table = read_predictions(path)
    column = table.find(kind.columns)
    if column is None:
        raise DataError(Problem(str(path), f"no column {' or '.join(kind.columns)}"))
    own = [config.columns.answer, config.columns.target, "answers"]
    refuse_itself(table, column, options.gold, own)
    guid = table.find((config.columns.guid, *GUIDS))
    names = kind.gives, kind.to
    order, how = match_rows(table, guid, rows, options.gold, options.join, names)
    what = f"its {kind.gives} is no text; an empty one means none"
    wrong = [row for row in order if not isinstance(table.rows[row][column], str)]
    if wrong:
        cells = [table.rows[row].get(guid or "", table.lines[row]) for row in wrong]
        raise DataError([Problem(f"{path}: {cell}", what) for cell in cells])
    print(f"{path} ({column}): rows joined {how}")
    return [table.rows[row][column].strip() for row in order]


def _data_set(options: TextOptions, kind: Kind, words: Sequence[str]) -> DataConfig:
    config = read_data_set(options.data or kind.data)
    if config.task != options.task:
        raise ConfigError(f"data={options.data} is for task={config.task}, not {options.task}")
    config.language = options.language or config.language
    if not is_squad(options.gold):
        config.columns = _columns(options.gold, config.columns, words)
    return config


def _columns(gold: Path, usual: Columns, words: Sequence[str]) -> Columns:
    """Find the ids of a table; of a run's own `predictions/<split>.parquet` the texts as well."""
    table = read_table(gold, bad_rows="report")
    table.require(*typed_columns(words))
    usual = replace(usual, guid=table.find((usual.guid, *GUIDS)) or usual.guid)
    if usual.text in table.columns or not {"text", "gold", "prediction"} <= {*table.columns}:
        return usual
    return replace(usual, text="text", target="gold", group=table.find(("group",)))


def _show(title: str, scores: Mapping[str, float], resamples: int) -> None:
    print(title + (f" ({resamples} bootstrap resamples of articles)" if resamples else ""))
    for name, value in scores.items():
        if not name.endswith(("_low", "_high")):
            low, high = scores.get(f"{name}_low"), scores.get(f"{name}_high")
            interval = "" if low is None else f"   {low:.3f} to {high:.3f}"
            shown = value if isinstance(value, int) else f"{value:.3f}"
            print(f"  {name:<28} {shown}{interval}")


def _answers(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> tuple[_Items, Mapping[str, float]]:
    from heron.languages import get_language
    from heron.metrics.span import item_scores
    from heron.metrics.span_profiles import language_profile

    golds = [list(example.side["answers"]) for example in examples]
    return item_scores(texts, golds, [language_profile(get_language(config.language))]), {}


def _summaries(
    examples: Sequence[Example], texts: Sequence[str], config: DataConfig
) -> tuple[_Items, Mapping[str, float]]:
    from heron.languages import get_language
    from heron.languages.spelling import speller
    from heron.metrics.summary import (
        describe_summaries,
        exchanged_scores,
        extractive_scores,
        item_rouge,
    )

    language, spell = get_language(config.language), speller(config.language, config.unicode)
    articles, golds = [as_given(e)[0] for e in examples], [str(as_given(e)[1]) for e in examples]
    spelt = [[spell(text) for text in each] for each in (articles, texts, golds)]
    rest = describe_summaries(*spelt) | exchanged_scores(texts, golds, language)
    _say_respelt(spelt, (articles, texts, golds))
    return item_rouge(texts, golds, language), rest | extractive_scores(articles, golds, language)


def _say_respelt(spelt: Sequence[Sequence[str]], given: Sequence[Sequence[str]]) -> None:
    """Count the texts in which `data.unicode` unifies anything."""
    articles, texts, golds = (
        sum(one != other.strip() for one, other in zip(*pair, strict=True))
        for pair in zip(spelt, given, strict=True)
    )
    if articles or texts or golds:
        print(
            f"Unicode variants (data.unicode) in {articles} articles, {golds} gold summaries, "
            f"{texts} summaries: rouge1, rouge2, rougeL and BERTScore compare them as given, "
            "rouge1_heron and so on as one"
        )


def _by_encoder(
    examples: Sequence[Example], texts: Sequence[str], config: BertScoreConfig
) -> BertScores:
    return compute_asked(texts, [str(as_given(e)[1]) for e in examples], config)


KINDS = {
    "qa": Kind(
        "own_qa",
        "answer",
        "question",
        ("prediction", "prediction_text", "answer", "text"),
        "text",
        _answers,
    ),
    "summarization": Kind(
        "own_summaries",
        "summary",
        "article",
        ("prediction", "summary", "text"),
        "guid",
        _summaries,
    ),
}
