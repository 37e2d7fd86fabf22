"""Prompting of language models (`heron prompt`, `baseline=prompted`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry
from heron.commands import COMMANDS, TRAIN, Command
from heron.config.constraints import PARTS
from heron.tasks import BASELINES, Baseline

if TYPE_CHECKING:  # start-up time
    from heron.tasks.config import Config
    from heron_tools.prompting.answers import Backend
    from heron_tools.prompting.config import PromptingConfig

# Kinds of access to a language model (`prompting.model.backend`); each is built from the run's
# configuration and its `prompting` settings.
BACKENDS: Registry[Callable[[Config, PromptingConfig], Backend]] = Registry(
    "backend",
    {
        "local": "heron_tools.prompting.local:LocalModel",
        "server": "heron_tools.prompting.server:Server",
    },
    key="prompting.model.backend",
)


@PARTS.late("prompting")
def settings() -> Any:
    """Return the dataclass of the key `prompting`."""
    from heron_tools.prompting.config import PromptingConfig

    return PromptingConfig


@BASELINES.late("prompted")
def baseline() -> Baseline:
    """Return the baseline that prompts a language model."""
    from heron_tools.prompting.system import BASELINE

    return BASELINE


_HELP = Path(__file__).with_name("prompt.txt")
COMMANDS.register("prompt", Command(f"{__name__}.command", _HELP, resumes=True, group=TRAIN))
