"""The annotation ceiling: the token F1 of a perfect system if gold answers are not minimal.

A minimal answer within a gold answer r times as long has precision 1 and recall 1/r, so its F1 is
2/(1 + r). It is the same for a gold answer r times too short, with precision 1/r and recall 1.

Source: ParaShoot, section 3.1 and Table 2.
Deviates: the paper prints a ceiling of .84 for 2.5 times and 57 %, for which the formula gives
.87; .84 needs spans 3.3 times as long. `ceiling_table` shows both.
"""

from __future__ import annotations

from typing import NamedTuple

from heron.base.cells import Cell, Formatted, Interval, Row, Table

# Section 3.1: share of minimal answers, length of the others, their F1, and the ceiling.
_PAPER_MINIMAL = 0.70
_PAPER_RATIO = 2.5
_PAPER_F1 = 0.57
_PAPER_CEILING = 0.84
_NOTE = (
    "Ceiling: share of minimal spans + share of the others x 2 / (1 + length ratio). "
    "Measured: mean token F1 (SQuAD's rules) of the corrected answers against the annotated ones."
)


class Measured(NamedTuple):
    """The ceiling measured by a sheet.

    Args:
        minimal: share of the judged answers that are minimal, a fraction.
        ratio: mean over the others of the longer of answer and correction divided by the shorter,
            in words; None without corrections.
        score: mean F1 of the corrected answers, with its interval; None if corrections are missing.
    """

    minimal: float
    ratio: float | None
    score: Interval | float | None


def best_f1(ratio: float) -> float:
    """Compute the F1 of a minimal answer against a gold answer `ratio` times as long."""
    return 2 / (1 + ratio)


def ceiling(minimal: float, ratio: float) -> float:
    """Compute the F1 of a perfect system.

    Args:
        minimal: share of minimal gold answers, a fraction.
        ratio: length of the others, in multiples of a minimal answer.
    """
    return minimal + (1 - minimal) * best_f1(ratio)


def needed_ratio(wanted: float, minimal: float) -> float:
    """Compute the length of the other answers that gives a ceiling.

    Args:
        wanted: the ceiling, an F1.
        minimal: share of minimal gold answers, a fraction.

    Returns:
        Their length, in multiples of a minimal answer.
    """
    return 2 * (1 - minimal) / (wanted - minimal) - 1


def ceiling_table(measured: Measured) -> Table:
    """Compare the paper's calculation with a sheet's."""
    printed = (
        Formatted(_PAPER_MINIMAL, ".2f"),
        Formatted(_PAPER_RATIO, ".1f"),
        Formatted(_PAPER_F1, ".2f"),
        Formatted(_PAPER_CEILING, ".2f"),
    )
    needed = needed_ratio(_PAPER_CEILING, _PAPER_MINIMAL)
    rows: list[Row] = [
        ("ParaShoot, as printed", *printed),
        ("ParaShoot, its numbers put together", *_computed(_PAPER_MINIMAL, _PAPER_RATIO)),
        ("ParaShoot, what its ceiling needs", *_computed(_PAPER_MINIMAL, needed)),
    ]

    minimal = measured.minimal
    if measured.ratio is not None:
        rows.append(("this sheet, the same way", *_computed(minimal, measured.ratio)))
    elif minimal == 1:
        rows.append(("this sheet, the same way", 1.0, None, None, 1.0))
    rows.append(("this sheet, measured", minimal, None, None, measured.score))

    columns = ("arithmetic", "minimal", "times as long", "F1 of those", "ceiling F1")
    return Table("Annotation ceiling", columns, rows, _NOTE)


def _computed(minimal: float, ratio: float) -> tuple[Cell, ...]:
    """Compute the F1 of answers that are not minimal, and the ceiling."""
    return (minimal, Formatted(ratio, ".2f"), best_f1(ratio), ceiling(minimal, ratio))
