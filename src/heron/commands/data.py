"""`heron data`: which data sets there are, what is present, and how to get the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError
from heron.base.folders import data_sets
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import DataFolders, parse_with_data
from heron.data.config import PHRASES, TEST, TRAIN, VALIDATION, DataConfig, read_config
from heron.data.examples import count_repairs
from heron.data.manifests import read_manifest
from heron.data.overrides import configure
from heron.data.readers import load_with_report
from heron.data.sources import Source, State, fetch, inspect
from heron.languages import get_language
from heron.tasks.task import task_of

_SEEN = (
    "seen: the hash and numbers were taken from the file itself; unseen: never read with heron; "
    "its numbers, if any, are published ones"
)


@dataclass
class Options(DataFolders):
    """`heron data [name] [fetch=true] [data.key=value ...]`, and where data are."""

    name: str | None = None
    fetch: bool = False


def run(arguments: Sequence[str]) -> int:
    """List all data sets, or show one in full (after `fetch=true`)."""
    options, words = parse_with_data(Options, arguments)
    data_dir, cache_dir = options.folders
    configs = data_sets()
    if options.name is None:
        if options.fetch or words:
            raise ConfigError(f"name a data set: heron data NAME {' '.join(arguments)}")
        print_tables([overview(map(read_config, configs.values()), data_dir, cache_dir)])
        print_lines(f"looked in {data_dir} and {cache_dir}")
        return 0

    config = configure(options.name, words)
    if options.fetch:
        sources = inspect(config, data_dir, cache_dir, further=True)
        if problems := fetch(sources, data_dir):
            raise DataError(problems)
    print_tables(describe(config, data_dir, cache_dir))
    return 0


def overview(configs: Iterable[DataConfig], data_dir: Path, cache_dir: Path) -> Table:
    """List all data sets, one line each."""
    rows: list[tuple[Cell, ...]] = []
    for config in configs:
        sources = inspect(config, data_dir, cache_dir)
        states = [source.state for source in sources.values()]
        present = sum(state in (State.VERIFIED, State.UNPINNED) for state in states)
        files = "generated" if config.generator else f"{present} of {len(sources)}"
        files = "hub" if config.hub else files
        seen = sum(not source.file.unseen for source in sources.values())
        known = f"{seen} of {len(sources)}" if sources else ""
        licence = f"synthetic; {config.licence}" if config.synthetic else config.licence
        language = get_language(config.language).name
        size = _row_count(config, sources)
        rows.append((config.name, config.task, language, files, known, size, licence))
    columns = ("name", "task", "language", "files present", "seen", "rows", "licence")
    return Table("data sets", columns, tuple(rows), _SEEN)


def describe(config: DataConfig, data_dir: Path, cache_dir: Path) -> list[Table]:
    """Show one data set in full: what it is, each file's state, and its splits when readable."""
    sources = inspect(config, data_dir, cache_dir, further=True)
    needed = [source for name, source in sources.items() if not name.startswith(f"{TRAIN}_")]
    readable = all(s.state in (State.VERIFIED, State.UNPINNED) for s in needed)
    note = _SEEN
    if config.generator:
        note = "generated on first use; nothing to download"
    elif config.substitute and not readable:
        note = f"data={config.substitute} is substitute data with fewer files; {_SEEN}"
    facts: dict[str, Cell] = {
        "task": config.task,
        "language": get_language(config.language).name,
        "synthetic": "yes: never report results on it as research" if config.synthetic else "no",
        "classes": ", ".join(config.label_order),
        "licence": config.licence,
        "citation": config.citation,
        "homepage": config.homepage,
        "rows": _row_count(config, sources),
        **_reading(config),
    }
    known = tuple((name, value) for name, value in facts.items() if value)
    tables = [
        Table(f"{config.name}: {config.title}", ("what", "value"), known, note),
        Table("known problems", ("problem", "what"), tuple(config.findings.items())),
        *(_file_table(name, source) for name, source in sources.items()),
    ]
    if readable and not config.generator:
        loaded = load_with_report(config, data_dir, cache_dir)
        splits: list[tuple[Cell, ...]] = []
        for split, examples in loaded.examples.items():
            counts = Counter(example.label for example in examples)
            distinct = len({e.group for e in examples if e.group}), len({e.text for e in examples})
            numbers = [len(examples), *distinct, *(counts[label] for label in config.label_order)]
            splits.append((split, *numbers))
        columns = ("split", "rows", "groups", "texts", *config.label_order)
        tables.append(Table("splits as a run sees them", columns, tuple(splits)))
        counted = [(f"left out of {split}", counts) for split, counts in loaded.dropped.items()]
        repairs = {split: count_repairs(examples) for split, examples in loaded.examples.items()}
        counted += [(f"answers in {split}", counts) for split, counts in repairs.items()]
        tables += [Table(what, ("what", "rows"), tuple(counts.items())) for what, counts in counted]
    return [table for table in tables if table.rows]


def _reading(config: DataConfig) -> dict[str, str]:
    """List the settings that decide how files are read, by key."""
    columns = config.columns
    plans = {
        TEST: config.holdout,
        VALIDATION: config.validation,
    }  # split off from train in this order
    held_out = [
        f"{split}: {plan.fraction:g} of train's rows by {plan.by}, seed {plan.seed}"
        for split, plan in plans.items()
        if plan.fraction and TRAIN in config.files and split not in config.files
    ]
    labels = [columns.label, *(f"{name} in {split}" for split, name in config.label_field.items())]
    aliases = [f"{alias} = {label}" for alias, label in config.label_aliases.items()]
    unlabelled = f"{config.unlabelled} rows labelled {' or '.join(config.no_label)}"
    task = task_of(config)
    pin = f"commit {config.revision}" if config.revision else ""
    return {
        "hub": " ".join(filter(None, (config.hub, config.hub_config, pin))),
        "format": config.format,
        "columns": f"{columns.text}, {columns.text_pair}" if columns.text_pair else columns.text,
        "label": ", ".join(labels) if task.has_classes else "",
        **task.about.reading(config),
        "aliases": ", ".join(aliases),
        "unlabelled": unlabelled if config.no_label else "",
        "normalize_case": config.normalize_case if columns.text_pair and task.has_classes else "",
        "phrases": config.phrases if PHRASES in config.files else "",
        "duplicates": config.duplicates if len(config.split_files) > 1 else "",
        "held out": "; then ".join(held_out),
    }


def _file_table(name: str, source: Source) -> Table:
    file, manifest = source.file, read_manifest(source.path)
    left_out = manifest.left_out if manifest else {}
    facts: Mapping[str, Cell] = {
        "path": str(source.path),
        "from": file.url,
        "built by": file.build,
        "made of": ", ".join(manifest.sources) if manifest else None,
        "left out": "; ".join(f"{reason}: {rows:,} rows" for reason, rows in left_out.items()),
        "rows": file.rows,
        "bytes": file.size,
        "sha256": file.sha256,
        "git blob": file.git_blob,
        "found": source.sha256 if source.state is State.CHANGED else None,
        "seen": "no" if file.unseen else "yes",
    }
    rows = tuple((what, value) for what, value in facts.items() if value)
    return Table(f"{name}: {source.state.value}", ("what", "value"), rows)


def _row_count(config: DataConfig, sources: Mapping[str, Source]) -> int | None:
    if config.generator:
        return config.generator.size
    rows = [sources[split].file.rows for split in config.split_files]
    return sum(filter(None, rows)) if rows and all(rows) else None
