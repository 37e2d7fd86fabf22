"""Language models that are asked (`heron prompt`, `baseline=prompted`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry
from heron.commands.listing import FORK_COMMANDS, Command
from heron.config.constraints import PARTS
from heron.tasks import BASELINES, Baseline

if TYPE_CHECKING:  # start-up time
    from heron.data.examples import Example
    from heron.tasks.config import Config
    from heron_tools.prompting.backends import Backend
    from heron_tools.prompting.config import PromptingConfig

# Where a language model answers (`prompting.model.backend`); each is made from the run's
# configuration and its `prompting` settings.
BACKENDS: Registry[Callable[[Config, PromptingConfig], Backend]] = Registry(
    "backend",
    {
        "local": "heron_tools.prompting.local:LocalModel",
        "server": "heron_tools.prompting.server:Server",
        "batch": "heron_tools.prompting.backends:BatchFiles",
    },
    key="prompting.model.backend",
)


@PARTS.late("prompting")
def settings() -> Any:
    """Give the dataclass of the key `prompting`."""
    from heron_tools.prompting.config import PromptingConfig

    return PromptingConfig


def run(words: Sequence[str]) -> int:
    """Run `heron prompt`."""
    from heron_tools.prompting.command import run

    return run(words)


def fit(config: Config, examples: Sequence[Example]) -> Any:
    """Open the model that a run asks."""
    from heron_tools.prompting.system import fit_prompted

    return fit_prompted(config, examples)


def load(config: Config, folder: Path) -> Any:
    """Open the model that a finished run asked."""
    from heron_tools.prompting.system import load_prompted

    return load_prompted(config, folder)


def problems(config: Config) -> Iterable[str]:
    """List which of a run's settings cannot work."""
    from heron_tools.prompting.system import problems

    return problems(config)


def splits(config: Config, names: Sequence[str]) -> list[str]:
    """Choose the splits to ask about."""
    from heron_tools.prompting.system import asked_splits

    return asked_splits(config, names)


def tables(fitted: Any) -> Mapping[str, Any]:
    """Give what was asked and answered, as tables for the run's folder."""
    from heron_tools.prompting.system import tables

    return tables(fitted)


BASELINES.register("prompted", Baseline(fit, load, (), problems, splits=splits, tables=tables))
_HELP = Path(__file__).with_name("prompt.txt")
FORK_COMMANDS.register("prompt", Command(run, _HELP, resumes=True))
