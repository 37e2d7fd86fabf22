"""LCHAIM: its claims, and the tables and figures that no sweep fills."""

from heron.base.registry import on_demand
from heron.config.extensions import CLAIMS, TARGETS

CLAIMS.register("lchaim", on_demand("heron_forks.lchaim.claims:claims"))
for _key, _function in {
    "T1": "ratings",
    "F1": "pairs",
    "F2": "diversity",
    "F3": "reasoning",
    "F4": "prompts",
}.items():
    TARGETS.register(f"lchaim:{_key}", on_demand(f"heron_forks.lchaim.tables:{_function}"))
