"""What a benchmark found, in the form that `make bench-all` tabulates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Headline:
    """How many times as fast heron is as a rival.

    Args:
        work: what heron does.
        rival: who or what does the same.
        ratios: the rival's time over heron's, one per round; rounds are measured side by side.
        bar: the ratio that heron has to reach; None where there is none.
        unit: `times` faster, or the unit of `ratios` where they are heron's own time and the bar is
            the longest that is good enough.
    """

    work: str
    rival: str
    ratios: Sequence[float]
    bar: float | None = None
    unit: str = "times"

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return median(self.ratios)

    @property
    def spread(self) -> str:
        """Lowest and highest ratio."""
        return f"{_shown(min(self.ratios))} to {_shown(max(self.ratios))}"

    @property
    def result(self) -> str:
        """Whether the bar is reached; empty without one."""
        if self.bar is None:
            return ""
        enough = self.ratio >= self.bar if self.unit == "times" else self.ratio <= self.bar
        return "reached" if enough else "missed"

    def __str__(self) -> str:
        """Say it in one line."""
        bar = f"; {self.bar:g} {self.result}" if self.bar is not None else ""
        return f"{self.work} / {self.rival}: {_shown(self.ratio)} ({self.spread}){bar}"

    def cells(self) -> tuple[str, ...]:
        """Lay it out as a row of the table of all benchmarks."""
        sign = "≥" if self.unit == "times" else "≤"
        bar = "" if self.bar is None else f"{sign} {self.bar:g}: {self.result}"
        measured = f"{_shown(self.ratio)} {self.unit}"
        return self.work, self.rival, measured, self.spread, bar


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
