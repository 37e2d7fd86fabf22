"""Macedonian: a language, two data sets, prompts and experiments; see README.md."""

from heron.base.registry import on_demand
from heron_tools.prompting import BACKENDS

from . import language_mk

# Only runs that ask this model load its code.
BACKENDS.register("alike", on_demand("heron_forks.macedonian.alike:Alike"))
