"""ParaShoot: sheets on which people judge gold answers, and the annotation ceiling."""

from heron.tasks.analysis import ADDED

from .sheets import draw_sheet, score_sheet

ADDED.register("draw_sheet", draw_sheet)
ADDED.register("score_sheet", score_sheet)
