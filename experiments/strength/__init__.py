"""Strength: recipes and curricula compared at one encoder (`heron strength`)."""

from pathlib import Path

from heron.commands import COMMANDS, PAPERS, Command

_HELP = Path(__file__).with_name("strength.txt")
COMMANDS.register(
    "strength", Command("heron_forks.strength.command", _HELP, resumes=True, group=PAPERS)
)
