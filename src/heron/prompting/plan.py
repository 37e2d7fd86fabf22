"""What a run would ask, and what it would cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.terminal import tracked
from heron.config.registries import BASELINES
from heron.config.schema import Config
from heron.data.readers import load_run_data
from heron.prompting.answers import Request, Store
from heron.prompting.backends import BACKENDS, estimate_tokens
from heron.prompting.system import PromptedModel, cost, fit_prompted

_COLUMNS = ("model", "runs", "calls", "stored", "input tokens", "output tokens", "cost in $")
_NOTE = (
    "calls: questions without a stored answer, equal ones once; tokens and cost of these calls. "
    "output tokens: at most. ~: estimated from bytes, because the model's tokenizer is not here. "
    "-: no price is known, see input_price and output_price of conf/model."
)


def plan(configs: Sequence[Config]) -> Table:
    """Count the calls, tokens and costs of runs, by model.

    Raises:
        ConfigError: a run asks no model.
        DataError: data are missing or wrong.
    """
    models: dict[str, _Calls] = {}
    for config in tracked(configs, "planning", configs[0].trainer.progress):
        if config.prompting is None:
            raise ConfigError(f"baseline={config.baseline.name} asks no model: nothing to plan")
        model = config.prompting.model
        models.setdefault(model.name, _Calls(config)).add(config)
    rows = [calls.row(name) for name, calls in models.items()]
    return Table("nothing is sent", _COLUMNS, tuple(rows), _NOTE)


class _Calls:
    """What several runs ask one model."""

    def __init__(self, config: Config):
        self.model = config.prompting.model
        self.backend = BACKENDS[self.model.backend](config, config.prompting)
        self.runs = self.stored = self.input_tokens = self.output_tokens = 0
        self.is_estimated = False
        self.seen: set[str] = set()

    def add(self, config: Config) -> None:
        """Add a run's questions."""
        self.runs += 1
        loaded = load_run_data(config)
        system = fit_prompted(config, loaded.examples.get("train", []))
        requests: dict[str, Request] = {}
        for split in BASELINES["prompted"].splits(config, list(loaded.examples)):
            requests |= _requests(system, loaded.examples[split], config)
        new = {key: each for key, each in requests.items() if key not in self.seen}
        self.seen |= new.keys()
        stored = Store(Path(config.paths.cache), self.model.name).find(new)
        self.stored += len(stored)
        for key, request in new.items():
            if key not in stored:
                self.input_tokens += self._count(request)
                likelihood = config.prompting.scoring == "likelihood"
                self.output_tokens += 0 if likelihood else config.prompting.sampling.max_tokens

    def _count(self, request: Request) -> int:
        if not self.is_estimated:
            try:
                return self.backend.count_tokens(request)
            except ConfigError:  # the model is not on this machine
                self.is_estimated = True
        return sum(estimate_tokens(message["content"]) for message in request.messages)

    def row(self, name: str) -> tuple[Cell, ...]:
        """Lay out the model's row."""
        about = "~" if self.is_estimated or self.model.backend != "local" else ""
        tokens = f"{about}{self.input_tokens:,}", f"{self.output_tokens:,}"
        price = cost(self.model, self.input_tokens, self.output_tokens)
        calls = len(self.seen) - self.stored
        shown = "-" if price is None else Formatted(price, ",.2f")
        return name, self.runs, calls, self.stored, *tokens, shown


def _requests(system: PromptedModel, examples: Iterable, config: Config) -> dict[str, Request]:
    questions = system.questions(list(examples), config)
    every = [*questions, *system.calibrating(questions, config)]
    return {each.request.key: each.request for each in every}
