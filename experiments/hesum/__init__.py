"""HeSum: the paper's statistics, which stand beside those that heron finds."""

from heron.tasks.analysis import ADDED

from .published_statistics import published_statistics

ADDED.register("published_statistics", published_statistics)
