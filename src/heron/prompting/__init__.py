"""Language models that are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from heron.base.registry import Registry

if TYPE_CHECKING:  # start-up time
    from heron.prompting.backends import Backend
    from heron.prompting.config import PromptingConfig
    from heron.tasks.config import Config

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
