"""What a curriculum's settings may be; light, so that a typing error is answered at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heron.base.errors import ConfigError, nearest
from heron.config.schema import Config, CurriculumConfig

GROUPS = ("easy", "ambiguous", "hard")
GROWING = ("linear", "root", "competence")
# Statistics of an earlier run's dynamics (`heron.dynamics.cartography.SCORES`).
LEARNT = (
    "eq1_swapped",
    "eq1_printed",
    "repo",
    "confidence",
    "loss",
    "variability",
    "correctness",
    "aum",
    "forgetting",
)
DIFFICULTIES = ("length", "sts", "external", "random", *LEARNT)
_KEYS = ("name", "share", "steps", "unlock", "groups")


def uses_groups(config: CurriculumConfig) -> bool:
    """Tell whether a curriculum goes by groups, in a stage or in its order."""
    return config.order == "groups" or any(stage.get("groups") for stage in config.stages)


def needs_dynamics(config: CurriculumConfig) -> bool:
    """Tell whether a curriculum asks what an earlier run has learnt."""
    if uses_groups(config) and config.grouping == "allenai":
        return True
    return config.difficulty in LEARNT


def compares_trained(config: CurriculumConfig) -> bool:
    """Tell whether texts are compared by the states of an encoder that was fine-tuned before."""
    return config.difficulty == "sts" and config.embeddings == "trained"


def check_dynamics(config: Config) -> None:
    """Refuse settings of recorder and curriculum that cannot work.

    Raises:
        ConfigError: names the key, what is wrong and what is allowed.
    """
    every = config.dynamics.every
    if not 0 < every <= 1 or abs(1 / every - round(1 / every)) > 1e-6:
        raise ConfigError(f"dynamics.every={every}: must be 1, 0.5, 0.25 or another 1/n")
    curriculum = config.curriculum
    if curriculum.name == "none":
        # An experiment may say `changes` for the curricula that a sweep sets beside it.
        if replace(curriculum, changes={}) != CurriculumConfig():
            raise ConfigError(
                "curriculum.* is set, but curriculum=none draws from everything: choose one of "
                "conf/curriculum to change it"
            )
        return
    if config.baseline.name != "none":
        raise ConfigError(
            f"curriculum={curriculum.name} orders training steps; baseline={config.baseline.name} "
            "has none"
        )
    for key in ("start", "until", "fraction"):
        value = getattr(curriculum, key)
        if not 0 < value <= 1:
            raise ConfigError(f"curriculum.{key}={value}: must be above 0 and at most 1")
    if curriculum.pacing == "stages":
        _check_stages(curriculum)
    elif curriculum.budget == "own" or curriculum.stages:
        raise ConfigError(
            f"curriculum.stages and curriculum.budget=own need curriculum.pacing=stages, not "
            f"{curriculum.pacing}"
        )
    _check_difficulty(config)
    _check_combination(config)


def _check_stages(config: CurriculumConfig) -> None:
    if not config.stages:
        raise ConfigError("curriculum.pacing=stages needs curriculum.stages")
    wanted = "steps" if config.budget == "own" else "share"
    for number, entry in enumerate(config.stages, 1):
        _check_stage(entry, f"curriculum.stages, number {number}", wanted)
    shares = sum(float(entry.get("share", 0)) for entry in config.stages)
    if wanted == "share" and abs(shares - 1) > 1e-6:
        raise ConfigError(f"curriculum.stages: the shares add up to {shares:g}, not to 1")


def _check_stage(entry: Mapping[str, Any], where: str, wanted: str) -> None:
    for key in entry:
        if key not in _KEYS:
            raise ConfigError(f"{where}: unknown key '{key}'.{nearest(str(key), _KEYS)}")
    size, unlock = entry.get(wanted), entry.get("unlock", 1.0)
    whole = wanted == "steps"
    if not isinstance(size, int if whole else int | float) or not size > 0:
        what = "optimizer steps, a whole" if whole else "the share of all steps, a"
        hint = "" if whole or "steps" not in entry else "; steps need curriculum.budget=own"
        raise ConfigError(f"{where}: {wanted}={size}; it needs {what} number above 0{hint}")
    if not isinstance(unlock, int | float) or not 0 < unlock <= 1:
        raise ConfigError(f"{where}: unlock={unlock}: must be above 0 and at most 1")
    if "groups" in entry and "unlock" in entry:
        raise ConfigError(f"{where}: either unlock or groups, not both")
    groups = entry.get("groups", ())
    if not isinstance(groups, list | tuple):
        raise ConfigError(f"{where}: groups is a list, such as [{groups or 'easy'}]")
    for group in groups:
        if group not in GROUPS:
            raise ConfigError(f"{where}: no group '{group}'.{nearest(str(group), GROUPS)}")


def _check_difficulty(config: Config) -> None:
    curriculum = config.curriculum
    if curriculum.difficulty == "external" and not (curriculum.scores and curriculum.column):
        raise ConfigError(
            "curriculum.difficulty=external needs curriculum.scores=FILE and curriculum.column=NAME"
        )
    if curriculum.difficulty == "sts" and config.task.name != "nli":
        raise ConfigError(
            f"curriculum.difficulty=sts compares two texts of a kind: it needs task=nli, not "
            f"{config.task.name}. Use length, or a statistic of a run's dynamics"
        )
    if uses_groups(curriculum) and curriculum.reverse:
        raise ConfigError(
            "curriculum.reverse turns the order by difficulty; stages that name groups, and "
            "curriculum.order=groups, say their own order"
        )


def _check_combination(config: Config) -> None:
    curriculum, dynamics = config.curriculum, config.dynamics
    watched = dynamics.enabled and dynamics.mode == "evaluation"
    if curriculum.pacing == "self_paced" and not watched:
        raise ConfigError(
            "curriculum.pacing=self_paced needs the loss of every example after every epoch: "
            "dynamics.enabled=true dynamics.mode=evaluation"
        )
    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        raise ConfigError(
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence; "
            "with head.input=window a text comes with all its pairs"
        )
