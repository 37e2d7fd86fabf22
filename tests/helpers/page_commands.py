"""The commands that pages show, and a check of one as `heron` itself would read it.

Nothing is trained, read or downloaded: of `heron train` and `heron prompt` the first run is
composed and checked, all other commands stop when their options have been read.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from compositions import raw
from heron.base.errors import HeronError
from heron.cli import main
from heron.config import parsing
from heron.config.compose import explained, read_flags
from heron.config.constraints import all_keys
from heron.config.hydra_door import open_hydra
from heron.config.parsing import parse
from heron.config.words import PARSER
from heron.tasks.config import resolve
from heron_tools.prompting.command import spelt_out

FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`(heron [^`]+=[^`]+)`")
# What is printed by a command of the page, or by several: up to the next blank line.
MARKED = re.compile(r"^<!-- figures(?: ± (\S+))? of (heron .+?) -->\n((?:.+\n)+)", re.M)
FIGURE = re.compile(r"(?<![\w.])-?\d*\.\d+")
INDENTED = re.compile(r"^    (heron (?:.*\\\n)*.*)", re.M)


_READING: set[Any] = {parsing}  # modules that read the words of commands


class Read(Exception):  # noqa: N818
    """The options of a command have been read, and are right."""


def commands(page: Path) -> list[str]:
    """List what a page tells its reader to type: lines of its blocks, without comments."""
    text = page.read_text(encoding="utf-8")
    found = [block for language, block in FENCED.findall(text) if language == "bash"]
    found += INDENTED.findall(FENCED.sub("", text))
    lines = "\n".join(found).replace("\\\n", " ").splitlines()
    return _plain(lines)


def mentions(page: Path) -> list[str]:
    """List the commands with options in a page's prose; they may lack some."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return _plain(each.replace("\n", " ") for each in INLINE.findall(text))


def missing_figures(page: Path, run: Callable[[str], str]) -> list[str]:
    """List the figures of marked blocks that `run`, given their command, does not print.

    They may differ by the spread that the mark names, or else by rounding.
    """
    missing = []
    for spread, marked, block in MARKED.findall(page.read_text(encoding="utf-8")):
        printed = [float(each) for line in marked.split("; ") for each in FIGURE.findall(run(line))]
        for figure in FIGURE.findall(block):
            most = float(spread or 0.5 * 10.0 ** -len(figure.partition(".")[2])) + 1e-9
            if not any(abs(number - float(figure)) <= most for number in printed):
                missing.append(f"{figure}: {marked}")
    return missing


def _plain(lines: Iterable[str]) -> list[str]:
    """Remove comments, and the brackets of `<job>`."""
    plain = (re.sub(r"<(\w+)>", r"\1", line) for line in lines)
    found = (shlex.join(shlex.split(line, comments=True)) for line in plain)
    return list(dict.fromkeys(line for line in found if line))


def check(words: Sequence[str]) -> str:
    """Read the words after `heron`; returns what is wrong with them, or nothing."""
    name, *rest = [word for word in words if word != "..."]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        if name in ("train", "prompt") and "--help" not in rest:
            return _composed(rest if name == "train" else _prompted(rest))
        for word in rest:
            key = word.partition("=")[0]
            of_data = key.startswith("data.") and not key.startswith("data.files.")
            if of_data and key not in all_keys():
                return f"{word}: no such key"
        with _ending_at_parse():
            try:
                code = main([name, *rest])
            except Read:
                return ""
    return said.getvalue() if code else ""


@contextlib.contextmanager
def _ending_at_parse() -> Iterator[None]:
    """End commands once their words are read; a module imported meanwhile keeps no such parser."""
    for module in _READING:
        module.parse = _parsed
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if name != __name__ and getattr(module, "__dict__", {}).get("parse") is _parsed:
                _READING.add(module)
                module.parse = parse


def _parsed(schema: Any, values: Any, **named: Any) -> None:
    parse(schema, values, **named)
    raise Read


def _prompted(words: Sequence[str]) -> list[str]:
    own = ("tune", "dry_run", "rounds", "sample", "candidates", "out")
    return spelt_out([each for each in words if each.partition("=")[0] not in own])


def _composed(words: Sequence[str]) -> str:
    """Compose the first run of a command and check it."""
    if "-sc" in words:
        return ""
    # Hydra's plugins for launchers need not be installed.
    words = [word for word in words if not word.startswith(("hydra/launcher", "hydra.launcher"))]
    try:
        flags = read_flags(words)
        with explained(flags.overrides):
            points = [_first(each) for each in PARSER.parse_overrides(flags.overrides)]
            with open_hydra("train", flags.folders) as hydra:
                config, _ = raw(hydra, *points)
        resolve(config)
    except HeronError as error:
        return str(error)
    return ""


def _first(override: Any) -> str:
    """Take the first value of a sweep."""
    if not override.is_sweep_override():
        return str(override.input_line)
    if override.is_interval_sweep():
        return f"{override.key_or_group}={override.value().start}"
    return f"{override.key_or_group}={next(override.sweep_string_iterator())}"


def pages(root: Path) -> Iterator[Path]:
    """List the pages of the repository."""
    yield from sorted(root.glob("*.md"))
    for folder in ("docs", "experiments", "notebooks", "tests"):
        yield from sorted((root / folder).rglob("*.md"))
