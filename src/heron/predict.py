"""`heron predict`: label the rows of a file, or one text given in words, with a trained run."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heron.errors import ConfigError, DataError, Problem
from heron.options import parse_options
from heron.runtime.run_folder import open_run

if TYPE_CHECKING:
    from heron.data.examples import Example
    from heron.data.readers import Rows
    from heron.inference import Trained


@dataclass
class PredictOptions:
    """Options of `heron predict`.

    Args:
        run: a finished run folder, or several with commas between: the mean of their logits.
        input: CSV, JSONL or Parquet with the text columns of the run's data set (`text` in its
            marked form, or premise and hypothesis).
        text: one text instead of a file; its label is printed.
        text_pair: the second text that goes with it, for runs on pairs.
        context: another name of `text`, for runs that answer questions.
        question: another name of `text_pair`.
        out: where predictions go; default `<input>.predictions.csv` beside the input.
        cache: folder for tokenized features.
    """

    run: list[Path]
    input: Path | None = None
    text: str | None = None
    text_pair: str | None = None
    context: str | None = None
    question: str | None = None
    out: Path | None = None
    cache: Path | None = None


def run(arguments: Sequence[str]) -> int:
    """Predict; returns 0, or 1 when some rows could not be used (all others are written)."""
    options = parse_options(PredictOptions, arguments)
    for word in arguments:
        if word in ("text=", "text_pair=", "context=", "question="):
            raise ConfigError(f"{word} is empty: name a text with a word in it")
    folders = [open_run(path) for path in options.run]
    _check(options)
    from heron.inference import open_trained

    trained = open_trained(folders, {"cache": str(options.cache)} if options.cache else None)
    if options.input is not None:
        return _predict_file(trained, options.input, options.out)
    return _predict_text(trained, options)


def _check(options: PredictOptions) -> None:
    """Refuse options that contradict each other; one name for each text is enough after that."""
    for name, other in (("text", "context"), ("text_pair", "question")):
        if getattr(options, other) is None:
            continue
        if getattr(options, name) is not None:
            raise ConfigError(f"{name}= and {other}= are given: they name the same text")
        setattr(options, name, getattr(options, other))
    if options.input is None and options.text is None:
        raise ConfigError("missing option input=... (a file) or text=...")
    if options.input is not None:
        given = [name for name in ("text", "text_pair") if getattr(options, name) is not None]
        if given:
            raise ConfigError(f"input= and {given[0]}= are given: a file, or one text, not both")
    elif options.out is not None:
        raise ConfigError("out= needs input=: the label of one text is printed")


def _predict_file(trained: Trained, path: Path, out: Path | None) -> int:
    from heron.data.squad import place_of
    from heron.data.tables import write_table

    rows = _read(trained, path)
    predictions, refused = trained.predict(rows.examples)
    out = out or path.with_suffix(".predictions.csv")
    write_table(out, predictions.answers(trained.config))
    lines = {e.guid: e.side["line"] for e in rows.examples}
    cut = [Problem(place_of(path, lines[p.where]), p.what, p.fix) for p in refused]
    problems = sorted([*rows.problems, *cut], key=lambda each: each.number)
    print(f"{len(predictions.guids)} rows predicted: {out}")
    if problems:
        print(f"{len(problems)} rows could not be used:", file=sys.stderr)
        print(DataError(problems, limit=50), file=sys.stderr)
    return 1 if problems else 0


def _predict_text(trained: Trained, options: PredictOptions) -> int:
    example = _read_text(trained, str(options.text), options.text_pair)
    predictions, refused = trained.predict([example])
    if refused:
        raise DataError([Problem("text", p.what, p.fix) for p in refused])
    for line in predictions.lines(trained.config):
        print(line)
    return 0


def _read(trained: Trained, path: Path) -> Rows:
    from heron.data.readers import read_rows

    data, paths = trained.config.data, trained.config.paths
    places = Path(paths.data), Path(paths.cache)
    return read_rows(path, data, "ignored", "report", *places)


def _read_text(trained: Trained, text: str, text_pair: str | None) -> Example:
    """Read one text the way a file with one row is read: markers, Unicode options and all.

    Raises:
        ConfigError: the run reads pairs and there is no second text, or the other way round.
        DataError: the text cannot be used.
    """
    columns = trained.config.data.columns
    if columns.text_pair is None and text_pair is not None:
        raise ConfigError("text_pair= is given, but the run reads one text at a time")
    if columns.text_pair is not None and text_pair is None:
        name = "question" if trained.config.task.name == "qa" else "text_pair"
        raise ConfigError(f"missing option {name}=...: the run reads pairs of texts")
    row = {columns.text: text, **({columns.text_pair: text_pair} if columns.text_pair else {})}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.jsonl"
        path.write_text(json.dumps(row), encoding="utf-8")
        try:
            rows = _read(trained, path)
        except DataError as error:
            raise DataError([Problem("text", p.what, p.fix) for p in error.problems]) from error
    return rows.examples[0]
