"""Summaries of several systems, from run folders and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heron.base.errors import ConfigError, DataError
from heron.base.run_folder import open_run
from heron.base.tables import table_stem
from heron.languages.unicode import UnicodeOptions
from heron.results.frame import Frame, predictions_file, read_frame
from heron.results.shipped import data_of
from heron.training.stored import read_stored


@dataclass(frozen=True)
class SummarySystem:
    """The summaries of one system."""

    name: str  # in tables
    predictions: Frame  # the file's rows, empty summaries included
    language: str | None = None  # ISO 639 code; None for a table
    synthetic: bool = False  # whether the run's texts are generated
    unicode: UnicodeOptions | None = None  # the run's normalisation of articles and references

    @property
    def path(self) -> Path:
        """The file of the predictions."""
        return self.predictions.path

    @property
    def summaries(self) -> Mapping[str, str]:
        """Summaries by guid."""
        frame = self.predictions
        return dict(zip(frame["guid"], frame["prediction"], strict=True))

    @property
    def references(self) -> Mapping[str, str]:
        """References by guid, where the file has them."""
        frame = self.predictions
        pairs = zip(frame["guid"], frame["gold"], strict=True)
        return {guid: gold for guid, gold in pairs if gold}


def read_systems(words: Sequence[str], split: str, option: str = "systems") -> list[SummarySystem]:
    """Read systems in the order named; see `named_paths`.

    Args:
        words: `PATH` or `NAME:PATH`, a run folder or a table of predictions.
        split: the split of run folders.
        option: the option that names them, for messages.

    Raises:
        ConfigError: no such file, or two systems of one name.
        DataError: files without the columns, or with a guid twice.
    """
    systems = [_read(name, path, split) for name, path in named_paths(words, option)]
    names = [system.name for system in systems]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        fix = f"name them: {option}=first:PATH,second:PATH"
        raise ConfigError(f"{option}: two are called {', '.join(repeated)}; {fix}")

    return systems


def named_paths(words: Sequence[str], option: str) -> list[tuple[str, Path]]:
    """Find the systems' names and paths, without reading files.

    Args:
        words: `PATH` or `NAME:PATH`, split at commas. Names of run folders contain commas, so the
            longest sequence of words that joins to an existing path is one system.
        option: the option that names them, for messages.

    Returns:
        Name ("" if not given) and path of each.

    Raises:
        ConfigError: there is no such run folder or file.
    """
    named = []
    start = 0
    while start < len(words):
        for end in range(len(words), start, -1):
            system = _existing(",".join(words[start:end]))
            if system:
                named.append(system)
                start = end
                break
        else:
            raise ConfigError(f"{option}={words[start]}: no such run folder or file")

    return named


def _existing(word: str) -> tuple[str, Path] | None:
    """Read `PATH` or `NAME:PATH`; None if nothing is there."""
    path = Path(word).expanduser()
    if path.exists():
        return "", path

    name, _, named_path = word.partition(":")
    path = Path(named_path).expanduser()
    if named_path and path.exists():
        return name, path

    return None


def _read(name: str, path: Path, split: str) -> SummarySystem:
    """Read the summaries of a run folder's split, or of a table."""
    if not path.is_dir():
        return _from_table(name or table_stem(path), path)

    run = open_run(path)
    config = read_stored(run.config)
    data, _ = data_of(config, split)
    system = _from_table(name or path.resolve().name, predictions_file(path, split))
    return replace(system, language=data.language, synthetic=data.synthetic, unicode=data.unicode)


def _from_table(name: str, path: Path) -> SummarySystem:
    """Read summaries from a table of predictions.

    Raises:
        DataError: its predictions are labels.
    """
    predictions = read_frame(path, needs_gold=False)
    if any(column.startswith("p/") for column in predictions.columns):
        problem = "its predictions are labels: it has columns of their probabilities (p/...)"
        raise DataError(str(path), problem, "name predictions of task=summarization")

    return SummarySystem(name, predictions)
