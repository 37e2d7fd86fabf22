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
    group: str = "other commands"  # heading of `heron --help`, one of `GROUPS` or a new one


# A fork's may have two words (`build trc`).
COMMANDS: Registry[Command] = Registry("command")
TRAIN, LOOK, DATA, PAPERS, START = (
    "train and evaluate",
    "look at runs",
    "data",
    "papers",
    "start your own",
)
GROUPS = (TRAIN, LOOK, DATA, PAPERS, START)
_OWN_GROUPS = {
    TRAIN: ("train", "predict", "evaluate", "score", "compare", "sweep", "demo"),
    LOOK: ("report", "map"),
    DATA: ("data",),
    START: ("options", "new"),
}
OWN = tuple(name for names in _OWN_GROUPS.values() for name in names)
for _group, _names in _OWN_GROUPS.items():
    for _name in _names:
        _help = Path(__file__).parent / "help" / f"{_name}.txt"
        _command = Command(f"heron.commands.{_name}", _help, _name == "train", _group)
        COMMANDS.register(_name, _command)
