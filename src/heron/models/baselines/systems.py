"""All baselines behind one interface: fit, apply, keep, open again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from heron.base.errors import ConfigError
from heron.base.files import read_json, seal, write_json
from heron.base.run_folder import require_whole
from heron.config.schema import Config
from heron.data.examples import Example
from heron.tasks.summarization.baselines import EXTRACTIVE, ExtractiveBaseline

MARK = "baseline.json"


class Baseline(Protocol):
    """A system that gives every pair a probability per class."""

    @property
    def notes(self) -> dict[str, Any]:
        """What is to be known about the fit, JSON; lines to print under `warnings`."""

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Return probabilities_RC, float32, one row per example."""

    def save(self, folder: Path) -> None:
        """Write what is needed to predict again into a run's `model/`."""


def fit_baseline(config: Config, examples: Sequence[Example]) -> Baseline | ExtractiveBaseline:
    """Fit the baseline that the configuration names.

    Args:
        config: the run's.
        examples: the train split; `zero_shot` and those that copy sentences do not look at it.
    """
    if config.baseline.name in EXTRACTIVE:
        return ExtractiveBaseline.of(config)
    if config.baseline.name == "zero_shot":
        from heron.models.baselines.zero_shot import load_zero_shot

        return load_zero_shot(config)
    from heron.models.baselines.shallow import fit_shallow

    return fit_shallow(config, examples)


def save_baseline(baseline: Baseline | ExtractiveBaseline, config: Config, folder: Path) -> None:
    """Write a fitted baseline to `folder`; the mark comes last, so that it stands for all."""
    baseline.save(folder)
    write_json(folder / MARK, {"baseline": config.baseline.name})
    seal(folder)


def load_baseline(config: Config, folder: Path) -> Baseline | ExtractiveBaseline:
    """Open what `save_baseline` wrote.

    Raises:
        ConfigError: what the run points to (word vectors, a model) is gone or has changed, or it
            was written by another version of heron, or is damaged.
    """
    require_whole(folder)
    if read_json(folder / MARK)["baseline"] != config.baseline.name:
        raise ConfigError(f"{folder}: holds another baseline than config.yaml names")
    if config.baseline.name in EXTRACTIVE:
        return ExtractiveBaseline.of(config)
    if config.baseline.name == "zero_shot":
        from heron.models.baselines.zero_shot import load_zero_shot

        return load_zero_shot(config)
    from heron.models.baselines.shallow import load_shallow

    return load_shallow(config, folder)
