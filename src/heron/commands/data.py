"""`heron data`: which data sets there are, what is present, and how to get the rest."""

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from heron.base.errors import ConfigError, DataError
from heron.base.folders import data_sets, default_cache_dir, default_data_dir
from heron.config.data import TEST, TRAIN, VALIDATION, DataConfig, read_config
from heron.config.options import DataFolders, parse_with_data
from heron.config.overrides import configure
from heron.data.download import fetch
from heron.data.examples import count_mended
from heron.data.readers import load_with_report
from heron.data.sources import Source, State, inspect
from heron.languages import get_language
from heron.tasks.task import task_of

_NARROWEST = 24  # characters; a last column with less room is printed below


@dataclass
class Options(DataFolders):
    """`heron data [name] [fetch=true] [card=FILE] [data.key=value ...]`, and where data are."""

    name: str | None = None
    fetch: bool = False
    card: Path | None = None  # where to write a card for the Hugging Face Hub


def run(arguments: Sequence[str]) -> int:
    """List all data sets, show one in full (after `fetch=true`), or write its card."""
    options, words = parse_with_data(Options, arguments, first="name")
    data_dir = options.paths_data or default_data_dir()
    cache_dir = options.paths_cache or default_cache_dir()
    configs = data_sets()
    if options.name is None:
        for word in ("fetch=true",) * options.fetch + ("card=FILE",) * bool(options.card):
            raise ConfigError(f"{word} needs a name: {', '.join(configs)}")
        if words:
            raise ConfigError(
                f"{words[0]} needs the name of a data set: heron data NAME {words[0]}"
            )
        print(overview([read_config(path) for path in configs.values()], data_dir, cache_dir))
        return 0

    config = configure(options.name, words)
    if options.fetch and (problems := fetch(inspect(config, data_dir, cache_dir), data_dir)):
        raise DataError(problems)
    if options.card is not None:
        from heron.audit.card import write_card  # start-up time

        print(write_card(config, data_dir, cache_dir, options.card))
        return 0
    print(describe(config, data_dir, cache_dir))
    return 0


def overview(configs: Sequence[DataConfig], data_dir: Path, cache_dir: Path) -> str:
    """List all data sets, one line each."""
    rows = [["name", "task", "language", "files present", "rows", "licence"]]
    for config in configs:
        sources = inspect(config, data_dir, cache_dir).values()
        present = sum(source.state in (State.VERIFIED, State.UNPINNED) for source in sources)
        files = "generated" if config.generator else f"{present} of {len(sources)}"
        files = "hub" if config.hub else files
        licence = f"synthetic; {config.licence}" if config.synthetic else config.licence
        language = get_language(config.language).name
        rows.append([config.name, config.task, language, files, _row_count(config), licence])
    return f"{_aligned(rows)}\n\nlooked in {data_dir} and {cache_dir}"


def describe(config: DataConfig, data_dir: Path, cache_dir: Path) -> str:
    """Show one data set in full: what it is, each file's state, and its splits when readable."""
    sources = inspect(config, data_dir, cache_dir)
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
    lines = [f"{config.name}: {config.title}", ""]
    lines += _aligned([[name, value] for name, value in facts.items() if value]).splitlines()
    if config.findings:
        lines += ["", "known problems"]
        lines += [f"  {name}: {finding}" for name, finding in config.findings.items()]
    for name, source in sources.items():
        lines += ["", *_describe_file(name, source)]
    if config.generator:
        lines += ["", "generated on first use; nothing to download"]
    elif all(source.state in (State.VERIFIED, State.UNPINNED) for source in sources.values()):
        loaded = load_with_report(config, data_dir, cache_dir)
        table = [["", "rows", "groups", "texts", *config.label_order]]
        for split, examples in loaded.examples.items():
            counts = Counter(example.label for example in examples)
            distinct = len({e.group for e in examples if e.group}), len({e.text for e in examples})
            numbers = [len(examples), *distinct, *(counts[label] for label in config.label_order)]
            table.append([split, *(f"{number:,}" for number in numbers)])
        lines += ["", "splits as a run sees them", _aligned(table)]
        counted = [(f"left out of {split}", counts) for split, counts in loaded.dropped.items()]
        mended = {split: count_mended(examples) for split, examples in loaded.examples.items()}
        counted += [
            (f"answers in {split}", repairs) for split, repairs in mended.items() if repairs
        ]
        for what, reasons in counted:
            listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
            lines.append(f"{what}: {listed}")
    elif config.substitute:
        lines += ["", f"data={config.substitute} can stand in and needs fewer files"]
    return "\n".join(lines)


def _reading(config: DataConfig) -> dict[str, str]:
    """List the settings that decide how files are read, by key."""
    columns, phrases = config.columns, config.phrases
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
        **task.reading(config),
        "aliases": ", ".join(aliases),
        "unlabelled": unlabelled if config.no_label else "",
        "normalize_case": config.normalize_case if columns.text_pair and task.has_classes else "",
        "phrases": f"remove {phrases.remove} of {phrases.file.path}" if phrases.file else "",
        "duplicates": config.duplicates if len(config.files) > 1 else "",
        "carved": "; then ".join(carved),
    }


def _describe_file(name: str, source: Source) -> list[str]:
    file = source.file
    known = ((file.rows, "rows"), (file.size, "bytes"))
    title = [f"{name}: {source.state.value}", *(f"{n:,} {unit}" for n, unit in known if n)]
    place = "put it at" if source.state is State.MISSING else "path"
    facts = {
        place: str(source.path),
        "fetch it from" if source.state is State.MISSING else "from": file.url or "",
        "sha256": file.sha256 or "",
        "found": source.sha256 if source.state is State.CHANGED else "",
    }
    rows = [[f"  {key}", value] for key, value in facts.items() if value]
    return [", ".join(title), *_aligned(rows).splitlines()]


def _row_count(config: DataConfig) -> str:
    if config.generator:
        return f"{config.generator.size:,}"
    rows = [file.rows for file in config.files.values()]
    return f"{sum(filter(None, rows)):,}" if rows and all(rows) else ""


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Pad every column but the last to its widest cell; on a terminal, break the last one."""
    *widths, _ = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    beside = sum(widths) + 2 * len(widths)
    indent = beside if room - beside >= _NARROWEST else 4
    lines = []
    for *cells, last in rows:
        padded = "".join(f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=True))
        if len(padded + last) > room:
            parts = wrap(last, room - indent, break_long_words=False, break_on_hyphens=False)
            last = f"\n{'':{indent}}".join(parts if indent == beside else ["", *parts])
        lines.append((padded + last).rstrip())
    return "\n".join(lines)
