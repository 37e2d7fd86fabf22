"""`baseline=prompted`: predictions by a prompted language model.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
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
from heron_tools.prompting.answers import Answer, Backend, Request, Store, model_key
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.parsing import Parsed, parse_class, parse_text
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.prompting.shots import Shots, read_pool
from heron_tools.prompting.translation import Translator

LOG = "prompts.parquet"  # in the run folder: every prompt and answer


@dataclass(frozen=True)
class Question:
    """A row, the examples in its prompt, and the request."""

    example: Example
    shots: Sequence[Example]
    request: Request


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
        finish, rules = Counter(self.log.get("finish", ())), Counter(self.log.get("rule", ()))
        costs = [each for each in self.log.get("cost", ()) if each is not None]
        totals = {n: sum(self.log.get(n, ())) for n in ("input_tokens", "output_tokens")}
        return {
            "model": self.settings.model.name,
            "answers": dict(finish),
            "rules": dict(rules),
            **totals,
            **({"cost": round(sum(costs), 6)} if costs else {}),
        }

    def questions(self, examples: Sequence[Example], config: Config) -> list[Question]:
        """Write the prompt of every row."""
        prompter = Prompter(config, self.settings.prompt)
        labels = config.data.label_order if prompter.answers else []
        shots = Shots(self.settings, self.pool, examples, labels, config.seed)
        if shots.left_out:
            say(f"{shots.left_out} rows of the pool are among the questions: never used")
        drawn = [shots.of(each) for each in examples]
        if self.translator is None:
            return [self._question(prompter, *pair) for pair in zip(examples, drawn, strict=True)]
        distinct = {shot.guid: shot for each in drawn for shot in each}
        answers = [prompter.right_answer(shot) for shot in distinct.values()]
        if not prompter.answers:  # class names are words of the prompt
            answers = self.translator.shown(answers)
        asked = self.translator.asked(list(distinct.values()))
        known = dict(zip(distinct, zip(asked, answers, strict=True), strict=True))
        return [
            self._question(prompter, row, *zip(*(known[shot.guid] for shot in each), strict=True))
            for row, each in zip(self.translator.asked(examples), drawn, strict=True)
        ]

    def _question(
        self,
        prompter: Prompter,
        example: Example,
        shots: Sequence[Example] = (),
        answers: Sequence[str] | None = None,
    ) -> Question:
        choices: tuple[str, ...] = ()
        if self.settings.scoring != "generate":
            choices = tuple(prompter.answers.values())
        messages = tuple(prompter.messages(example, shots, answers))
        is_drawn = self.settings.scoring == "generate" and self.settings.sampling.temperature > 0
        seed = (self.config.seed,) if is_drawn else ()
        key = fingerprint(self.model_key, messages, choices, *seed)
        return Question(example, shots, Request(key, messages, choices))

    def ask(self, questions: Sequence[Question]) -> dict[str, Answer]:
        """Get an answer to every question, from the store or the model; by key."""
        assert self.backend is not None
        store = Store(Path(self.config.paths.cache), self.settings.model.name)
        requests = [each.request for each in questions]
        return store.ask(requests, self.backend, "asking", self.config.trainer.enable_progress_bar)

    def predict(self, examples: Sequence[Example], config: Config) -> Predictions:
        """See `Baseline`."""
        questions = self.questions(examples, config)
        answers = self.ask(questions)
        given = [answers[each.request.key] for each in questions]
        prompter = Prompter(config, self.settings.prompt)
        from_texts, lead, probabilities_RC = task_of(config).from_texts, prompter.lead, None
        if from_texts is not None:
            none = str(prompter.words["unanswerable"])
            parsed = [parse_text(answer.text, lead, none) for answer in given]
        elif self.settings.scoring == "likelihood":
            # NaN where a prompt was too long for the model
            nothing = [np.nan] * len(config.data.label_order)
            logprobs_RC = np.asarray([each.logprobs or nothing for each in given])
            probabilities_RC = np.asarray(softmax(logprobs_RC, axis=1), dtype=np.float32)
            names = list(prompter.answers)
            parsed = [
                Parsed(names[int(shares_C.argmax())], "likelihood")
                if answer.logprobs
                else Parsed(None, "invalid")
                for answer, shares_C in zip(given, probabilities_RC, strict=True)
            ]
        else:
            parsed = [parse_class(answer.text, prompter.answers, lead) for answer in given]
        self._note(questions, given, parsed)
        if from_texts is None:
            return NamedClasses(examples, [each.label or "" for each in parsed], probabilities_RC)
        texts = [each.label or "" for each in parsed]
        if self.translator is not None:
            texts = self.translator.answered(texts)
        return from_texts(examples, texts, config)

    def _note(
        self, questions: Sequence[Question], answers: Sequence[Answer], parsed: Sequence[Parsed]
    ) -> None:
        """Add rows to `LOG`, and say how many answers count as wrong."""
        model = self.settings.model
        for question, answer, read in zip(questions, answers, parsed, strict=True):
            row = {
                "guid": question.example.guid,
                "prompt": as_text(question.request.messages),
                "answer": answer.text,
                "parsed": read.label or "",
                "rule": read.rule,
                "finish": answer.finish,
                "shots": " ".join(shot.guid for shot in question.shots),
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
                "cost": cost(model, answer.input_tokens, answer.output_tokens),
                "seconds": answer.seconds,
                "attempts": answer.attempts,
                "error": answer.error,
            }
            for name, value in row.items():
                self.log.setdefault(name, []).append(value)
        counts = Counter(each.finish for each in answers if each.finish in ("filtered", "failed"))
        counts["invalid"] = sum(each.label is None for each in parsed) - counts.total()
        for kind, count in counts.items():
            if count > 0:
                say(f"{count} of {len(answers)} answers are {kind}: they count as wrong")

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
        task, classes, scores = config.task, config.data.label_order, super().scores(config)
        rows = [pair for pair in zip(self.golds, self.texts, strict=True) if pair[0] is not None]
        valid = [pair for pair in rows if pair[1]]
        scores["valid_rows"] = len(valid)
        if valid and len(valid) < len(rows):
            gold, given = ([str(each) for each in column] for column in zip(*valid, strict=True))
            options = TASKS[task.name].score_options(config)
            own = score_task(task.name, gold, given, classes, **options)
            scores |= {f"valid_{name}": own[name] for name in own if "/" not in name}
        return scores


def fit_prompted(config: Config, examples: Sequence[Example]) -> PromptedModel:
    """Read the pool of shots; nothing is trained."""
    return PromptedModel(config, config.prompting, read_pool(config, config.prompting, examples))


def load_prompted(config: Config, folder: Path) -> PromptedModel:
    """Open a finished run's system, which asks the model about new texts.

    Raises:
        ConfigError: its prompts have examples, and the data they come from is not here.
    """
    own = load_run_data(config).examples.get(TRAIN, []) if config.prompting.shots else []
    return fit_prompted(config, own)


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
    settings, task = config.parts.get("prompting"), task_of(config)
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
    """Estimate the cost of tokens in US dollars; None where no price is known."""
    if model.input_price is None or model.output_price is None:
        return None
    return float(input_tokens * model.input_price + output_tokens * model.output_price) / 1e6


BASELINE = Baseline(fit_prompted, load_prompted, (), problems, splits=asked_splits, tables=tables)
