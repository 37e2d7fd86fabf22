"""heron: Hebrew, Romanian, NLU."""

__version__ = "0.1.0"
