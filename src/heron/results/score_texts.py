"""`heron score` for texts: any system's predictions against gold texts, from two files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import SUFFIXES, read_table, table_format
from heron.base.terminal import print_lines
from heron.data.config import Columns, DataConfig
from heron.data.examples import Example
from heron.data.rows import Rows
from heron.languages import get_language
from heron.metrics.intervals import score_intervals
from heron.metrics.names import further_scores
from heron.metrics.span import mean_scores
from heron.results.score_rows import (
    GUIDS,
    ScoreOptions,
    match_rows,
    read_data_set,
    read_predicted,
    refuse_itself,
    typed_columns,
)
from heron.tasks.qa.squad import is_squad
from heron.tasks.summarization.bertscore import BertScoreOptions, compute_asked, require_asked
from heron.tasks.task import TextScores, text_scores
from heron.training.overrides import TAKES, advising, override

_TAKES = TAKES["score"]


@dataclass
class TextOptions(ScoreOptions, BertScoreOptions):
    """Options of `heron score` for texts; it also takes keys: `heron.training.overrides`.

    The column of predictions is `prediction`, `prediction_text`, `answer`, `summary` or `text`. An
    empty answer is "no answer". All texts are scored as they stand; `*_heron` and the scores of a
    language unify Unicode variants, and descriptions of summaries count texts spelt as
    `data.unicode` reads them. Intervals draw whole articles. The default of `data` is `own_qa` or
    `own_summaries`. Of summaries also `bertscore=` and its options: `heron.metrics.config`.
    """

    language: str | None = None  # default the data set's


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of one file of texts, with the bounds of their intervals.

    `signature` names the settings of BERTScore, where it was computed.
    """

    title: str
    scores: Mapping[str, float]
    signature: str | None


def score_texts(options: TextOptions, words: Sequence[str]) -> Scored:
    """Read both files and score every text; `words` (`data.<key>=value`) change the data set.

    Raises:
        ConfigError: unknown data set, or options that the task does not have.
        DataError: unreadable rows; gold rows without a prediction, predictions without a gold row.
    """
    kind = text_scores(options.task)
    assert kind is not None
    options.check_resamples()
    if (by_encoder := options.bertscore_config()) and not kind.by_encoder:
        raise ConfigError(f"bertscore= scores summaries, not task={options.task}")
    require_asked(by_encoder)
    config = override(_data_set(options, kind, words), words)
    with advising(_TAKES):
        examples, texts = _read(options, config, kind)
    golds = [kind.golds(example) for example in examples]
    items = kind.items(texts, golds, get_language(config.language), None)
    rest = kind.rest(examples, texts, config)
    scores, signature = mean_scores(items), None
    if by_encoder:
        found = compute_asked(texts, [gold for (gold,) in golds], by_encoder)
        items, scores = items | found.known(), scores | found.means()
        signature = found.signature
    scores |= rest
    columns = {
        "guid": [example.guid for example in examples],
        "gold": [gold[0] if gold else "" for gold in golds],
        "prediction": texts,
        "golds": [json.dumps(gold, ensure_ascii=False) for gold in golds],
    }
    scores |= further_scores(options.metrics, columns, options.task)
    if options.resamples:
        groups = [e.group or getattr(e, kind.group) or e.guid for e in examples]
        scores |= score_intervals(items, groups, resamples=options.resamples, seed=options.seed)
    return Scored(f"{options.task}, {len(examples)} {kind.predicted_for}s", scores, signature)


def _read(
    options: TextOptions, config: DataConfig, kind: TextScores
) -> tuple[list[Example], list[str]]:
    """Read the gold rows that count and the text for each; prints notes."""
    rows = kind.read(options.gold, config)
    if rows.problems:
        raise DataError(rows.problems)
    if left_out := len(rows.guids) - len(rows.examples):
        print_lines(f"{options.gold}: rows left out: {left_out}")
    if not rows.examples:
        raise DataError(Problem(str(options.gold), "no row can be scored: all are left out"))
    print_lines(*(f"{options.gold}: {note}" for note in kind.notes(rows.examples)))
    return rows.examples, _read_texts(options, config, kind, rows)


def _read_texts(
    options: TextOptions, config: DataConfig, kind: TextScores, rows: Rows
) -> list[str]:
    """Read the text for each gold row that counts; see `heron.results.score_rows.match_rows`."""
    path = options.predictions
    table = read_predicted(path)
    column = table.find(kind.columns)
    if column is None:
        raise DataError(Problem(str(path), f"no column {' or '.join(kind.columns)}"))
    own = [config.columns.answer, config.columns.target, "answers"]
    refuse_itself(table, column, options.gold, own)
    guid = table.find((config.columns.guid, *GUIDS))
    names = kind.predicts, kind.predicted_for
    order, how = match_rows(table, guid, rows, options.gold, options.join, names)
    what = f"its {kind.predicts} is no text; an empty one means none"
    wrong = [row for row in order if not isinstance(table.rows[row][column], str)]
    if wrong:
        cells = [table.rows[row].get(guid or "", table.lines[row]) for row in wrong]
        raise DataError([Problem(f"{path}: {cell}", what) for cell in cells])
    print_lines(f"{path} ({column}): rows joined {how}")
    return [table.rows[row][column].strip() for row in order]


def _data_set(options: TextOptions, kind: TextScores, words: Sequence[str]) -> DataConfig:
    config = read_data_set(options.data or kind.data)
    if config.task != options.task:
        raise ConfigError(f"data={options.data} is for task={config.task}, not {options.task}")
    config.language = options.language or config.language
    if table_format(options.gold) in SUFFIXES and not is_squad(options.gold):
        config.columns = _columns(options.gold, config.columns, words)
    return config


def _columns(gold: Path, usual: Columns, words: Sequence[str]) -> Columns:
    """Find the ids of a table, and the texts of a run's own `predictions/<split>.parquet`."""
    table = read_table(gold, bad_rows="report")
    table.require(*typed_columns(words))
    usual = replace(usual, guid=table.find((usual.guid, *GUIDS)) or usual.guid)
    if usual.text in table.columns or not {"text", "gold", "prediction"} <= {*table.columns}:
        return usual
    return replace(usual, text="text", target="gold", group=table.find(("group",)))
