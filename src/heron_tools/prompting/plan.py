"""Number and cost of a run's requests; nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError
from heron.base.terminal import tracked
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks.config import Config
from heron_tools.prompting.answers import ModelRequest, Store, estimate_tokens
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


@dataclass
class _Planned:
    """The runs of one model."""

    config: Config  # of one of them
    runs: int = 0
    # Distinct requests by key, each with the most tokens of its answer.
    requests: dict[str, tuple[ModelRequest, int]] = field(default_factory=dict)


def plan(configs: Sequence[Config]) -> Table:
    """Count the calls, tokens and costs of runs, by model; nothing is sent.

    Args:
        configs: of the runs.

    Raises:
        ConfigError: a run asks no model.
        DataError: data are missing or wrong.
    """
    models: dict[str, _Planned] = {}
    translations: dict[str, ModelRequest] = {}  # by key, without those that are stored
    for config in tracked(configs, "planning", configs[0].trainer.enable_progress_bar):
        settings: PromptingConfig | None = config.prompting
        if settings is None:
            raise ConfigError(f"baseline={config.baseline.name} asks no model: nothing to plan")
        planned = models.setdefault(settings.model.name, _Planned(config))
        planned.runs += 1
        examples = load_run_data(config).examples
        system = fit_prompted(config, examples.get("train", []))
        translator = system.translator
        system.translator = None  # nothing is sent
        most_tokens = settings.sampling.max_tokens
        if settings.scoring == "likelihood":
            most_tokens = 0
        for split in asked_splits(config, list(examples)):
            for question in system.questions(examples[split], config):
                request = question.request
                planned.requests.setdefault(request.key, (request, most_tokens))
            if translator is not None:
                translations |= _missing_translations(translator, examples[split])

    rows = [_row(planned) for planned in models.values()]
    if translations:
        tokens = sum(map(estimate_tokens, translations.values()))
        rows.append(("translator", "", len(translations), "", f"~{tokens:,}", "", "-"))
    return Table("nothing is sent", _COLUMNS, rows, _NOTE)


def _row(planned: _Planned) -> tuple[Cell, ...]:
    """Lay out a model's row; questions with a stored answer cost nothing."""
    config = planned.config
    model = config.prompting.model
    stored = Store(Path(config.paths.cache), model.name).find(planned.requests)
    mark = "~"
    count_tokens = estimate_tokens
    if model.backend == "local":
        from heron_tools.prompting.local import LocalModel  # start-up time: torch

        with suppress(ConfigError):  # the model is not on this machine
            local_model = LocalModel(config, config.prompting)
            local_model.tokenizer  # noqa: B018 (it is loaded)
            mark = ""
            count_tokens = local_model.count_tokens

    calls = input_tokens = output_tokens = 0
    for key, (request, most_tokens) in planned.requests.items():
        if key not in stored:
            calls += 1
            input_tokens += count_tokens(request)
            output_tokens += most_tokens
    price = cost(model, input_tokens, output_tokens)
    return (
        model.name,
        planned.runs,
        calls,
        len(stored),
        f"{mark}{input_tokens:,}",
        f"{output_tokens:,}",
        "-" if price is None else Formatted(price, ",.2f"),
    )


def _missing_translations(
    translator: Translator, examples: Sequence[Example]
) -> dict[str, ModelRequest]:
    """List the rows' texts without a stored translation; answers are not known yet."""
    texts = []
    for example in examples:
        texts += [example.text, example.text_pair or ""]
    language = translator.settings.input or translator.home
    requests = {}
    for request in translator.requests(texts, translator.home, language):
        requests[request.key] = request
    for key in translator.store.find(requests):
        del requests[key]
    return requests
