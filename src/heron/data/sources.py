"""Files of a data set: found, downloaded, generated, or read from the Hugging Face Hub.

They are looked for in `paths.data` and the cache. The package `datasets` reads those of the Hub. A
file with a pinned hash is used only when it has that hash.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.files import (
    atomic_open,
    fingerprint,
    git_blob,
    locked,
    sha256_file,
    stored_folder,
)
from heron.base.tables import read_table, table_format, table_stem, write_table
from heron.base.terminal import say
from heron.data.config import JOIN, PHRASES, SPLITS, TRAIN, DataConfig, FileConfig, TextsConfig
from heron.data.manifests import described
from heron.data.rows import find_format


class State(Enum):
    """State of a file on this computer."""

    VERIFIED = "present, verified"
    UNPINNED = "present, any content accepted"
    CHANGED = "present, wrong content"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a data set: its place (or where to put it) and hash, empty when not hashed."""

    file: FileConfig
    path: Path
    state: State
    sha256: str = ""


def locate(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, Path]:
    """Find every file of a data set in `paths.data` or the cache; download or generate it there.

    Returns:
        `{split: path}`, `join` where the data set joins a second table, `phrases` where it removes
        linking phrases, and `texts.<n>` for `data.texts.files`.

    Raises:
        ConfigError: the data set names no files, or `data.hub` cannot be read.
        DataError: every file that is missing, with its address and where to put it, and every file
            with another hash than the pinned one.
    """
    made: dict[str, Path] = {}
    if config.hub:
        made = _hub_files(config, data_dir, cache_dir)
    elif config.generator:
        made = _generate(config, cache_dir)
    sources = inspect(config, data_dir, cache_dir)
    if not sources and not made and not config.texts.sets:
        raise ConfigError("data.files is empty: name a file, data.files.train.path=FILE")

    paths = made | _fetch_missing(sources, config, cache_dir)
    collect = find_format(config).collect
    if collect and config.texts != TextsConfig():
        paths[TRAIN] = collect(config, paths, data_dir, cache_dir)
    return paths


def merge_shards(shards: Sequence[Path], cache_dir: Path) -> Path:
    """Write the rows of several tables to one file in the cache, once per content.

    Raises:
        DataError: rows of a table that cannot be read.
    """
    key = fingerprint("shards-1", [sha256_file(shard) for shard in shards])
    folder = cache_dir / "shards" / key[:16]
    are_parquet = all(table_format(shard) == ".parquet" for shard in shards)
    name = table_stem(shards[0]) + (".parquet" if are_parquet else ".jsonl")

    def write(new: Path) -> None:
        tables = [read_table(shard) for shard in shards]
        columns: dict[str, list[Any]] = {name: [] for table in tables for name in table.columns}
        for table in tables:
            for column, cells in columns.items():
                cells += [row.get(column) for row in table.rows]
        write_table(new / name, columns)

    stored_folder(folder, write)
    return folder / name


def locate_phrases(config: DataConfig, data_dir: Path, cache_dir: Path) -> Path | None:
    """Find the list of linking phrases as `locate` does; None where none are removed."""
    if config.phrases == "none":
        return None
    phrases_only = replace(config, files={PHRASES: config.files[PHRASES]}, join=None)
    sources = inspect(phrases_only, data_dir, cache_dir)
    return _fetch_missing(sources, config, cache_dir)[PHRASES]


def _fetch_missing(
    sources: Mapping[str, Source], config: DataConfig, cache_dir: Path
) -> dict[str, Path]:
    """Download the files that are missing.

    Returns:
        The path of each file.

    Raises:
        DataError: files that cannot be fetched, or are not the pinned ones.
    """
    downloads = cache_dir / "downloads"
    problems = []
    for source in sources.values():
        if source.state is State.CHANGED:
            difference = wrong_content(source.file, source.path)
            problems.append(Problem(str(source.path), difference, _renewal(source.file)))
    missing = fetch(sources, downloads)
    if missing:
        problems += [*missing, *_advice(config)]
    raise_all(problems)

    paths = {name: source.path for name, source in sources.items()}
    for name, source in sources.items():
        if source.state is State.MISSING:
            paths[name] = downloads / source.file.path
    return paths


def _renewal(file: FileConfig) -> str:
    again = f"build it again by {file.build}" if file.build else "remove it to fetch it again"
    return f"{again}, or data.verify=false"


def fetch(sources: Mapping[str, Source], folder: Path) -> list[Problem]:
    """Download the missing ones among `sources` into `folder`; a problem for each that failed."""
    problems = []
    for source in sources.values():
        if source.state is not State.MISSING:
            continue

        file = source.file
        way = f"set paths.data to the folder that holds {file.path}"
        if not file.url and not file.build:
            places = [folder / file.path]
            if not file.pinned:
                places.insert(0, Path(file.path).expanduser().absolute())
            also = ", ".join(str(place) for place in places if place != source.path)
            what = f"missing, has no address, and is not at {also}"
            problems.append(Problem(str(source.path), what, way))
            continue

        try:
            download(file, folder)
        except Exception as error:  # the library raises many kinds
            address = f"fetch {file.url} and put it there" if file.url else ""
            problems.append(Problem(str(source.path), f"missing; {error}", (address, way)))

    return problems


def download(file: FileConfig, folder: Path) -> None:
    """Fetch `file.url` into `folder`; safe when several processes want the same file.

    Received bytes are kept in `<file>.part`, which the next attempt continues, in this process or a
    later one. The file appears only complete and verified.
    """
    from huggingface_hub.errors import HfHubHTTPError  # start-up time: most runs have their files
    from huggingface_hub.file_download import http_get

    target = folder / file.path
    if file.build:
        raise ValueError(f"{file.build} makes it ({file.build} --help)")
    assert file.url is not None
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"it is not fetched: its path leads out of {folder}")
    part = target.with_name(f"{target.name}.part")
    with locked(target.with_name(f".{target.name}.lock")):
        if target.is_file():  # another process was faster
            return
        try:
            with open(part, "ab") as out:
                http_get(file.url, out, resume_size=out.tell(), expected_size=file.size)
        except HfHubHTTPError:
            part.unlink()  # perhaps too long to resume
            raise
        if wrong := wrong_content(file, part):
            part.unlink()
            raise ValueError(f"{file.url} is another file now: {wrong}")
        os.replace(part, target)
        if not file.sha256:  # to pin it
            with suppress(DataError):
                say(f"{target}: {len(read_table(target)):,} rows", of_result=False)
            say(f"{target}: its sha256 is {sha256_file(target)}", of_result=False)


def inspect(
    config: DataConfig, data_dir: Path, cache_dir: Path, further: bool = False
) -> dict[str, Source]:
    """Look for every file of a data set on this computer; files with pinned hashes are hashed.

    Args:
        config: of the data set.
        data_dir: `paths.data`.
        cache_dir: the folder of all caches, with earlier downloads.
        further: add the files of the release that this configuration does not read.

    Returns:
        What is known of each file, by its name.
    """
    if data_dir.is_file():
        raise ConfigError(f"paths.data={data_dir}: a file; name the folder that holds data sets")
    files = config.split_files
    for number, file in enumerate(config.texts.files, start=1):
        files[f"texts.{number}"] = file
    used = {JOIN: config.join is not None, PHRASES: config.phrases != "none"}
    for name, file in config.files.items():
        if used.get(name, further):
            files[name] = file

    sources = {}
    for name, file in files.items():
        candidates = [data_dir / file.path, cache_dir / "downloads" / file.path]
        if not file.pinned:  # a user's own: relative to the working directory
            candidates.insert(0, Path(file.path).expanduser())
        path = next((candidate for candidate in candidates if candidate.is_file()), None)
        if path is None:
            sources[name] = Source(file, data_dir / file.path, State.MISSING)
            continue

        file = described(file, path)
        if not config.verify or not file.pinned:
            sources[name] = Source(file, path, State.UNPINNED)
        else:
            state = State.CHANGED if wrong_content(file, path) else State.VERIFIED
            sources[name] = Source(file, path, state, sha256_file(path))
    return sources


def wrong_content(file: FileConfig, path: Path) -> str:
    """Say how a file differs from the pinned one; empty where it does not."""
    size = path.stat().st_size
    kind = "sha256"
    expected = file.sha256
    actual = ""
    if file.sha256:
        actual = sha256_file(path)
    elif file.git_blob:
        kind = "git blob"
        expected = file.git_blob
        actual = git_blob(path)

    if file.size in (None, size) and (not expected or actual == expected):
        return ""
    expected_size = f" ({file.size} bytes)" if file.size else ""
    return f"its {kind} is {actual} ({size} bytes), expected {expected}{expected_size}"


def _advice(config: DataConfig) -> list[Problem]:
    """Say where files without an address come from, and which data set needs fewer files."""
    advice = []
    lacks_address = any(not (file.url or file.build) for file in config.files.values())
    if config.homepage and lacks_address:
        advice.append(f"files without an address: see {config.homepage}")
    other = config.substitute
    if other:
        advice.append(f"heron train data={other} needs fewer files, heron data {other} lists them")
    if not advice:
        return []
    what = "cannot be read without all of its files"
    return [Problem(f"data={config.name}", what, "; ".join(advice))]


def _generate(config: DataConfig, cache_dir: Path) -> dict[str, Path]:
    """Write the built-in corpus, once per configuration and version of the generator."""
    import chronicle  # start-up time
    from chronicle.corpus import write
    from chronicle.settings import ChronicleConfig, SettingsError

    assert config.generator is not None

    options = asdict(config.generator) | {"task": config.task, "language": config.language}
    weights = options.pop("class_weights")
    try:
        settings = ChronicleConfig(**options)
        labels = settings.labels  # empty where its rows have none
        order = config.label_order or list(labels)
        if labels and sorted(order) != sorted(labels):
            key = settings.labels_key
            raise ConfigError(
                f"data.label_order={order}: data.task={config.task} with "
                f"data.generator.{key}={options[key]} generates {', '.join(labels)}"
            )
        if weights and len(weights) != len(order):
            raise ConfigError(
                f"data.generator.class_weights={weights}: one number for each of {', '.join(order)}"
            )
        if weights:  # from the data set's order of classes to the generator's
            weight_of = dict(zip(order, weights, strict=True))
            settings = replace(settings, class_weights=[weight_of[label] for label in labels])
    except SettingsError as error:
        problem = str(error).removeprefix("chronicle: ")
        raise ConfigError(f"data.generator: {problem}") from error

    modules = sorted(Path(chronicle.__file__).parent.rglob("*.py"))
    key = fingerprint(asdict(settings), [sha256_file(module) for module in modules])
    folder = cache_dir / "chronicle" / key[:16]
    stored_folder(folder, lambda new: write(settings, new, atomic_open))
    return {split: folder / f"{split}.jsonl" for split in SPLITS}


def _hub_files(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, Path]:
    """Store the splits of `data.hub` as Parquet in the cache, once per content; paths by split.

    A folder (of data files, of `save_to_disk`, or a repository whose README.md has configurations)
    is looked for in the working directory, then in `paths.data`. Classes have names instead of
    numbers, and columns inside a column are called `outer.inner`.

    Raises:
        ConfigError: an id without `data.revision`; `datasets` is not installed, or cannot read it;
            or it has none of the splits.
    """
    assert config.hub is not None
    candidates = [Path(config.hub).expanduser(), data_dir / config.hub]
    folder = next((candidate for candidate in candidates if candidate.is_dir()), None)
    if folder is not None:
        source = str(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        content: Any = [(str(path.relative_to(folder)), sha256_file(path)) for path in files]
    elif config.revision is not None:
        source = config.hub
        content = [config.hub, config.revision]
    else:
        raise ConfigError(
            f"data.hub={config.hub}: not a folder in {data_dir}; an id of the hub needs "
            "data.revision=COMMIT, so that the data stay the same (its page lists the commits "
            "under Files and versions)"
        )

    key = fingerprint("hub-1", content, config.hub_config, dict(config.hub_splits))
    hub = cache_dir / "hub"
    stored = hub / key[:16]
    stored_folder(stored, lambda new: _store(source, config, new, hub / "datasets"))
    paths = {split: stored / f"{split}.parquet" for split in SPLITS}
    return {split: path for split, path in paths.items() if path.is_file()}


def _store(source: str, config: DataConfig, target: Path, cache: Path) -> None:
    """Write each split of a data set of the hub as Parquet into the folder `target`."""
    loaded = _load(source, config, cache)
    names = {split: config.hub_splits.get(split, split) for split in SPLITS}
    absent = [name for name in config.hub_splits.values() if name not in loaded]
    if absent or loaded.keys().isdisjoint(names.values()):
        wanted = ", ".join(absent or names.values())
        present = ", ".join(loaded)
        raise ConfigError(
            f"data.hub={config.hub}: has no split {wanted}, only "
            f"{present}; data.hub_splits={{train: NAME}} gives their names"
        )

    for split, name in names.items():
        if name in loaded:
            columns = _columns(loaded[name].flatten())
            write_table(target / f"{split}.parquet", columns)


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
        cause = " ".join(f"{error} {error.__cause__ or ''}".split())
        raise ConfigError(
            f"data.hub={config.hub}: {cause}; check data.hub (owner/name, or a folder of Parquet, "
            "Arrow, JSON lines or CSV), data.revision and data.hub_config"
        ) from error


def _columns(rows: Any) -> dict[str, list[Any]]:
    """Read all columns, with the names of classes."""
    columns: dict[str, list[Any]] = rows.with_format("arrow")[:].to_pydict()
    for name, feature in rows.features.items():
        if type(feature).__name__ != "ClassLabel":
            continue
        labels = [*feature.names, None]  # the last one, number -1, is no label
        numbers = columns[name]
        columns[name] = [None if number is None else labels[number] for number in numbers]
    return columns
