"""What lies under `runs` (`heron runs`); a page to explore a sweep (`heron dashboard`)."""

from pathlib import Path

from heron.commands import COMMANDS, LOOK, Command

_MODULES = {"dashboard": "command", "runs": "runs", "runs clean": "clean"}
for _name, _module in _MODULES.items():
    _help = Path(__file__).with_name(f"{_name.split()[-1]}.txt")
    COMMANDS.register(_name, Command(f"{__name__}.{_module}", _help, group=LOOK))
