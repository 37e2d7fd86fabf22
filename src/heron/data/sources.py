"""Files of a data set: found in `paths.data` or the cache, downloaded, or generated.

A file with a pinned hash is used only when it has that hash.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import (
    atomic_open,
    fingerprint,
    git_blob,
    locked,
    sha256_file,
    stored_folder,
)
from heron.base.tables import read_table
from heron.base.terminal import say
from heron.data.config import JOIN, PHRASES, SPLITS, TRAIN, DataConfig, FileConfig, TextsConfig
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
    generated = _generate(config, cache_dir) if config.generator else {}
    if config.hub:
        from heron.data.hub_sets import hub_files  # start-up time

        generated = hub_files(config, data_dir, cache_dir)
    sources = inspect(config, data_dir, cache_dir)
    if not sources and not generated and not config.texts.sets:
        raise ConfigError("data.files is empty: name a file, data.files.train.path=FILE")
    paths = generated | _present(sources, config, cache_dir)
    if config.texts != TextsConfig() and (collect := find_format(config).collect):
        paths[TRAIN] = collect(config, paths, data_dir, cache_dir)
    return paths


def locate_phrases(config: DataConfig, data_dir: Path, cache_dir: Path) -> Path | None:
    """Find the list of linking phrases as `locate` does; None where none are removed."""
    if config.phrases == "none":
        return None
    alone = replace(config, files={PHRASES: config.files[PHRASES]}, join=None)
    source = inspect(alone, data_dir, cache_dir)
    return _present(source, config, cache_dir)[PHRASES]


def _present(sources: Mapping[str, Source], config: DataConfig, cache_dir: Path) -> dict[str, Path]:
    """Return the paths of the files, after downloading those that are missing."""
    downloads = cache_dir / "downloads"
    fix = "remove it to fetch it again, or data.verify=false"
    problems = [
        Problem(str(each.path), wrong_content(each.file, each.path), fix)
        for each in sources.values()
        if each.state is State.CHANGED
    ]
    if missing := fetch(sources, downloads):
        problems += [*missing, *_advice(config)]
    if problems:
        raise DataError(problems)
    return {
        name: downloads / source.file.path if source.state is State.MISSING else source.path
        for name, source in sources.items()
    }


def fetch(sources: Mapping[str, Source], folder: Path) -> list[Problem]:
    """Download the missing ones among `sources` into `folder`; a problem for each that failed."""
    problems = []
    for source in sources.values():
        if source.state is not State.MISSING:
            continue
        try:
            download(source.file, folder)
        except Exception as error:  # the library raises many kinds
            address = f"fetch {source.file.url} and put it there" if source.file.url else ""
            fix = (address, f"set paths.data to the folder that holds {source.file.path}")
            problems.append(Problem(str(source.path), f"missing; {error}", fix))
    return problems


def download(file: FileConfig, folder: Path) -> None:
    """Fetch `file.url` into `folder`; safe when several processes want the same file.

    Received bytes are kept in `<file>.part`, which the next attempt continues, in this process or a
    later one. The file appears only complete and verified.
    """
    from huggingface_hub.errors import HfHubHTTPError  # start-up time: most runs have their files
    from huggingface_hub.file_download import http_get

    target = folder / file.path
    if not file.url:
        raise ValueError("it has no address (a run's config.yaml keeps only those with a hash)")
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
                say(f"{target}: {len(read_table(target)):,} rows")
            say(f"{target}: its sha256 is {sha256_file(target)}")


def inspect(
    config: DataConfig, data_dir: Path, cache_dir: Path, further: bool = False
) -> dict[str, Source]:
    """Look for every file of a data set on this computer; files with pinned hashes are hashed.

    `further` adds the files of the release that this configuration does not read.
    """
    if data_dir.is_file():
        raise ConfigError(f"paths.data={data_dir}: a file; name the folder that holds data sets")
    files = config.split_files
    files |= {f"texts.{n}": file for n, file in enumerate(config.texts.files, 1)}
    used = {JOIN: config.join, PHRASES: config.phrases != "none"}
    files |= {n: file for n, file in config.files.items() if used.get(n, further)}
    found = {}
    for name, file in files.items():
        places = [data_dir / file.path, cache_dir / "downloads" / file.path]
        if not file.pinned:  # a user's own: relative to the working directory
            places.insert(0, Path(file.path).expanduser())
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            found[name] = Source(file, data_dir / file.path, State.MISSING)
        elif not config.verify or not file.pinned:
            found[name] = Source(file, path, State.UNPINNED)
        else:
            state = State.CHANGED if wrong_content(file, path) else State.VERIFIED
            found[name] = Source(file, path, state, sha256_file(path))
    return found


def wrong_content(file: FileConfig, path: Path) -> str:
    """Say how a file differs from the pinned one; empty where it does not."""
    size, kind, expected = path.stat().st_size, "sha256", file.sha256
    if expected:
        found = sha256_file(path)
    elif expected := file.git_blob:
        kind, found = "git blob", git_blob(path)
    if file.size not in (None, size) or (expected and found != expected):
        wanted = f"{expected}" + (f" ({file.size} bytes)" if file.size else "")
        return f"its {kind} is {found if expected else ''} ({size} bytes), expected {wanted}"
    return ""


def _advice(config: DataConfig) -> list[Problem]:
    """Say where files without an address come from, and which data set needs fewer files."""
    advice = []
    if config.homepage and any(file.url is None for file in config.files.values()):
        advice.append(f"files without an address: see {config.homepage}")
    if name := config.substitute:
        advice.append(f"heron train data={name} needs fewer files, heron data {name} lists them")
    what = "cannot be read without all of its files"
    return [Problem(f"data={config.name}", what, "; ".join(advice))] if advice else []


def _generate(config: DataConfig, cache_dir: Path) -> dict[str, Path]:
    """Write the built-in corpus, once per configuration and version of the generator."""
    import chronicle  # start-up time
    from chronicle.corpus import write
    from chronicle.settings import ChronicleConfig, SettingsError

    assert config.generator is not None
    options = asdict(config.generator) | {
        "task": config.task,
        "language": config.language,
        "class_weights": None,
    }
    weights = config.generator.class_weights
    try:
        settings = ChronicleConfig(**options)
        labels, key = settings.labels, settings.labels_key  # no labels: its rows have none
        order = config.label_order or list(labels)
        if labels and sorted(order) != sorted(labels):
            raise ConfigError(
                f"data.label_order={order}: data.task={config.task} with data.generator.{key}="
                f"{getattr(config.generator, key)} generates {', '.join(labels)}"
            )
        if weights and len(weights) != len(order):
            raise ConfigError(
                f"data.generator.class_weights={weights}: one number for each of {', '.join(order)}"
            )
        if weights:  # from the data set's order of classes to the generator's
            named = dict(zip(order, weights, strict=True))
            settings = replace(settings, class_weights=[named[label] for label in labels])
    except SettingsError as error:
        said = str(error).removeprefix("chronicle: ")
        raise ConfigError(f"data.generator: {said}") from None
    modules = sorted(Path(chronicle.__file__).parent.rglob("*.py"))
    key = fingerprint(asdict(settings), [sha256_file(module) for module in modules])
    folder = cache_dir / "chronicle" / key[:16]
    stored_folder(folder, lambda folder: write(settings, folder, atomic_open))
    return {split: folder / f"{split}.jsonl" for split in SPLITS}
