"""The commands by name: heron's own, each a module and a help text here, and those of forks."""

from dataclasses import dataclass
from pathlib import Path

from heron.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Command:
    """One command of `heron`."""

    # Name of the module whose `run` gets the words after the command's and returns the exit code.
    module: str
    help: Path  # a text file; its first line is the command's summary
    resumes: bool = False  # whether the same command resumes after an interruption


# A fork's may have two words (`build trc`).
COMMANDS: Registry[Command] = Registry("command")
OWN = (
    *("train", "options", "predict", "evaluate", "score", "sweep", "report"),
    *("map", "compare", "data", "new", "demo"),
)
for _name in OWN:
    _help = Path(__file__).parent / "help" / f"{_name}.txt"
    COMMANDS.register(_name, Command(f"heron.commands.{_name}", _help, resumes=_name == "train"))
