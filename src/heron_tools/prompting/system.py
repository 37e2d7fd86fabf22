"""`baseline=prompted`: predictions by a prompted language model.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from heron.base.errors import ConfigError, nearest
from heron.base.files import fingerprint
from heron.base.terminal import say
from heron.data import TASKS
from heron.data.config import TRAIN
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.metrics.classification import score_task
from heron.tasks import Baseline
from heron.tasks.config import Config
from heron.tasks.predictions import ClassPredictions, Predictions
from heron.tasks.task import task_of
from heron_tools.prompting import BACKENDS
from heron_tools.prompting.answers import Backend, ModelAnswer, ModelRequest, Store, model_key
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.parsing import Parsed, parse_class, parse_text
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.prompting.shots import Shots, read_pool
from heron_tools.prompting.translation import Translator

LOG = "prompts.parquet"  # in the run folder: every prompt and answer


@dataclass(frozen=True)
class PromptedRow:
    """A row, the examples in its prompt, and the request."""

    example: Example
    shots: Sequence[Example]
    request: ModelRequest


@dataclass
class PromptedModel:
    """A language model that is asked about every row; see `heron.tasks.base.Baseline`."""

    config: Config
    settings: PromptingConfig
    pool: Sequence[Example] = ()
    log: dict[str, list[Any]] = field(default_factory=dict)  # columns of `LOG`
    # Access to the model, shared by systems of one model; None: built from the settings.
    backend: Backend | None = None

    translator: Translator | None = None  # None: nothing is translated

    def __post_init__(self) -> None:
        translation = self.settings.translation
        if translation.input or translation.output:
            self.translator = Translator(self.config, self.settings)
        if self.backend is None:
            self.backend = BACKENDS[self.settings.model.backend](self.config, self.settings)

    @cached_property
    def model_key(self) -> str:
        """See `heron_tools.prompting.answers.model_key`."""
        return model_key(self.settings)

    @property
    def notes(self) -> dict[str, Any]:
        """Counts of answers for `status.json`, and the model's name."""
        log = defaultdict(list, self.log)
        notes = {
            "model": self.settings.model.name,
            "answers": dict(Counter(log["finish"])),
            "rules": dict(Counter(log["rule"])),
            "input_tokens": sum(log["input_tokens"]),
            "output_tokens": sum(log["output_tokens"]),
        }
        costs = [cost for cost in log["cost"] if cost is not None]
        if costs:
            notes["cost"] = round(sum(costs), 6)
        return notes

    def questions(self, examples: Sequence[Example], config: Config) -> list[PromptedRow]:
        """Write the prompt of every row.

        Args:
            examples: the rows to ask about.
            config: of these rows, which may be another data set than the run's.

        Raises:
            ConfigError: a prompt cannot be rendered, or the pool has too few rows.
        """
        prompter = Prompter(config, self.settings.prompt)
        labels = config.data.label_order if prompter.answers else []
        shots = Shots(self.settings, self.pool, examples, labels, config.seed)
        if shots.left_out:
            say(f"{shots.left_out} rows of the pool are among the questions: never used")
        drawn = [shots.of(example) for example in examples]
        questions = []
        if self.translator is None:
            for row, row_shots in zip(examples, drawn, strict=True):
                questions.append(self._question(prompter, row, row_shots))
            return questions

        distinct: dict[str, Example] = {}  # all examples in prompts, by guid
        for row_shots in drawn:
            distinct.update((shot.guid, shot) for shot in row_shots)
        answers = [prompter.right_answer(shot) for shot in distinct.values()]
        if not prompter.answers:  # class names are words of the prompt
            answers = self.translator.translate_golds(answers)
        answer_of = dict(zip(distinct, answers, strict=True))
        translated = self.translator.translate_rows(list(distinct.values()))
        shot_of = {shot.guid: shot for shot in translated}
        rows = self.translator.translate_rows(examples)
        for row, row_shots in zip(rows, drawn, strict=True):
            translated = [shot_of[shot.guid] for shot in row_shots]
            answers = [answer_of[shot.guid] for shot in row_shots]
            questions.append(self._question(prompter, row, translated, answers))
        return questions

    def _question(
        self,
        prompter: Prompter,
        example: Example,
        shots: Sequence[Example],
        answers: Sequence[str] | None = None,
    ) -> PromptedRow:
        messages = tuple(prompter.messages(example, shots, answers))
        choices: tuple[str, ...] = ()
        seed: tuple[int, ...] = ()
        if self.settings.scoring != "generate":
            choices = tuple(prompter.answers.values())
        elif self.settings.sampling.temperature > 0:
            seed = (self.config.seed,)
        key = fingerprint(self.model_key, messages, choices, *seed)
        return PromptedRow(example, shots, ModelRequest(key, messages, choices))

    def ask(self, questions: Sequence[PromptedRow]) -> dict[str, ModelAnswer]:
        """Get an answer to every question, from the store or the model; by key."""
        assert self.backend is not None
        cache_dir = Path(self.config.paths.cache)
        store = Store(cache_dir, self.settings.model.name)
        requests = [question.request for question in questions]
        bar = self.config.trainer.enable_progress_bar
        return store.ask(requests, self.backend, "asking", bar)

    def predict(self, examples: Sequence[Example], config: Config) -> Predictions:
        """Ask about every row, and parse the answers; see `Baseline`.

        Args:
            examples: the rows.
            config: of these rows, which may be another data set than the run's.
        """
        questions = self.questions(examples, config)
        answer_of = self.ask(questions)
        answers = [answer_of[question.request.key] for question in questions]
        prompter = Prompter(config, self.settings.prompt)
        lead = prompter.lead
        from_texts = task_of(config).from_texts

        probabilities_RC = None
        if from_texts is not None:
            no_answer = str(prompter.words["unanswerable"])
            parsed = [parse_text(answer.text, lead, no_answer) for answer in answers]
        elif self.settings.scoring == "likelihood":
            classes = list(prompter.answers)
            parsed, probabilities_RC = _choose(answers, classes)
        else:
            parsed = [parse_class(answer.text, prompter.answers, lead) for answer in answers]
        self._note(questions, answers, parsed)

        texts = [reading.label or "" for reading in parsed]
        if from_texts is None:
            return NamedClasses(examples, texts, probabilities_RC)
        if self.translator is not None:
            texts = self.translator.translate_answers(texts)
        return from_texts(examples, texts, config)

    def _note(
        self,
        questions: Sequence[PromptedRow],
        answers: Sequence[ModelAnswer],
        parsed: Sequence[Parsed],
    ) -> None:
        """Add rows to `LOG`, and say how many answers count as wrong."""
        counts = Counter[str]()
        for question, answer, reading in zip(questions, answers, parsed, strict=True):
            row = {
                "guid": question.example.guid,
                "prompt": as_text(question.request.messages),
                "answer": answer.text,
                "parsed": reading.label or "",
                "rule": reading.rule,
                "finish": answer.finish,
                "shots": " ".join(shot.guid for shot in question.shots),
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
                "cost": cost(self.settings.model, answer.input_tokens, answer.output_tokens),
                "seconds": answer.seconds,
                "attempts": answer.attempts,
                "error": answer.error,
            }
            for name, value in row.items():
                self.log.setdefault(name, []).append(value)
            if answer.finish in ("filtered", "failed"):
                counts[answer.finish] += 1
            elif reading.label is None:
                counts["invalid"] += 1

        for kind in ("filtered", "failed", "invalid"):
            if counts[kind]:
                say(f"{counts[kind]} of {len(answers)} answers are {kind}: they count as wrong")

    def save(self, folder: Path) -> None:
        """Make an empty folder: the configuration has the prompt, and names the model."""
        folder.mkdir(parents=True, exist_ok=True)


class NamedClasses(ClassPredictions):
    """See `ClassPredictions`; an empty text is an answer without a class.

    Scores are over all labelled rows, where a row without a class is wrong. `valid_<score>` are
    over the rows with a class, and `valid_rows` is their number.
    """

    def scores(self, config: Config) -> dict[str, float]:
        """See the class."""
        scores = super().scores(config)
        rows = 0
        # Of the rows with a class.
        golds = []
        texts = []
        for gold, text in zip(self.golds, self.texts, strict=True):
            if gold is None:
                continue
            rows += 1
            if text:
                golds.append(gold)
                texts.append(text)

        scores["valid_rows"] = len(golds)
        if 0 < len(golds) < rows:
            task = config.task.name
            options = TASKS[task].score_options(config)
            valid = score_task(task, golds, texts, config.data.label_order, **options)
            for name, score in valid.items():
                if "/" not in name:
                    scores[f"valid_{name}"] = score
        return scores


def _choose(
    answers: Sequence[ModelAnswer], classes: Sequence[str]
) -> tuple[list[Parsed], NDArray[np.float32]]:
    """Choose the most probable class of each answer.

    Returns:
        The choices, and probabilities_RC; NaN where a prompt was too long for the model.
    """
    unknown = (np.nan,) * len(classes)
    logprobs_RC = np.asarray([answer.logprobs or unknown for answer in answers])
    probabilities_RC = np.asarray(softmax(logprobs_RC, axis=1), dtype=np.float32)
    parsed = []
    for answer, probabilities_C in zip(answers, probabilities_RC, strict=True):
        if answer.logprobs:
            label = classes[int(probabilities_C.argmax())]
            parsed.append(Parsed(label, "likelihood"))
        else:
            parsed.append(Parsed(None, "invalid"))
    return parsed, probabilities_RC


def fit_prompted(config: Config, examples: Sequence[Example]) -> PromptedModel:
    """Read the pool of shots; nothing is trained."""
    settings = config.prompting
    pool = read_pool(config, settings, examples)
    return PromptedModel(config, settings, pool)


def load_prompted(config: Config, folder: Path) -> PromptedModel:
    """Open a finished run's system, which asks the model about new texts.

    Raises:
        ConfigError: its prompts have examples, and the data they come from is not here.
    """
    examples: Sequence[Example] = []
    if config.prompting.shots:
        examples = load_run_data(config).examples.get(TRAIN, [])
    return fit_prompted(config, examples)


def tables(model: PromptedModel) -> Mapping[str, Any]:
    """List the tables that a run leaves besides its predictions."""
    return {LOG: model.log} if model.log else {}


def asked_splits(config: Config, splits: Sequence[str]) -> list[str]:
    """Choose the splits to ask about, those of `also_test` included.

    Raises:
        ConfigError: the data have no such split.
    """
    wanted = config.prompting.splits
    if missing := [split for split in wanted if split not in splits]:
        has = ", ".join(splits)
        raise ConfigError(f"prompting.splits={missing[0]}: {config.data.name} has only {has}")
    return [split for split in splits if split in wanted or "." in split]


def problems(config: Config) -> Iterable[str]:
    """List settings that cannot work."""
    settings = config.parts.get("prompting")
    task = task_of(config)
    if settings is None:
        yield "baseline=prompted needs a model and a prompt: model=NAME prompt=NAME"
    elif settings.model.backend not in BACKENDS:
        known = nearest(settings.model.backend, BACKENDS)
        yield f"prompting.model.backend={settings.model.backend}: no such backend.{known}"
    elif task.from_texts is None and not task.has_classes:
        yield f"baseline=prompted: task={config.task.name} cannot be prompted"
    elif settings.scoring != "generate" and not task.has_classes:
        yield (
            f"prompting.scoring={settings.scoring} chooses one of several answers; "
            f"task={config.task.name} has no classes: set prompting.scoring=generate"
        )


def cost(model: Any, input_tokens: int, output_tokens: int) -> float | None:
    """Estimate the cost of tokens.

    Args:
        model: with prices in US dollars per million tokens.
        input_tokens, output_tokens: their numbers.

    Returns:
        US dollars; None where no price is known.
    """
    if model.input_price is None or model.output_price is None:
        return None
    return float(input_tokens * model.input_price + output_tokens * model.output_price) / 1e6


BASELINE = Baseline(fit_prompted, load_prompted, (), problems, splits=asked_splits, tables=tables)
