"""`heron predict`: label the rows of a file, or one text, with a trained run."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import MinLen

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.run_folder import open_run
from heron.base.tables import cell_text, received, table_format, table_stem, write_chunks
from heron.base.terminal import hold_results, print_lines, say
from heron.commands.run_settings import read_points, sort_words
from heron.config.parsing import parse_options
from heron.data.annotation_tools import REGIONS
from heron.data.readers import read_parts, read_rows
from heron.tasks.qa.answers import place_of
from heron.tasks.scoring import PREDICTION_COLUMNS

if TYPE_CHECKING:
    from heron.data.config import DataConfig
    from heron.data.rows import Rows
    from heron.training.inference import Trained


# Rows of a file that are in memory at once. Batches end with a chunk, so probabilities of longer
# files may differ in their last bits.
CHUNK = 10_000


@dataclass
class PredictOptions:
    """Options of `heron predict`; it also takes the keys of `heron.commands.run_settings`."""

    run: Annotated[
        list[Path], MinLen(1)
    ]  # a finished run folder, or several: the mean of their logits
    # CSV, JSONL or Parquet with the text columns of the run's data set; `-`: standard input
    input: Path | None = None
    text: str | None = None  # one text instead of a file; its label is printed
    text_pair: str | None = None  # its second text, for runs on pairs
    context: str | None = None  # another name of `text`, for runs that answer questions
    question: str | None = None  # another name of `text_pair`
    out: Path | None = None  # default `NAME.predictions.csv` beside `NAME.csv`
    cache: Path | None = None  # folder for tokenized features
    data: Path | None = None  # folder of the run's data sets; default: as in training


def run(arguments: Sequence[str]) -> int:
    """Predict; returns 0, or 1 when some rows could not be used (all others are written)."""
    words = sort_words(arguments)
    options = parse_options(PredictOptions, words.options)
    points = read_points(words.settings)
    if len(points) > 1:
        raise ConfigError(
            "several values are compared by heron evaluate; to predict, give one of them"
        )

    folders = [open_run(path) for path in options.run]
    if (options.input is None) == (options.text is None and options.context is None):
        raise ConfigError("name input=FILE, or one text: text=... (context=... and question=...)")

    paths = {}
    if options.cache:
        paths["cache"] = str(options.cache)
    if options.data:
        paths["data"] = str(options.data)

    from heron.training.inference import changed_data, open_trained

    trained = open_trained(folders, paths, points[0], words.run_code)
    data = changed_data(trained, words.data)
    if options.input is None:
        return _predict_text(trained, data, options)

    path = received(options.input)
    out = options.input.with_name(f"{table_stem(path)}.predictions.csv")
    return _predict_file(trained, data, path, options.out or out)


def _predict_file(trained: Trained, data: DataConfig, path: Path, out: Path) -> int:
    """Predict the rows of a file and write them, some thousands at a time."""
    problems: list[Problem] = []
    cleanups: list[Callable[[], None]] = []
    predicted = 0
    folders = trained.config.paths.folders
    as_texts = out.suffix == ".parquet" and table_format(path) != ".parquet"

    def predicted_rows() -> Iterator[Mapping[str, Sequence[Any]]]:
        nonlocal predicted
        for rows in read_parts(path, data, CHUNK, *folders):
            problems.extend(rows.problems)
            if not rows.examples:
                continue

            predictions, refused = trained.predict(rows.examples, cleanups)
            problems.extend(_by_line(refused, rows, path))
            predicted += len(predictions.guids)
            answers = predictions.answers(trained.config)
            yield answers | _kept_columns(rows, answers, data.columns.guid, as_texts)

    write_chunks(out, predicted_rows())
    for clean_up in cleanups:
        clean_up()

    problems.sort(key=lambda problem: problem.number)
    print_lines(f"{predicted} rows predicted: {out}", files=[out])
    if not problems:
        return 0

    error = DataError(problems, limit=50)
    print(f"{len(problems)} rows could not be used:\n{error}", file=sys.stderr)
    return 1


def _by_line(refused: Sequence[Problem], rows: Rows, path: Path) -> Iterator[Problem]:
    """Name the lines of rows that could not be used: users know lines, not guids."""
    lines = {example.guid: example.side["line"] for example in rows.examples}
    for problem in refused:
        place = place_of(path, lines[problem.where])
        yield Problem(place, problem.what, problem.fix)


def _kept_columns(
    rows: Rows, answers: Mapping[str, Sequence[Any]], guid: str, as_texts: bool
) -> dict[str, list[Any]]:
    """Lay out the file's own columns beside the answers; one of the same name is `input_<name>`.

    Args:
        rows: with their cells.
        answers: the columns of the predictions, among them `guid`.
        guid: the file's column of ids, which is left out.
        as_texts: whether numbers become texts, because a column may mix both.
    """
    cells_of = {row.guid: cells for row, cells in zip(rows.examples, rows.cells, strict=False)}
    columns = {}
    for name in rows.cells[0] if rows.cells else ():
        if name in (guid, REGIONS):
            continue
        is_taken = name in answers or name in PREDICTION_COLUMNS or name.startswith("p/")
        values = [_scalar(cells_of[key][name], as_texts) for key in answers["guid"]]
        columns[f"input_{name}" if is_taken else name] = values
    return columns


def _scalar(cell: Any, as_text: bool) -> Any:
    """Write a cell for any table: lists and mappings as JSON."""
    if isinstance(cell, list | dict):
        return json.dumps(cell, ensure_ascii=False, default=str)
    if cell is None or isinstance(cell, str):
        return cell
    return cell_text(cell) if as_text or not isinstance(cell, int | float) else cell


def _predict_text(trained: Trained, data: DataConfig, options: PredictOptions) -> int:
    """Read one text as a file with one row is read (markers, Unicode options); predict it."""
    columns = data.columns
    text = options.context if options.text is None else options.text
    text_pair = options.question if options.text_pair is None else options.text_pair
    if columns.text_pair is not None and text_pair is None:
        raise ConfigError("missing option text_pair=... (or question=...): the run reads pairs")
    if columns.text_pair is None and text_pair is not None:
        say("text_pair: no effect, the run reads one text at a time")

    row = {columns.text: text}
    if columns.text_pair:
        row[columns.text_pair] = text_pair

    folders = trained.config.paths.folders
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.jsonl"
        path.write_text(json.dumps(row), encoding="utf-8")
        try:
            rows = read_rows(path, data, "ignored", "report", *folders)
        except DataError as error:
            raise DataError(_of_text(error.problems)) from error

    predictions, refused = trained.predict(rows.examples[:1])
    raise_all(_of_text(refused))

    answers = predictions.answers(trained.config)
    cells = [values[0] for values in answers.values()]
    table = Table("prediction", list(answers), [cells])

    if not hold_results(tables=[table]):
        print_lines(*predictions.lines(trained.config))
    return 0


def _of_text(problems: Sequence[Problem]) -> list[Problem]:
    """Name the place of problems `text`: the user knows no file and no guid."""
    return [Problem("text", problem.what, problem.fix) for problem in problems]
