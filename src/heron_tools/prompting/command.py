"""`heron prompt`: ask a language model, tune its prompt, export its prompts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge

from heron.base.terminal import begin, print_tables
from heron.commands.train import run as train
from heron.config.constraints import field_types
from heron.config.options import parse_options
from heron.config.words import PARSER, key_of, readable
from heron.tasks.config import Config
from heron.training.compose import Composition, compose, compose_and_run
from heron_tools.prompting.config import PromptingConfig

_GROUPS = ("model", "prompt")


@dataclass
class AskOptions:
    """Options of `heron prompt` itself; all other words are those of a run."""

    dry_run: bool = False  # count calls, tokens and costs, and send nothing


@dataclass
class TuneOptions:
    """Options of `heron prompt tune`; all other words are those of `heron prompt`."""

    rounds: Annotated[int, Ge(1)] = 7  # prompts to try after the first
    sample: Annotated[int, Ge(1)] = 30  # rows of validation in each round
    # prompts to try, options of `conf/prompt` or YAML files; empty: changes of lines at random
    candidates: list[str] = field(default_factory=list)
    out: Path = Path("runs/tune")  # a folder for `tune.md`, `tune.json` and `prompt.yaml`


@dataclass
class ExportOptions:
    """Options of `heron prompt export`; all other words are those of `heron prompt`."""

    out: Path  # a folder for a YAML and JSON lines of each split


def run(arguments: Sequence[str]) -> int:
    """Ask a model about every row of a split; returns the exit code."""
    from heron_tools.prompting.export import export
    from heron_tools.prompting.plan import plan
    from heron_tools.prompting.tuning import tune

    if arguments and arguments[0] == "tune":
        config, options = _composed(arguments[1:], TuneOptions)
        tune(config, options.rounds, options.sample, options.candidates, options.out)
        return 0
    if arguments and arguments[0] == "export":
        config, options = _composed(arguments[1:], ExportOptions)
        export(config, options.out)
        return 0
    own, words = parted(arguments, AskOptions)
    if not parse_options(AskOptions, own).dry_run:
        return train(words)
    begin()
    found: list[Composition] = []
    compose_and_run("train", words, found.append)
    print_tables([plan([each.resolved() for each in found])])
    return 0


def _composed(arguments: Sequence[str], kind: Any) -> tuple[Config, Any]:
    """Compose one run, and read an action's own options."""
    begin()
    own, words = parted(arguments, kind)
    options = parse_options(kind, own)
    return compose(words), options


def parted(arguments: Sequence[str], kind: Any) -> tuple[list[str], list[str]]:
    """Part an action's own options from the overrides of a run; `export` needs no model."""
    own = [word for word in arguments if word.partition("=")[0] in field_types(kind)]
    words = [word for word in arguments if word not in own]
    if kind is ExportOptions and "model" not in map(key_of, words):
        words += ["model=local", "model.name=none"]  # never loaded; it could be asked anything
    return own, spelt_out(words)


def spelt_out(words: Sequence[str]) -> list[str]:
    """Write `shots=2` as `prompting.shots=2`, choose `baseline=prompted`, and sweep over lists."""
    parts = field_types(PromptingConfig)
    written = []
    for word in words:
        key = word.partition("=")[0]
        is_own = key.split(".")[0] in parts and key not in _GROUPS
        written.append(f"prompting.{word}" if is_own else word)
    if not any(word.startswith(("baseline=", "experiment=")) for word in words):
        written.append("baseline=prompted")
    overrides = [readable(word) for word in written if not word.startswith("-")]
    swept = any(each.is_sweep_override() for each in PARSER.parse_overrides(overrides))
    return [*written, "-m"] if swept and "-m" not in written else written
