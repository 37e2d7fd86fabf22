"""Data sets that the Hugging Face library `datasets` reads: of the hub, or of a local folder."""

from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import fingerprint, sha256_file, stored_folder
from heron.base.tables import write_table
from heron.data.config import SPLITS, TRAIN, DataConfig


def hub_files(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, Path]:
    """Store the splits of `data.hub` as Parquet in the cache, once per content; paths by split.

    A folder (of data files, of `save_to_disk`, or a repository whose README.md has configurations)
    is looked for in the working directory, then in `paths.data`. Classes have names instead of
    numbers, and columns inside a column are called `outer.inner`.

    Raises:
        ConfigError: an id without `data.revision`; `datasets` is not installed, or cannot read it;
            or it has none of the splits.
    """
    assert config.hub is not None
    places = [Path(config.hub).expanduser(), data_dir / config.hub]
    folder = next((place for place in places if place.is_dir()), places[-1])
    content: list[Any] = [config.hub, config.revision]
    if folder.is_dir():
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        content = [(str(path.relative_to(folder)), sha256_file(path)) for path in files]
    elif config.revision is None:
        raise ConfigError(
            f"data.hub={config.hub}: not a folder in {data_dir}; an id of the hub needs "
            "data.revision=COMMIT, so that the data stay the same (its page lists the commits "
            "under Files and versions)"
        )
    key = fingerprint("hub-1", content, config.hub_config, dict(config.hub_splits))
    target = cache_dir / "hub" / key[:16]
    source = str(folder) if folder.is_dir() else config.hub
    stored_folder(target, lambda new: _store(source, config, new, cache_dir / "hub" / "datasets"))
    paths = {split: target / f"{split}.parquet" for split in SPLITS}
    return {split: path for split, path in paths.items() if path.is_file()}


def _store(source: str, config: DataConfig, target: Path, cache: Path) -> None:
    loaded = _load(source, config, cache)
    wanted = {split: config.hub_splits.get(split, split) for split in SPLITS}
    missing = [name for name in config.hub_splits.values() if name not in loaded]
    if missing or not set(wanted.values()) & set(loaded):
        raise ConfigError(
            f"data.hub={config.hub}: has no split {', '.join(missing or wanted.values())}, only "
            f"{', '.join(loaded)}; data.hub_splits={{train: NAME}} gives their names"
        )
    for split, name in wanted.items():
        if name in loaded:
            write_table(target / f"{split}.parquet", _columns(loaded[name].flatten()))


def _load(source: str, config: DataConfig, cache: Path) -> Any:
    try:
        import datasets  # an optional dependency
        from datasets.config import DATASET_STATE_JSON_FILENAME, DATASETDICT_JSON_FILENAME
    except ImportError as error:
        what = f"data.hub={config.hub} needs the package datasets"
        raise ConfigError(f"{what}: pip install 'heron-nlu[hub]'") from error
    try:
        datasets.disable_progress_bars()
        if (Path(source) / DATASETDICT_JSON_FILENAME).is_file():
            return datasets.load_from_disk(source)
        if (Path(source) / DATASET_STATE_JSON_FILENAME).is_file():
            return {TRAIN: datasets.load_from_disk(source)}
        return datasets.load_dataset(
            source, config.hub_config, revision=config.revision, cache_dir=str(cache)
        )
    except Exception as error:  # the library raises many kinds
        said = " ".join(f"{error} {error.__cause__ or ''}".split())
        raise ConfigError(
            f"data.hub={config.hub}: {said}; check data.hub (owner/name, or a folder of Parquet, "
            "Arrow, JSON lines or CSV), data.revision and data.hub_config"
        ) from error


def _columns(rows: Any) -> dict[str, list[Any]]:
    """Read all columns, with the names of classes."""
    found = rows.with_format("arrow")[:].to_pydict()
    for name, feature in rows.features.items():
        if type(feature).__name__ == "ClassLabel":
            numbers = found[name]  # -1: no label
            found[name] = [None if n is None or n < 0 else feature.names[n] for n in numbers]
    return found
