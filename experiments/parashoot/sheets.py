"""`heron analyze sheet=FILE`: draw a sheet of gold answers, and score a filled one."""

from __future__ import annotations

from pathlib import Path

from heron.base.errors import ConfigError, nearest
from heron.data.config import VALIDATION
from heron.results.shipped import Shipped
from heron_tools.statistics.options import AnalyzeOptions, say_unused
from heron_tools.statistics.outcome import AnalysisResult, write_outcome

from .answer_sheet import measure_ceiling, quality_table, read_sheet, write_sheet
from .ceiling import ceiling_table


def draw_sheet(options: AnalyzeOptions, shipped: Shipped) -> list[Path]:
    """Draw answers for people to judge, and print what to do with the sheet.

    Args:
        options: with the new file, the split, and the number of answers.
        shipped: the data set.

    Returns:
        The sheet.

    Raises:
        ConfigError: there is no such split, or the sheet exists.
    """
    sheet = options.sheet
    sample = options.sample
    assert sheet is not None
    name = options.split or VALIDATION
    if name not in shipped.splits:
        raise ConfigError(f"split={name}: no such split.{nearest(name, shipped.splits)}")

    total = write_sheet(sheet, shipped.splits[name], sample, options.seed)
    print(
        f"{sample} of {total} answered questions of {shipped.config.name}, {name}. Mark "
        "one of minimal, too_long, too_short for each (x), correct=no where it does not answer, "
        "and copy the minimal answer into corrected_answer; then: "
        f"heron analyze sheet={sheet}"
    )
    return [sheet]


def score_sheet(options: AnalyzeOptions) -> list[Path]:
    """Evaluate a filled sheet: the quality of the answers and the resulting ceiling.

    Returns:
        The file written: the sheet's name with `.json`.
    """
    sheet = options.sheet
    assert sheet is not None
    unused = ("split", "by", "types", "bins", "words", "morphology", "published", "texts", "sample")
    say_unused(options, unused)

    judged, empty = read_sheet(sheet)
    quality = quality_table(judged, empty)
    ceiling = ceiling_table(measure_ceiling(judged, options.seed))
    facts = {"sheet": sheet.name, "judged": len(judged), "not_judged": empty}
    out = options.out or sheet.parent
    return write_outcome(AnalysisResult((quality, ceiling)), out, sheet.stem, facts)
