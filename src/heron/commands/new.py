"""`heron new`: begin a data set, language, head or another addition in a fork."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from heron.base.errors import ConfigError
from heron.base.folders import VARIABLE, named_with, shortened
from heron.base.terminal import print_lines
from heron.commands.scaffolds import KINDS, scaffold
from heron.config.parsing import parse_options


@dataclass
class NewOptions:
    """Options of `heron new`."""

    kind: str
    name: str
    fork: str = ""  # folder in `experiments/`; empty: the name
    task: str = ""  # the task that a data set or head is for; empty: nli
    like: str = ""  # for a new task: the fork whose task is copied, such as one with own tensors


def run(arguments: Sequence[str]) -> int:
    """Write the files, and print them with what to type next; returns the exit code."""
    names = [word for word in arguments if "=" not in word]
    rest = [word for word in arguments if "=" in word]
    if len(names) != 2:
        kinds = "|".join(KINDS)
        raise ConfigError(f"say what and a name: heron new {kinds} NAME [fork=FORK]")

    kind, name = names
    options = parse_options(NewOptions, [f"kind={kind}", f"name={name}", *rest])
    new = scaffold(options.kind, options.name, options.fork, options.task, options.like)

    commands = []
    named = named_with(new.start.parents[1])
    if named:
        commands.append(f"export {VARIABLE}={shlex.quote(named)}")

    for path in new.write():
        shown = shortened(path)
        print_lines(f"  {shown}", files=[path])
        if path.name.startswith("test_"):
            commands.append(f"python -m pytest {shown}")

    print("\nFill in what the comments say. Then:")
    for command in (*commands, *new.commands):
        print(f"  {command}")
    return 0
