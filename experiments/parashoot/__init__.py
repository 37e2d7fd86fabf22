"""ParaShoot: sheets on which people judge gold answers, and the annotation ceiling."""

from heron.base.registry import on_demand
from heron.config.extensions import FORK_ANALYSES

FORK_ANALYSES.register("draw_sheet", on_demand("heron_forks.parashoot.sheets:draw_sheet"))
FORK_ANALYSES.register("score_sheet", on_demand("heron_forks.parashoot.sheets:score_sheet"))
