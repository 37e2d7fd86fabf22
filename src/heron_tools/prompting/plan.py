"""What a run would ask, and what it would cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.progress import tracked
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks.config import Config
from heron_tools.prompting import BACKENDS
from heron_tools.prompting.answers import Request, Store
from heron_tools.prompting.backends import Backend, estimate_tokens
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.system import asked_splits, cost, fit_prompted
from heron_tools.prompting.translation import Translator

_COLUMNS = ("model", "runs", "calls", "stored", "input tokens", "output tokens", "cost in $")
_NOTE = (
    "calls: questions without a stored answer, equal ones once; tokens and cost of these calls. Of "
    "a translator: texts; where prompts are translated, their untranslated texts are counted. "
    "output tokens: at most. ~: estimated from bytes, because the model's tokenizer is not here. "
    "-: no price is known, see input_price and output_price of conf/model."
)


@dataclass
class _Asked:
    """What several runs ask one model."""

    backend: Backend
    model: ModelConfig
    runs: int = 0
    stored: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seen: set[str] = field(default_factory=set)  # keys of the questions
    is_estimated: bool = False

    def add(self, requests: Mapping[str, Request], settings: PromptingConfig, store: Store) -> None:
        """Add a run's questions; those that were there before cost nothing."""
        new = {key: each for key, each in requests.items() if key not in self.seen}
        stored = store.find(new)
        self.runs, self.stored = self.runs + 1, self.stored + len(stored)
        self.seen |= new.keys()
        left = [request for key, request in new.items() if key not in stored]
        self.input_tokens += sum(map(self._count, left))
        if settings.scoring != "likelihood":
            self.output_tokens += len(left) * settings.sampling.max_tokens

    def _count(self, request: Request) -> int:
        if not self.is_estimated:
            try:
                return self.backend.count_tokens(request)
            except ConfigError:  # the model is not on this machine
                self.is_estimated = True
        return sum(estimate_tokens(message["content"]) for message in request.messages)

    def row(self) -> tuple[Cell, ...]:
        """Lay out the model's row."""
        about = "~" if self.is_estimated or self.model.backend != "local" else ""
        tokens = f"{about}{self.input_tokens:,}", f"{self.output_tokens:,}"
        price = cost(self.model, self.input_tokens, self.output_tokens)
        shown = "-" if price is None else Formatted(price, ",.2f")
        calls = len(self.seen) - self.stored
        return self.model.name, self.runs, calls, self.stored, *tokens, shown


def plan(configs: Sequence[Config]) -> Table:
    """Count the calls, tokens and costs of runs, by model.

    Raises:
        ConfigError: a run asks no model.
        DataError: data are missing or wrong.
    """
    models: dict[str, _Asked] = {}
    texts: dict[str, str] = {}  # to translate, by key
    for config in tracked(configs, "planning", configs[0].trainer.enable_progress_bar):
        settings: PromptingConfig | None = config.prompting
        if settings is None:
            raise ConfigError(f"baseline={config.baseline.name} asks no model: nothing to plan")
        model, loaded = settings.model, load_run_data(config).examples
        system = fit_prompted(config, loaded.get("train", []))
        translator, system.translator = system.translator, None  # nothing is sent
        requests: dict[str, Request] = {}
        for split in asked_splits(config, list(loaded)):
            asked = system.questions(loaded[split], config)
            every = [*asked, *system.calibrating(asked, config)]
            requests |= {each.request.key: each.request for each in every}
            if translator is not None:
                texts |= _texts(translator, loaded[split])
        if model.name not in models:
            models[model.name] = _Asked(BACKENDS[model.backend](config, settings), model)
        models[model.name].add(requests, settings, Store(Path(config.paths.cache), model.name))
    rows = [model.row() for model in models.values()]
    if texts:
        tokens = sum(map(estimate_tokens, texts.values()))
        rows.append(("translator", "", len(texts), "", f"~{tokens:,}", "", "-"))
    return Table("nothing is sent", _COLUMNS, tuple(rows), _NOTE)


def _texts(translator: Translator, examples: Sequence[Example]) -> dict[str, str]:
    """List the texts of rows that are not translated yet; answers are not known."""
    to = translator.settings.input or translator.home
    texts = [text for row in examples for text in (row.text, row.text_pair or "")]
    asked = {each.key: each for each in translator.requests(texts, translator.home, to)}
    stored = translator.store.find(asked)
    return {k: each.messages[0]["content"] for k, each in asked.items() if k not in stored}
