"""Whether the scores of a run can be compared with a paper's; every report marks the same cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from heron.base.errors import DataError
from heron.config.describe import group_options
from heron.data.config import SPLITS
from heron.data.manifests import read_manifest
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
        generated = " (generated)" if run.synthetic else ""
        yield f"data set {name}{generated}"
    elif not is_verified(run):
        yield f"data set {name}, not verified"

    settings = _compose(run.setting("experiment"))
    for key, kind in _MODELS.items():
        own_model = _last_part(run.setting(key))
        papers_model = _last_part(OmegaConf.select(settings, key))
        is_read = kind == "model" or run.setting("baseline.name", "none") == "none"
        if is_read and key not in shown and own_model not in ("", papers_model):
            yield f"{kind} {own_model}"

    grid = OmegaConf.select(settings, "hydra.sweeper.params") or {}
    paper_keys = {*_COMPARED, *shown, *grid}
    changed = [
        f"{key}={value}"
        for key, value in run.overrides().items()
        if key not in paper_keys and not is_seed(key) and not is_neutral(key)
    ]
    if changed:
        yield ", ".join(changed)


def is_verified(run: RunRecord) -> bool:
    """Tell whether the files of the run's splits were compared with known hashes.

    A file's hash is in the data set's YAML, or, of a built file, in the manifest beside it. The
    manifest counts if the run has read the file that it describes.
    """
    if not run.setting("data.verify", True):
        return False
    files = run.setting("data.files", {})
    for split in SPLITS:
        file = files.get(split)
        if not file or file.get("sha256") or file.get("git_blob"):
            continue
        hash_of_run = run.status.get("sources", {}).get(split)
        if hash_of_run is None or hash_of_run not in _built_hashes(run, file["path"]):
            return False
    return True


def _built_hashes(run: RunRecord, name: str) -> list[str]:
    """List the hashes in the manifests of a file, wherever the run may have read it."""
    data_dir = Path(run.setting("paths.data", ""))
    downloads = Path(run.setting("paths.cache", ""), "downloads")
    hashes = []
    for path in (Path(name).expanduser(), data_dir / name, downloads / name):
        with suppress(DataError):  # a damaged manifest verifies nothing
            if manifest := read_manifest(path):
                hashes.append(manifest.sha256)
    return hashes


@cache
def _compose(experiment: str | None) -> DictConfig:
    """Compose an experiment, with its grid in `hydra`; empty for none, or one that is gone."""
    if experiment not in group_options("experiment"):
        return DictConfig({})
    with opened([f"experiment={experiment}"]) as (_, whole):
        return whole or DictConfig({})


def _last_part(name: Any) -> str:
    """Name a model without its owner or folder; empty for none."""
    return Path(str(name or "")).name
