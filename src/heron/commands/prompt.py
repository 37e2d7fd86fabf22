"""`heron prompt`: ask a language model, tune its prompt, export its prompts."""

from collections.abc import Sequence

from heron.base.errors import ConfigError
from heron.base.registry import on_demand
from heron.base.terminal import begin, print_tables
from heron.commands.train import run as train
from heron.config.compose import Composition, compose_and_run
from heron.config.constraints import field_types
from heron.config.prompting import PromptingConfig
from heron.config.words import PARSER, readable

# Start-up time: each loads only what it needs.
_plan = on_demand("heron.prompting.plan:plan")
_actions = {
    "tune": on_demand("heron.prompting.tuning:tune"),
    "export": on_demand("heron.prompting.export:export"),
}
_GROUPS = ("model", "prompt")
_DRY_RUN = "dry_run="


def run(arguments: Sequence[str]) -> int:
    """Ask a model about every row of a split; returns the exit code."""
    if arguments and arguments[0] in _actions:
        return _act(arguments[0], arguments[1:])
    words = [word for word in arguments if not word.startswith(_DRY_RUN)]
    if words == list(arguments) or arguments[-1] == "dry_run=false":
        return train(spelt_out(words))
    begin()
    found: list[Composition] = []
    compose_and_run("train", spelt_out(words), found.append)
    print_tables([_plan([each.resolved() for each in found])])
    return 0


def _act(name: str, arguments: Sequence[str]) -> int:
    begin()
    own = [word for word in arguments if word.partition("=")[0] in ("out", "rounds", "sample")]
    found: list[Composition] = []
    compose_and_run("train", spelt_out([w for w in arguments if w not in own]), found.append)
    if len(found) != 1:
        raise ConfigError(f"heron prompt {name} takes one model and one prompt, not a sweep")
    options = dict(word.split("=", 1) for word in own)
    _actions[name](found[0].resolved(), **options)
    return 0


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
