"""Requests to a model, its answers, and the store that keeps each answer once.

An answer is stored under the hash of all that can change it (model, revision, prompt, sampling,
scoring), in `<paths.cache>/answers/<model>.sqlite`, as soon as it arrives. A second run therefore
sends nothing, and a killed run loses no answer.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from heron.base.files import fingerprint, locked
from heron.base.terminal import tracked
from heron.data.hub import identity
from heron.models.config import EncoderConfig
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.prompts import Message

_TABLE = "create table if not exists answers (key text primary key, value text)"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model."""

    key: str  # hash of all that can change the answer
    messages: tuple[Message, ...]
    choices: tuple[str, ...] = ()  # with `likelihood`: the answers to score


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer."""

    text: str = ""  # generated text; with `likelihood`, the most probable choice
    # `stop`, `length` (cut at `max_tokens`), `filtered` (refused by a filter of the server), or
    # `failed` (no answer after all attempts; it is not stored)
    finish: str = "stop"
    logprobs: tuple[float, ...] = ()  # with `likelihood`: one per choice, natural logarithm
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    attempts: int = 1
    error: str = ""  # of a failed request, the last error


# The keys of requests with their answers, as they arrive.
KeyedAnswers = Iterator[tuple[str, ModelAnswer]]


class Backend(Protocol):
    """Answers each request once, in any order."""

    def answer(self, requests: Sequence[ModelRequest]) -> KeyedAnswers:
        """Yield the key of a request and its answer as soon as it arrives.

        Raises:
            ConfigError: an error that a retry cannot fix, such as a wrong key or model.
        """


def estimate_tokens(request: ModelRequest) -> int:
    """Estimate tokens from UTF-8 bytes: about four per token in any script."""
    tokens = 0
    for message in request.messages:
        size = len(message["content"].encode())
        tokens += math.ceil(size / 4)
    return tokens


def model_key(settings: PromptingConfig) -> str:
    """Hash what affects every answer: model, address, form, dtype, scoring and sampling.

    The files of a local model count, too, because they may change.
    """
    model = settings.model
    source = {"name": model.name, "revision": model.revision, "form": model.form, "url": model.url}
    if model.backend == "local" and Path(model.name).is_dir():
        source |= identity(EncoderConfig(name=model.name))  # its files may change
    options = {"dtype": model.dtype, "scoring": settings.scoring, **asdict(settings.sampling)}
    return fingerprint(source, options)


class Store:
    """Answers of one model on disk; several processes may share it."""

    def __init__(self, cache: Path, model: str):
        name = re.sub(r"[^\w.-]+", "_", Path(model).name)
        self.path = cache / "answers" / f"{name}.sqlite"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.with_suffix(".lock")), closing(self._open()) as database, database:
            database.execute("pragma journal_mode=wal")  # others may read during a write
            database.execute(_TABLE)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)

    def find(self, keys: Iterable[str]) -> dict[str, ModelAnswer]:
        """Read stored answers.

        Args:
            keys: of requests.

        Returns:
            The answers by key, without those that are not stored.
        """
        query = "select value from answers where key = ?"
        answers: dict[str, ModelAnswer] = {}
        with closing(self._open()) as database:
            for key in keys:
                row = database.execute(query, (key,)).fetchone()
                if row:
                    values = json.loads(row[0])
                    values["logprobs"] = tuple(values["logprobs"])
                    answers[key] = ModelAnswer(**values)
        return answers

    def ask(
        self, requests: Iterable[ModelRequest], backend: Backend, title: str, bar: bool | None
    ) -> dict[str, ModelAnswer]:
        """Get an answer to every request, from the store or the model.

        Args:
            requests: those with the same key are sent once.
            backend: the model.
            title: of the progress bar.
            bar: whether there is one; see `heron.base.terminal.tracked`.

        Returns:
            The answers by key, failed ones included.
        """
        by_key = {request.key: request for request in requests}
        answers = self.find(by_key)
        unanswered = [request for key, request in by_key.items() if key not in answers]
        if not unanswered:
            return answers
        if answers:
            print(f"{len(answers)} of {len(by_key)} answers are in {self.path}", flush=True)

        arriving = self.keep(backend.answer(unanswered))
        for _ in tracked(unanswered, title, bar):
            key, answer = next(arriving)
            answers[key] = answer
        return answers

    def keep(self, answers: Iterable[tuple[str, ModelAnswer]]) -> KeyedAnswers:
        """Store each answer as it arrives, then yield it; no stored answer is overwritten."""
        insertion = "insert or ignore into answers values (?, ?)"
        with closing(self._open()) as database:
            for key, answer in answers:
                if answer.finish != "failed":
                    value = json.dumps(asdict(answer), ensure_ascii=False)
                    with database:
                        database.execute(insertion, (key, value))
                yield key, answer
