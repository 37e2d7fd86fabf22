"""`heron prompt`: prompt a language model with each row of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from heron.base.terminal import begin, print_tables
from heron.commands.train import run as train
from heron.config.constraints import field_types
from heron.config.parsing import parse_options
from heron.config.words import PARSER, readable
from heron.sweeps.grid import compose_jobs
from heron.tasks.config import Config
from heron.training.compose import compose
from heron_tools.prompting.config import PromptingConfig

_GROUPS = ("model", "prompt")

T = TypeVar("T")


@dataclass
class AskOptions:
    """Options of `heron prompt` itself; all other arguments are overrides of a run."""

    dry_run: bool = False  # count calls, tokens and costs, and send nothing


def run(arguments: Sequence[str]) -> int:
    """Ask a model about every row of a split; returns the exit code."""
    own_words, words = split_words(arguments, AskOptions)
    if not parse_options(AskOptions, own_words).dry_run:
        return train(words)
    from heron_tools.prompting.plan import plan

    begin()
    jobs = compose_jobs(words)
    print_tables([plan([job.resolved() for job in jobs])])
    return 0


def composed(arguments: Sequence[str], kind: type[T]) -> tuple[Config, T]:
    """Compose one run, and read the options of a command that works with it."""
    begin()
    own_words, words = split_words(arguments, kind)
    options = parse_options(kind, own_words)
    return compose(words), options


def split_words(arguments: Sequence[str], kind: Any) -> tuple[list[str], list[str]]:
    """Separate a command's own options from the overrides of a run.

    Args:
        arguments: the words after the command's name.
        kind: the dataclass of the options.

    Returns:
        The options, and the overrides as `spelt_out` writes them.
    """
    options = field_types(kind)
    own_words: list[str] = []
    words: list[str] = []
    for word in arguments:
        if word.partition("=")[0] in options:
            own_words.append(word)
        else:
            words.append(word)
    return own_words, spelt_out(words)


def spelt_out(words: Sequence[str]) -> list[str]:
    """Write the words of `heron prompt` as overrides of a run.

    `shots=2` becomes `prompting.shots=2`, `baseline=prompted` is chosen unless the words name a
    baseline or an experiment, and lists of values become a sweep.
    """
    fields = field_types(PromptingConfig)
    written = []
    for word in words:
        key = word.partition("=")[0]
        group = key.split(".")[0]
        if group in fields and key not in _GROUPS:
            written.append(f"prompting.{word}")
        else:
            written.append(word)
    if not any(word.startswith(("baseline=", "experiment=")) for word in words):
        written.append("baseline=prompted")

    overrides = [readable(word) for word in written if not word.startswith("-")]
    parsed = PARSER.parse_overrides(overrides)
    is_sweep = any(override.is_sweep_override() for override in parsed)
    if is_sweep and "-m" not in written:
        written.append("-m")
    return written
