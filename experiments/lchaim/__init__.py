"""LCHAIM: its claims."""

from heron.base.registry import on_demand
from heron.config.extensions import CLAIMS

CLAIMS.register("lchaim", on_demand("heron_forks.lchaim.claims:claims"))
