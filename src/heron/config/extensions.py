"""What papers and forks add that no training loads: commands, targets, claims, backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry

if TYPE_CHECKING:  # these import much more
    from heron.config.prompting import PromptingConfig
    from heron.config.schema import Config
    from heron.prompting.backends import Backend
    from heron.reproduction.claims import Claim
    from heron.reproduction.targets import Filled, Request


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a fork adds to `heron`."""

    # Gets the words after the command's name; returns the exit code.
    run: Callable[[Sequence[str]], int | None]
    help: Path  # a text file; its first line is the command's summary


# Commands of forks, of one or two words (`judge`, `build trc`); heron's own are in `heron.cli`.
FORK_COMMANDS: Registry[Command] = Registry("command")

# What forks add to `heron analyze`: `draw_sheet` and `score_sheet`, `published_statistics`.
FORK_ANALYSES: Registry[Callable[..., Any]] = Registry("analysis of a fork")

# Tables and figures that `heron reproduce` computes without a sweep, by `<paper>:<key>` (`trc:T3`).
TARGETS: Registry[Callable[[Request], Filled]] = Registry("target")

# What `heron analyze data=NAME` shows beside its paper's numbers, by data set. HeSum's statistics
# have several definitions each; `published_statistics` above chooses among them.
STATISTICS: Registry[Callable[[Request], Filled]] = Registry("data set with published statistics")

# What `heron claims` recomputes, by paper: the claims and their calculations.
CLAIMS: Registry[Callable[[], Iterable[Claim]]] = Registry("paper with claims")

# Where a language model answers (`prompting.model.backend`); each is made from the run's
# configuration and its `prompting` settings.
BACKENDS: Registry[Callable[[Config, PromptingConfig], Backend]] = Registry(
    "backend",
    {
        "local": "heron.prompting.local:LocalModel",
        "server": "heron.prompting.server:Server",
        "batch": "heron.prompting.backends:BatchFiles",
    },
    key="prompting.model.backend",
)
