"""Macedonian: a language, two data sets, prompts and experiments; see README.md."""

from contextlib import suppress

from heron.base.registry import on_demand

from . import language_mk

with suppress(ModuleNotFoundError):  # the tool may be absent
    from heron_tools.prompting import BACKENDS

    # Only runs with this model load its code.
    BACKENDS.register("alike", on_demand("heron_forks.macedonian.alike:Alike"))
