"""Requests to a model, what answers them, and the store that keeps every answer once.

An answer is stored under the hash of all that can change it (model, revision, prompt, sampling,
scoring), in `<paths.cache>/answers/<model>.sqlite`, as soon as it arrives. A second run therefore
sends nothing, and a killed run loses no answer.
"""

from __future__ import annotations

import json
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
class Request:
    """One question to a model."""

    key: str  # hash of all that can change the answer
    messages: tuple[Message, ...]
    choices: tuple[str, ...] = ()  # with `likelihood`: the answers to score


@dataclass(frozen=True, slots=True)
class Answer:
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


class Backend(Protocol):
    """Answers each request once, in any order."""

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[str, Answer]]:
        """Yield the key of a request and its answer as soon as it arrives.

        Raises:
            ConfigError: an error that a retry cannot fix, such as a wrong key or model.
        """


def estimate_tokens(request: Request) -> int:
    """Estimate tokens from UTF-8 bytes: about four per token in any script."""
    return sum(-(-len(message["content"].encode()) // 4) for message in request.messages)


def model_key(settings: PromptingConfig) -> str:
    """Hash what affects every answer: model, address, form, dtype, scoring and sampling."""
    model = settings.model
    place = {"name": model.name, "revision": model.revision, "form": model.form, "url": model.url}
    if model.backend == "local" and Path(model.name).is_dir():
        place |= identity(EncoderConfig(name=model.name))  # its files may change
    rest = {"dtype": model.dtype, "scoring": settings.scoring, **asdict(settings.sampling)}
    return fingerprint(place, rest)


class Store:
    """Answers of one model on disk; several processes may share it."""

    def __init__(self, cache: Path, model: str):
        name = re.sub(r"[^\w.-]+", "_", model.rstrip("/").rsplit("/", 1)[-1])
        self.path = cache / "answers" / f"{name}.sqlite"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.with_suffix(".lock")), closing(self._open()) as database, database:
            database.execute("pragma journal_mode=wal")  # others may read during a write
            database.execute(_TABLE)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=60)

    def find(self, keys: Iterable[str]) -> dict[str, Answer]:
        """Read the stored answers, by key."""
        found: dict[str, Answer] = {}
        with closing(self._open()) as database:
            for key in keys:
                row = database.execute("select value from answers where key = ?", (key,)).fetchone()
                if row:
                    values = json.loads(row[0])
                    found[key] = Answer(**{**values, "logprobs": tuple(values["logprobs"])})
        return found

    def ask(
        self, requests: Iterable[Request], backend: Backend, what: str, bar: bool | None
    ) -> dict[str, Answer]:
        """Get an answer to every request, from the store or the model; by key."""
        wanted = {each.key: each for each in requests}
        found = self.find(wanted)
        left = [each for key, each in wanted.items() if key not in found]
        if found and left:
            print(f"{len(found)} of {len(wanted)} answers are in {self.path}", flush=True)
        arriving = self.keep(backend.answer(left)) if left else iter(())
        found |= dict(next(arriving) for _ in tracked(range(len(left)), what, bar))
        return found

    def keep(self, answers: Iterable[tuple[str, Answer]]) -> Iterator[tuple[str, Answer]]:
        """Store each answer as it arrives, then yield it; no stored answer is overwritten."""
        with closing(self._open()) as database:
            for key, answer in answers:
                if answer.finish != "failed":
                    with database:
                        value = json.dumps(asdict(answer), ensure_ascii=False)
                        database.execute(
                            "insert or ignore into answers values (?, ?)", (key, value)
                        )
                yield key, answer
