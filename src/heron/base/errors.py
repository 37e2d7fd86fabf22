"""Errors a user can act on: what is wrong, where, what is allowed, how to fix it.

Commands print the message of a `HeronError` and exit with 2; a traceback is a bug in heron.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from heron.base.secrets import redact

Fix = str | tuple[str, ...]  # one way to fix a problem, or several

# What makes a terminal do something or reorder a line: controls but for tab and line feed, and
# Unicode's embeddings, overrides and isolates. A closed isolate reorders nothing around it.
_CONTROLS = r"\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
_ACTIVE = re.compile(rf"(\u2068[^\n{_CONTROLS}]*\u2069)|[{_CONTROLS}]")
_NUMBER = re.compile(r"[: ](\d+)$")  # of a row, at the end of its place
_MACHINE_ERROR = re.compile(
    "memory|bad_alloc|new thread|no space left|file too large|quota exceeded|PytorchStreamWriter",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Show the control characters of a text that may come from anybody, as `\\u001b`."""
    return _ACTIVE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """Keep a closed isolate, and write one control character as its code."""
    return match[1] or f"\\u{ord(match[0]):04x}"


class HeronError(Exception):
    """A user's mistake or an unusable input; shown as its message alone, secrets masked."""

    def __str__(self) -> str:
        return visible(redact(super().__str__()))


class ConfigError(HeronError):
    """A configuration key, option or value that heron does not know or cannot combine."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one place."""

    where: str  # file and line (`train.csv:17`), or a guid
    what: str  # what is wrong, with the offending value
    fix: Fix = ""  # what is allowed, or the config key that changes it; or several to choose from

    @property
    def fixes(self) -> tuple[str, ...]:
        """All fixes, as a tuple."""
        fixes = (self.fix,) if isinstance(self.fix, str) else self.fix
        return tuple(fix for fix in fixes if fix)

    @property
    def number(self) -> int:
        """The line, or the row's number, that `where` ends with; 0 without one."""
        match = _NUMBER.search(self.where)
        return int(match[1]) if match else 0

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        fixes = "; ".join(self.fixes)
        return f"{text} ({fixes})" if fixes else text


class DataError(HeronError):
    """Rows or files that cannot be used: all problems in file order; `limit` of them are shown.

    A problem that several rows of a file share is one line, with the numbers of these rows. For a
    single problem, its fields may be given in place of the sequence.
    """

    def __init__(
        self, problems: Sequence[Problem] | str, what: str = "", fix: Fix = "", limit: int = 20
    ):
        if isinstance(problems, str):
            problems = [Problem(problems, what, fix)]
        self.problems = list(problems)

        groups = _group_alike(self.problems)
        lines = []
        for group in groups[:limit]:
            lines.append(_merged(group))

        others = sum(len(group) for group in groups[limit:])
        if others:
            lines.append(f"... and {others} more")
        if len(lines) > 1:
            lines.insert(0, f"{len(self.problems)} problems in the data:")
        super().__init__("\n".join(lines))


def _group_alike(problems: Sequence[Problem]) -> list[list[Problem]]:
    """Group problems that differ in the number of their row only, in the order of the first."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Problem]] = {}
    for problem in problems:
        file = _NUMBER.sub("", problem.where)
        key = (file, problem.what, problem.fixes)
        groups.setdefault(key, []).append(problem)
    return list(groups.values())


def _merged(problems: Sequence[Problem]) -> str:
    """Write problems that differ in their row only as one line."""
    first = problems[0]
    rows = list(dict.fromkeys(problem.number for problem in problems))
    if len(rows) == 1:
        return str(first)
    numbers = first_few([str(row) for row in rows[1:]])
    where = f"{first.where} and {len(rows) - 1:,} more ({numbers})"
    return str(Problem(where, first.what, first.fix))


def raise_all(problems: Sequence[Problem]) -> None:
    """Raise a DataError of all problems, if there are any."""
    if problems:
        raise DataError(problems)


def first_few(names: Sequence[str]) -> str:
    """Join the first three names; `...` stands for the others."""
    few = ", ".join(names[:3])
    return few if len(names) <= 3 else f"{few}, ..."


def os_error_text(error: OSError, words: Iterable[str]) -> str:
    """Describe an OSError, by the word (`key=value`) of a command that set the path, if any."""
    if error.filename is None or error.strerror is None:
        return str(error)
    path = Path(str(error.filename))
    for word in words:
        value = word.partition("=")[2]
        if value and path.is_relative_to(Path(value).expanduser()):
            text = f"{word}: {error.strerror}"
            return text if str(path) == value else f"{text} ({path})"
    text = f"{path}: {error.strerror}"
    return f"{text}; another: paths.runs= or out=" if path.parts[:1] == ("runs",) else text


def nearest(word: str, choices: Iterable[str], listed: bool = False) -> str:
    """Say ` Did you mean 'x' or 'y'?`, or list the choices when none is close (`listed`: always).

    A dotted choice is also close if its last part is the word (`lr`: `optim.lr`) or contains it
    (`epochs`: `trainer.max_epochs`).
    """
    choices = sorted(set(choices))
    by_small = {choice.lower(): choice for choice in choices}
    matches = get_close_matches(word.lower(), by_small, n=3, cutoff=0.6)
    close = [by_small[match] for match in matches]

    last = word.rpartition(".")[2]
    same_end = []
    same_part = []
    dotted = [choice for choice in choices if "." in choice]
    dotted.sort(key=lambda choice: -SequenceMatcher(None, word, choice).ratio())
    for choice in dotted:
        end = choice.rpartition(".")[2]
        if end == last:
            same_end.append(choice)
        elif last in end.split("_"):
            same_part.append(choice)

    proposals = list(dict.fromkeys([*same_end, *close, *same_part]))[:3]

    hint = ""
    if proposals:
        quoted = [f"'{choice}'" for choice in proposals]
        hint = " Did you mean " + " or ".join(quoted) + "?"
    is_helpful = not proposals and len(choices) <= 30
    if choices and (listed or is_helpful):
        return f"{hint} Allowed: {', '.join(choices)}."
    return hint


def first_line(text: object) -> str:
    """Shorten an error, or its text, to its first line; to the first two if a list begins there."""
    lines = str(text).strip().split("\n")
    count = 2 if lines[0].endswith(":") else 1
    return visible(" ".join(lines[:count]))


def is_machine_error(error: BaseException | None) -> bool:
    """Tell whether memory, disk or network failed, so that the same command may succeed next time.

    Libraries wrap such errors in others, so all causes are checked.
    """
    if error is None:
        return False
    if isinstance(error, OSError | MemoryError) or _MACHINE_ERROR.search(str(error)):
        return True
    return is_machine_error(error.__cause__ or error.__context__)
