"""What a run would ask, and what it would cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.progress import tracked
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks import BASELINES
from heron.tasks.config import Config
from heron_tools.prompting import BACKENDS
from heron_tools.prompting.answers import Request, Store
from heron_tools.prompting.backends import estimate_tokens
from heron_tools.prompting.system import PromptedModel, cost, fit_prompted
from heron_tools.prompting.translation import Translator

_COLUMNS = ("model", "runs", "calls", "stored", "input tokens", "output tokens", "cost in $")
_NOTE = (
    "calls: questions without a stored answer, equal ones once; tokens and cost of these calls. Of "
    "a translator: texts; where prompts are translated, their untranslated texts are counted. "
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
    texts: dict[str, str] = {}  # to translate, by key
    for config in tracked(configs, "planning", configs[0].trainer.enable_progress_bar):
        if "prompting" not in config.parts:
            raise ConfigError(f"baseline={config.baseline.name} asks no model: nothing to plan")
        model = config.prompting.model
        if model.name not in models:
            models[model.name] = _Calls(config)
        texts |= models[model.name].add(config)
    rows = [calls.row(name) for name, calls in models.items()]
    if texts:
        tokens = sum(map(estimate_tokens, texts.values()))
        rows.append(("translator", "", len(texts), "", f"~{tokens:,}", "", "-"))
    return Table("nothing is sent", _COLUMNS, tuple(rows), _NOTE)


class _Calls:
    """What several runs ask one model."""

    def __init__(self, config: Config):
        self.model = config.prompting.model
        self.backend = BACKENDS[self.model.backend](config, config.prompting)
        self.runs = self.stored = self.input_tokens = self.output_tokens = 0
        self.is_estimated = False
        self.seen: set[str] = set()

    def add(self, config: Config) -> dict[str, str]:
        """Add a run's questions; returns the texts to translate for it, by key."""
        self.runs += 1
        loaded = load_run_data(config)
        system = fit_prompted(config, loaded.examples.get("train", []))
        translator, system.translator = system.translator, None  # nothing is sent
        requests: dict[str, Request] = {}
        texts: dict[str, str] = {}
        for split in BASELINES["prompted"].splits(config, list(loaded.examples)):
            requests |= _requests(system, loaded.examples[split], config)
            if translator is not None:
                texts |= _texts(translator, loaded.examples[split])
        new = {key: each for key, each in requests.items() if key not in self.seen}
        self.seen |= new.keys()
        stored = Store(Path(config.paths.cache), self.model.name).find(new)
        self.stored += len(stored)
        for key, request in new.items():
            if key not in stored:
                self.input_tokens += self._count(request)
                likelihood = config.prompting.scoring == "likelihood"
                self.output_tokens += 0 if likelihood else config.prompting.sampling.max_tokens

        return texts

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


def _texts(translator: Translator, examples: Sequence[Example]) -> dict[str, str]:
    """List the texts of rows that are not translated yet; answers are not known."""
    to = translator.settings.input or translator.home
    texts = [text for row in examples for text in (row.text, row.text_pair or "")]
    asked = {each.key: each for each in translator.requests(texts, translator.home, to)}
    stored = translator.store.find(asked)
    return {k: each.messages[0]["content"] for k, each in asked.items() if k not in stored}


def _requests(
    system: PromptedModel, examples: Sequence[Example], config: Config
) -> dict[str, Request]:
    questions = system.questions(examples, config)
    every = [*questions, *system.calibrating(questions, config)]
    return {each.request.key: each.request for each in every}
