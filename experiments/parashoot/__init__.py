"""ParaShoot: sheets on which people judge gold answers, and the annotation ceiling."""

from heron.base.registry import on_demand
from heron.tasks.analysis import ADDED

ADDED.register("draw_sheet", on_demand("heron_forks.parashoot.sheets:draw_sheet"))
ADDED.register("score_sheet", on_demand("heron_forks.parashoot.sheets:score_sheet"))
