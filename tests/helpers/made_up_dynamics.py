"""Curricula as shipped, and dynamics that nothing was trained for."""

from functools import cache

import numpy as np
from omegaconf import OmegaConf

from heron.base.folders import conf_dir
from heron.dynamics.config import CurriculumConfig
from heron.dynamics.files import Dynamics

SHIPPED = sorted(path.stem for path in (conf_dir() / "curriculum").glob("*.yaml"))
SHIPPED.remove("none")


@cache
def shipped(name):
    """Read an option of conf/curriculum; that it composes is the contract's to test."""
    values = OmegaConf.to_container(OmegaConf.load(conf_dir() / "curriculum" / f"{name}.yaml"))
    return CurriculumConfig(**values.get("curriculum", values))


def make_dynamics(p_gold_EN, correct_EN=None, margin_EN=None, guids=None):
    """Make a record a row; a probability above 0.5 is right unless `correct_EN` says otherwise."""
    p_gold_EN = np.asarray(p_gold_EN, np.float32)
    if correct_EN is None:
        correct_EN = np.where(np.isnan(p_gold_EN), np.nan, p_gold_EN > 0.5)
    records, examples = p_gold_EN.shape
    return Dynamics(
        guids=list(guids or (f"g{place}" for place in range(examples))),
        gold_N=np.zeros(examples, np.int16),
        p_gold_EN=p_gold_EN,
        correct_EN=np.float32(correct_EN),
        margin_EN=np.float32(p_gold_EN - 0.5 if margin_EN is None else margin_EN),
        count_EN=np.int16(~np.isnan(p_gold_EN)),
        epochs_E=np.arange(1.0, records + 1),
        labels=("a", "b"),
        mode="train",
        task="nli",
    )
