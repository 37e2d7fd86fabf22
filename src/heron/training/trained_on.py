"""The rows that a finished run was trained and scored on, read again from its data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import sha256_file
from heron.config.data import TRAIN
from heron.config.overrides import override
from heron.data.examples import Example
from heron.data.readers import load
from heron.data.sources import locate
from heron.training.inference import Ensemble, Trained


def read_splits(trained: Trained, words: Sequence[str] = ()) -> dict[str, list[Example]]:
    """Read the splits that a run was trained and scored on, from where its data lies now.

    Args:
        trained: the run.
        words: `data.key=value`, see `heron.config.overrides.override`.

    Raises:
        DataError: files are missing or others, or hold rows that they cannot have held in training.
    """
    config = trained.config
    data, places = override(config.data, words), (Path(config.paths.data), Path(config.paths.cache))
    try:
        return load(data, *places)
    except DataError as error:
        paths = locate(data, *places)  # raises again where it is the files, not what is in them
        others = [
            str(path)
            for name, path in paths.items()
            if trained.sources.get(name) not in (None, sha256_file(path))
        ]
        if not others:
            raise
        what = f"its files were read in training, and are others now: {', '.join(others)}"
        problem = Problem(f"data set {data.name}", what, "another file is scored by input=FILE")
        raise DataError([problem, *error.problems]) from error


def require_unseen(
    trained: Trained, split: str, examples: Sequence[Example], words: Sequence[str] = ()
) -> None:
    """Make sure that no member of an ensemble was trained on what the first calls `split`.

    Members may have been trained on other data, or on another part of the same files.

    Args:
        trained: one run or several.
        split: what `examples` are called.
        examples: to be scored.
        words: as for `read_splits`.

    Raises:
        ConfigError: a member was; names it and how many rows.
    """
    if not isinstance(trained, Ensemble) or split == TRAIN:
        return
    asked = {(each.guid, each.text, each.text_pair) for each in examples}
    for name, run in zip(trained.names, trained.runs, strict=True):
        if run.config.data == trained.config.data:
            continue
        trained_on = read_splits(run, words).get(TRAIN, ())
        seen = {(each.guid, each.text, each.text_pair) for each in trained_on}
        if common := len(asked & seen):
            raise ConfigError(
                f"{name} was trained on {common} of the {len(asked)} rows that are {split} of "
                f"{trained.names[0]}: its data.validation, data.holdout or data.files "
                "part them otherwise; average runs that held out the same rows"
            )
