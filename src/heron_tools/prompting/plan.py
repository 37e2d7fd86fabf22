"""Number and cost of a run's requests; nothing is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.terminal import tracked
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks.config import Config
from heron_tools.prompting.answers import Request, Store, estimate_tokens
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.system import asked_splits, cost, fit_prompted
from heron_tools.prompting.translation import Translator

_COLUMNS = ("model", "runs", "calls", "stored", "input tokens", "output tokens", "cost in $")
_NOTE = (
    "calls: distinct requests without a stored answer; tokens and cost are theirs. A translator's "
    "calls are texts; prompts that will be translated are counted before translation. "
    "output tokens: at most. ~: estimated from bytes, because the model's tokenizer is not here. "
    "-: no price is known, see input_price and output_price of conf/model."
)


def plan(configs: Sequence[Config]) -> Table:
    """Count the calls, tokens and costs of runs, by model.

    Raises:
        ConfigError: a run asks no model.
        DataError: data are missing or wrong.
    """
    runs = Counter[str]()  # by model
    models: dict[str, Config] = {}  # by model: the configuration of one of its runs
    # By model and key: a request, and the most tokens of its answer.
    questions: dict[str, dict[str, tuple[Request, int]]] = {}
    texts: dict[str, Request] = {}  # texts to translate, by key
    for config in tracked(configs, "planning", configs[0].trainer.enable_progress_bar):
        settings: PromptingConfig | None = config.prompting
        if settings is None:
            raise ConfigError(f"baseline={config.baseline.name} asks no model: nothing to plan")
        name, loaded = settings.model.name, load_run_data(config).examples
        runs[name] += 1
        models.setdefault(name, config)
        system = fit_prompted(config, loaded.get("train", []))
        translator, system.translator = system.translator, None  # nothing is sent
        most = 0 if settings.scoring == "likelihood" else settings.sampling.max_tokens
        for split in asked_splits(config, list(loaded)):
            for each in system.questions(loaded[split], config):
                known = questions.setdefault(name, {})
                known.setdefault(each.request.key, (each.request, most))
            if translator is not None:
                texts |= _texts(translator, loaded[split])
    rows = [_row(config, runs[name], questions.get(name, {})) for name, config in models.items()]
    if texts:
        tokens = sum(map(estimate_tokens, texts.values()))
        rows.append(("translator", "", len(texts), "", f"~{tokens:,}", "", "-"))
    return Table("nothing is sent", _COLUMNS, tuple(rows), _NOTE)


def _row(config: Config, runs: int, asked: Mapping[str, tuple[Request, int]]) -> tuple[Cell, ...]:
    """Lay out a model's row; questions with a stored answer cost nothing."""
    model = config.prompting.model
    stored = Store(Path(config.paths.cache), model.name).find(asked)
    left = [each for key, each in asked.items() if key not in stored]
    about, count = "~", estimate_tokens
    if model.backend == "local":
        from heron_tools.prompting.local import LocalModel  # start-up time: torch

        with suppress(ConfigError):  # the model is not on this machine
            found = LocalModel(config, config.prompting)
            found.tokenizer  # noqa: B018 (it is loaded)
            about, count = "", found.count_tokens
    read, written = sum(count(request) for request, _ in left), sum(most for _, most in left)
    price = cost(model, read, written)
    shown = "-" if price is None else Formatted(price, ",.2f")
    return model.name, runs, len(left), len(stored), f"{about}{read:,}", f"{written:,}", shown


def _texts(translator: Translator, examples: Sequence[Example]) -> dict[str, Request]:
    """List the rows' texts without a stored translation; answers are not known yet."""
    to = translator.settings.input or translator.home
    texts = [text for row in examples for text in (row.text, row.text_pair or "")]
    asked = {each.key: each for each in translator.requests(texts, translator.home, to)}
    return {key: asked[key] for key in asked.keys() - translator.store.find(asked).keys()}
