"""Whether the scores of a run can be compared with a paper's; every report marks the same cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from omegaconf import DictConfig, OmegaConf

from heron.config.describe import group_options
from heron.data.config import SPLITS
from heron.reports.run import caveat_of
from heron.results.collect import RunRecord
from heron.results.systems import is_seed
from heron.training.compose import opened
from heron.training.run_names import is_neutral

DAGGER = "†"
_MODELS = {"encoder.name": "encoder", "prompting.model.name": "model"}
# Overrides of data and models, which are compared by their values.
_COMPARED = ("data", "encoder", "model", "experiment", "report", *_MODELS)


def deviations(run: RunRecord, data: Collection[str], shown: Collection[str]) -> Iterator[str]:
    """Describe how a run deviates from the paper: data, encoder or model, and settings.

    The paper's settings are those of the run's experiment.

    Args:
        run: any run of a group.
        data: the paper's data sets.
        shown: keys that the columns of the table show.
    """
    if caveat := caveat_of(run):
        yield caveat
    name = str(run.setting("data.name"))
    if name not in data:
        yield f"data set {name}{' (generated)' if run.synthetic else ''}"
    elif not is_verified(run):
        yield f"data set {name}, not verified"
    settings = _compose(run.setting("experiment"))
    for key, what in _MODELS.items():
        own, papers = _last_part(run.setting(key)), _last_part(OmegaConf.select(settings, key))
        is_read = what == "model" or run.setting("baseline.name", "none") == "none"
        if is_read and key not in shown and own not in ("", papers):
            yield f"{what} {own}"
    grid = OmegaConf.select(settings, "hydra.sweeper.params") or {}
    paper_sets = {*_COMPARED, *shown, *grid}
    changed = [
        f"{key}={value}"
        for key, value in run.overrides().items()
        if key not in paper_sets and not is_seed(key) and not is_neutral(key)
    ]
    if changed:
        yield ", ".join(changed)


def is_verified(run: RunRecord) -> bool:
    """Tell whether the files of the run's splits were compared with known hashes."""
    files = run.setting("data.files", {})
    used = [files[split] for split in SPLITS if files.get(split)]
    pinned = all(file.get("sha256") or file.get("git_blob") for file in used)
    return pinned and run.setting("data.verify", True)


@cache
def _compose(experiment: str | None) -> DictConfig:
    """Compose an experiment, with its grid in `hydra`; empty for none, or one that is gone."""
    if experiment not in group_options("experiment"):
        return DictConfig({})
    with opened([f"experiment={experiment}"]) as (_, whole):
        return whole or DictConfig({})


def _last_part(name: Any) -> str:
    """Name a model without its owner or folder; empty for none."""
    return str(name or "").rstrip("/").rpartition("/")[2]
