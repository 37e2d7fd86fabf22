"""`heron data`: which data sets there are, what is present, and how to get the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.cells import Table, show
from heron.base.columns import aligned, broken
from heron.base.errors import ConfigError, DataError
from heron.base.folders import data_sets, default_cache_dir, default_data_dir
from heron.base.terminal import print_lines
from heron.config.options import DataFolders, parse_with_data
from heron.data.config import PHRASES, TEST, TRAIN, VALIDATION, DataConfig, read_config
from heron.data.examples import count_repairs
from heron.data.readers import load_with_report
from heron.data.sources import Source, State, fetch, inspect
from heron.languages import get_language
from heron.tasks.task import task_of
from heron.training.overrides import configure

Shown = tuple[str, list[Table]]  # what is printed, and its tables for JSON
_SEEN = (
    "seen: the hash and numbers were taken from the file itself; unseen: nobody has read it with "
    "heron, and its numbers, if any, are what others say"
)


@dataclass
class Options(DataFolders):
    """`heron data [name] [fetch=true] [data.key=value ...]`, and where data are."""

    name: str | None = None
    fetch: bool = False


def run(arguments: Sequence[str]) -> int:
    """List all data sets, or show one in full (after `fetch=true`)."""
    options, words = parse_with_data(Options, arguments, first="name")
    data_dir = options.paths_data or default_data_dir()
    cache_dir = options.paths_cache or default_cache_dir()
    configs = data_sets()
    if options.name is None:
        if options.fetch:
            raise ConfigError(f"fetch=true needs a name: {', '.join(configs)}")
        if words:
            raise ConfigError(
                f"{words[0]} needs the name of a data set: heron data NAME {words[0]}"
            )
        text, tables = overview(map(read_config, configs.values()), data_dir, cache_dir)
        print_lines(text, tables=tables)
        return 0

    config = configure(options.name, words)
    if options.fetch:
        sources = inspect(config, data_dir, cache_dir, further=True)
        if problems := fetch(sources, data_dir):
            raise DataError(problems)
    text, tables = describe(config, data_dir, cache_dir)
    print_lines(text, tables=tables)
    return 0


def overview(configs: Iterable[DataConfig], data_dir: Path, cache_dir: Path) -> Shown:
    """List all data sets, one line each."""
    columns = ("name", "task", "language", "files present", "seen", "rows", "licence")
    rows = list[tuple[str | int | None, ...]]()
    for config in configs:
        sources = inspect(config, data_dir, cache_dir).values()
        present = sum(source.state in (State.VERIFIED, State.UNPINNED) for source in sources)
        files = "generated" if config.generator else f"{present} of {len(sources)}"
        files = "hub" if config.hub else files
        seen = sum(not source.file.unseen for source in sources)
        known = f"{seen} of {len(sources)}" if sources else ""
        licence = f"synthetic; {config.licence}" if config.synthetic else config.licence
        language = get_language(config.language).name
        size = _row_count(config)
        rows.append((config.name, config.task, language, files, known, size, licence))
    lines = aligned([columns, *(tuple(map(_text, row)) for row in rows)])
    lines += ["", f"looked in {data_dir} and {cache_dir}", _SEEN]
    return "\n".join(lines), [Table("data sets", columns, tuple(rows))]


def describe(config: DataConfig, data_dir: Path, cache_dir: Path) -> Shown:
    """Show one data set in full: what it is, each file's state, and its splits when readable."""
    sources = inspect(config, data_dir, cache_dir, further=True)
    needed = [source for name, source in sources.items() if not name.startswith(f"{TRAIN}_")]
    facts = {
        "task": config.task,
        "language": get_language(config.language).name,
        "synthetic": "yes: never report results on it as research" if config.synthetic else "no",
        "classes": ", ".join(config.label_order),
        "licence": config.licence,
        "citation": config.citation,
        "homepage": config.homepage,
        "rows": _row_count(config),
        **_reading(config),
    }
    known, title = [pair for pair in facts.items() if pair[1]], f"{config.name}: {config.title}"
    lines = [title, "", *aligned([(name, _text(value)) for name, value in known])]
    tables = [Table(title, ("what", "value"), tuple(known))]
    if config.findings:
        lines += ["", "known problems"]
        for name, finding in config.findings.items():
            lines.append("\n    ".join(broken(f"  {name}: {finding}", 4)))
        rows = tuple(config.findings.items())
        tables.append(Table("known problems", ("problem", "what"), rows))
    for name, source in sources.items():
        lines += ["", *_describe_file(name, source)]
    if sources:
        lines += ["", _SEEN]
        tables.append(_file_table(sources))
    if config.generator:
        lines += ["", "generated on first use; nothing to download"]
    elif all(source.state in (State.VERIFIED, State.UNPINNED) for source in needed):
        loaded = load_with_report(config, data_dir, cache_dir)
        columns = ("", "rows", "groups", "texts", *config.label_order)
        splits = list[tuple[Any, ...]]()
        for split, examples in loaded.examples.items():
            counts = Counter(example.label for example in examples)
            distinct = len({e.group for e in examples if e.group}), len({e.text for e in examples})
            numbers = [len(examples), *distinct, *(counts[label] for label in config.label_order)]
            splits.append((split, *numbers))
        shown = [tuple(map(_text, row)) for row in splits]
        lines += ["", "splits as a run sees them", *aligned([columns, *shown])]
        tables.append(Table("splits as a run sees them", ("split", *columns[1:]), tuple(splits)))
        counted = [(f"left out of {split}", counts) for split, counts in loaded.dropped.items()]
        repairs = {split: count_repairs(examples) for split, examples in loaded.examples.items()}
        counted += [(f"answers in {split}", counts) for split, counts in repairs.items() if counts]
        for what, reasons in counted:
            listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
            lines.append(f"{what}: {listed}")
            tables.append(Table(what, ("what", "rows"), tuple(reasons.items())))
    elif config.substitute:
        lines += ["", f"data={config.substitute} is substitute data with fewer files"]
    return "\n".join(lines), tables


def _reading(config: DataConfig) -> dict[str, str]:
    """List the settings that decide how files are read, by key."""
    columns = config.columns
    plans = {
        TEST: config.holdout,
        VALIDATION: config.validation,
    }  # in this order split off from train
    carved = [
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
        "carved": "; then ".join(carved),
    }


def _describe_file(name: str, source: Source) -> list[str]:
    file = source.file
    known = ((file.rows, "rows"), (file.size, "bytes"))
    title = [f"{name}: {source.state.value}", *(f"{n:,} {unit}" for n, unit in known if n)]
    title += ["unseen"] if file.unseen else ["seen"] if file.pinned or file.rows else []
    place = "put it at" if source.state is State.MISSING else "path"
    facts = {
        place: str(source.path),
        "fetch it from" if source.state is State.MISSING else "from": file.url or "",
        "sha256": file.sha256 or "",
        "git blob": file.git_blob or "",
        "found": source.sha256 if source.state is State.CHANGED else "",
    }
    rows = [[f"  {key}", value] for key, value in facts.items() if value]
    return [", ".join(title), *aligned(rows)]


def _file_table(sources: Mapping[str, Source]) -> Table:
    rows = tuple(
        (
            *(split, each.state.value, str(each.path), file.rows, file.size, file.url),
            *(file.sha256 or file.git_blob, "no" if file.unseen else "yes"),
        )
        for split, each in sources.items()
        for file in (each.file,)
    )
    columns = ("split", "state", "path", "rows", "bytes", "from", "hash", "seen")
    return Table("files", columns, rows)


def _row_count(config: DataConfig) -> int | None:
    if config.generator:
        return config.generator.size
    rows = [file.rows for file in config.split_files.values()]
    return sum(filter(None, rows)) if rows and all(rows) else None


def _text(cell: str | int | None) -> str:
    return "" if cell is None else show(cell)
