"""`heron data`: which data sets there are, what is present, and how to get the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Cell, Row, Table
from heron.base.errors import ConfigError, raise_all
from heron.base.folders import data_sets
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import DataFolders, parse_with_data
from heron.data.config import PHRASES, TEST, TRAIN, VALIDATION, DataConfig, read_config
from heron.data.examples import count_repairs
from heron.data.manifests import read_manifest
from heron.data.overrides import configure
from heron.data.readers import Loaded, load_with_report
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

    if options.name is None:
        if options.fetch or words:
            typed = " ".join(arguments)
            raise ConfigError(f"name a data set: heron data NAME {typed}")

        configs = [read_config(path) for path in data_sets().values()]
        print_tables([overview(configs, data_dir, cache_dir)])
        print_lines(f"looked in {data_dir} and {cache_dir}")
        return 0

    config = configure(options.name, words)
    if options.fetch:
        sources = inspect(config, data_dir, cache_dir, further=True)
        raise_all(fetch(sources, data_dir))

    print_tables(describe(config, data_dir, cache_dir))
    return 0


def overview(configs: Iterable[DataConfig], data_dir: Path, cache_dir: Path) -> Table:
    """List all data sets, one line each."""
    rows = []
    for config in configs:
        sources = inspect(config, data_dir, cache_dir)
        count = len(sources)
        present = sum(_is_present(source) for source in sources.values())
        seen = sum(not source.file.unseen for source in sources.values())

        if config.hub:
            files = "hub"
        elif config.generator:
            files = "generated"
        else:
            files = f"{present} of {count}"

        licence = config.licence
        if config.synthetic:
            licence = f"synthetic; {licence}"

        rows.append(
            (
                config.name,
                config.task,
                get_language(config.language).name,
                files,
                f"{seen} of {count}" if sources else "",
                _row_count(config, sources),
                licence,
            )
        )

    columns = ("name", "task", "language", "files present", "seen", "rows", "licence")
    return Table("data sets", columns, rows, _SEEN)


def _is_present(source: Source) -> bool:
    return source.state in (State.VERIFIED, State.UNPINNED)


def describe(config: DataConfig, data_dir: Path, cache_dir: Path) -> list[Table]:
    """Show one data set in full: what it is, each file's state, and its splits when readable."""
    sources = inspect(config, data_dir, cache_dir, further=True)
    needed = [source for name, source in sources.items() if not name.startswith(f"{TRAIN}_")]
    readable = all(map(_is_present, needed))

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
    title = f"{config.name}: {config.title}"
    findings = tuple(config.findings.items())
    tables = [
        _known_facts(title, facts, note),
        Table("known problems", ("problem", "what"), findings),
    ]

    for name, source in sources.items():
        tables.append(_file_table(name, source))

    if readable and not config.generator:
        loaded = load_with_report(config, data_dir, cache_dir)
        tables += _split_tables(config, loaded)

    return [table for table in tables if table.rows]


def _known_facts(title: str, facts: Mapping[str, Cell], note: str = "") -> Table:
    """Make a table of the facts that have a value."""
    rows = tuple((name, value) for name, value in facts.items() if value)
    return Table(title, ("what", "value"), rows, note)


def _split_tables(config: DataConfig, loaded: Loaded) -> list[Table]:
    """Count the rows of each split, those that are left out and answers that are repaired."""
    rows: list[Row] = []
    for split, examples in loaded.examples.items():
        groups = {example.group for example in examples if example.group}
        texts = {example.text for example in examples}
        labels = Counter(example.label for example in examples)

        row: list[Cell] = [split, len(examples), len(groups), len(texts)]
        for label in config.label_order:
            row.append(labels[label])
        rows.append(row)

    columns = ("split", "rows", "groups", "texts", *config.label_order)
    tables = [Table("splits as a run sees them", columns, rows)]

    for split, counts in loaded.dropped.items():
        title = f"left out of {split}"
        tables.append(_count_table(title, counts))

    for split, examples in loaded.examples.items():
        title = f"answers in {split}"
        repairs = count_repairs(examples)
        tables.append(_count_table(title, repairs))

    return tables


def _count_table(title: str, counts: Mapping[str, int]) -> Table:
    return Table(title, ("what", "rows"), tuple(counts.items()))


def _reading(config: DataConfig) -> dict[str, str]:
    """List the settings that decide how files are read, by key."""
    columns = config.columns
    held_out = []
    if TRAIN in config.files:
        # In this order.
        for split, plan in ((TEST, config.holdout), (VALIDATION, config.validation)):
            if plan.fraction and split not in config.files:
                share = f"{plan.fraction:g} of train's rows by {plan.by}"
                held_out.append(f"{split}: {share}, seed {plan.seed}")

    labels = [columns.label]
    for split, name in config.label_field.items():
        labels.append(f"{name} in {split}")

    aliases = [f"{alias} = {label}" for alias, label in config.label_aliases.items()]

    unlabelled = ""
    if config.no_label:
        names = " or ".join(config.no_label)
        unlabelled = f"{config.unlabelled} rows labelled {names}"

    hub = [config.hub, config.hub_config]
    if config.revision:
        hub.append(f"commit {config.revision}")

    task = task_of(config)
    is_pair = bool(columns.text_pair)
    return {
        "hub": " ".join(name for name in hub if name),
        "format": config.format,
        "columns": f"{columns.text}, {columns.text_pair}" if is_pair else columns.text,
        "label": ", ".join(labels) if task.has_classes else "",
        **task.about.reading(config),
        "aliases": ", ".join(aliases),
        "unlabelled": unlabelled,
        "normalize_case": config.normalize_case if is_pair and task.has_classes else "",
        "phrases": config.phrases if PHRASES in config.files else "",
        "duplicates": config.duplicates if len(config.split_files) > 1 else "",
        "held out": "; then ".join(held_out),
    }


def _file_table(name: str, source: Source) -> Table:
    """Show the state of one file, where it comes from, and how it is recognised."""
    file = source.file
    manifest = read_manifest(source.path)

    made_of = ""
    left_out = ""
    if manifest:
        made_of = ", ".join(manifest.sources)
        reasons = [f"{reason}: {rows:,} rows" for reason, rows in manifest.left_out.items()]
        left_out = "; ".join(reasons)

    facts: Mapping[str, Cell] = {
        "path": str(source.path),
        "from": file.url,
        "built by": file.build,
        "made of": made_of,
        "left out": left_out,
        "rows": file.rows,
        "bytes": file.size,
        "sha256": file.sha256,
        "git blob": file.git_blob,
        "found": source.sha256 if source.state is State.CHANGED else None,
        "seen": "no" if file.unseen else "yes",
    }
    return _known_facts(f"{name}: {source.state.value}", facts)


def _row_count(config: DataConfig, sources: Mapping[str, Source]) -> int | None:
    """Count the rows of all splits; None where those of a file are unknown."""
    if config.generator:
        return config.generator.size

    total = 0
    for split in config.split_files:
        rows = sources[split].file.rows
        if not rows:
            return None
        total += rows

    return total or None
