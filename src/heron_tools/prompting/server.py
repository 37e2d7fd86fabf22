"""Models on a server with OpenAI's interface: OpenAI, Azure, vLLM, llama.cpp.

At most `concurrency` requests are under way. One that fails for a passing reason (too many
requests, an error of the server, no or a broken response) is sent again after a pause: as long as
the server says (`Retry-After`), else twice as long each time, with jitter.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import cached_property
from itertools import islice
from typing import Any

import openai

from heron.base.errors import ConfigError, first_line
from heron.base.secrets import redact
from heron.tasks.config import Config
from heron_tools.prompting.answers import Answer, Request
from heron_tools.prompting.backends import chat_body, estimate_tokens, read_completion
from heron_tools.prompting.config import PromptingConfig

_LONGEST_PAUSE = 120.0  # seconds
# The client raises this for connections and timeouts, and for statuses that may pass.
_PASSING = (408, 409, 425, 429)


class Server:
    """See `heron_tools.prompting.backends.Backend`."""

    def __init__(self, config: Config, settings: PromptingConfig):
        self.settings, self.traffic = settings, settings.traffic
        self._rate = Rate(self.traffic.tokens_per_minute)
        self._ended = threading.Event()

    @cached_property
    def client(self) -> openai.OpenAI:
        """The client, with a key from the environment; a ConfigError if OpenAI's has none."""
        model = self.settings.model
        key = os.environ.get(model.key)
        if not key and model.url is None:
            raise ConfigError(
                f"prompting.model.name={model.name}: set the environment variable {model.key} to "
                "the key of the interface"
            )
        # One attempt: heron counts them, and stores what has arrived in between.
        shared: dict[str, Any] = {"timeout": self.traffic.timeout, "max_retries": 0}
        return openai.OpenAI(api_key=key or "none", base_url=model.url, **shared)

    def count_tokens(self, request: Request) -> int:
        """Estimate; the server's tokenizer is not here."""
        return sum(estimate_tokens(message["content"]) for message in request.messages)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[str, Answer]]:
        """See `Backend`."""
        waiting, _ = iter(requests), self.client
        self._ended.clear()
        with ThreadPoolExecutor(self.traffic.concurrency) as pool:
            # As many are under way as may be, and one more each, so that none waits for this loop.
            first = islice(waiting, 2 * self.traffic.concurrency)
            sent: dict[Future[Answer], Request] = {pool.submit(self._ask, r): r for r in first}
            try:
                while sent:
                    done, _ = wait(sent, return_when=FIRST_COMPLETED)
                    for future in done:
                        request = sent.pop(future)
                        yield request.key, future.result()
                    for request in islice(waiting, len(done)):
                        sent[pool.submit(self._ask, request)] = request
            finally:  # an error, Ctrl+C: what is under way is not waited for
                self._ended.set()
                for future in sent:
                    future.cancel()

    def _ask(self, request: Request) -> Answer:
        """Ask until there is an answer, or `attempts` are used up."""
        tokens = self.count_tokens(request) + self.settings.sampling.max_tokens
        begun, error = time.monotonic(), ""
        for attempt in range(1, self.traffic.attempts + 1):
            if self._ended.is_set():
                break
            self._rate.take(tokens)
            pause = _pause(attempt)
            try:
                answer = self._once(request)
                if answer.text.strip() or answer.finish == "filtered":
                    return replace(answer, attempts=attempt, seconds=time.monotonic() - begun)
                error = "an empty answer"
            except openai.APIStatusError as failure:
                if _is_filtered(failure):
                    return Answer(finish="filtered", attempts=attempt)
                if failure.status_code < 500 and failure.status_code not in _PASSING:
                    raise _refusal(failure, self.settings) from failure
                error = f"{failure.status_code} {first_line(failure)}"
                asked = _asked_pause(failure.response.headers)
                pause = pause if asked is None else asked
            except (openai.APIError, ValueError) as failure:
                # No connection, no answer in time, a response that is no JSON.
                error = f"{type(failure).__name__}: {first_line(failure)}"
            if attempt < self.traffic.attempts:
                self._ended.wait(pause)
        seconds = time.monotonic() - begun
        return Answer(finish="failed", attempts=attempt, seconds=seconds, error=redact(error))

    def _once(self, request: Request) -> Answer:
        body = chat_body(request, self.settings)
        if self.settings.model.form == "completion":
            messages = body.pop("messages")
            prompt = "\n\n".join(message["content"] for message in messages)
            response = self.client.completions.with_raw_response.create(prompt=prompt, **body)
            found = json.loads(response.http_response.text)
            for choice in found.get("choices") or []:
                choice["message"] = {"content": choice.get("text")}
            return read_completion(found)
        response = self.client.chat.completions.with_raw_response.create(**body)
        return read_completion(json.loads(response.http_response.text))


class Rate:
    """Spends at most so many tokens a minute; a bucket that fills at a constant rate."""

    def __init__(self, per_minute: int | None):
        self.per_second = None if per_minute is None else per_minute / 60
        self._most = float(per_minute or 0)
        self._left, self._at = self._most, time.monotonic()
        self._lock = threading.Lock()

    def take(self, tokens: int) -> None:
        """Wait until so many tokens may be spent; more than a minute's are spent at once."""
        if self.per_second is None:
            return
        with self._lock:
            now = time.monotonic()
            self._left = min(self._most, self._left + (now - self._at) * self.per_second)
            self._at = now
            self._left -= min(tokens, self._most)
            pause = max(0.0, -self._left / self.per_second)
        time.sleep(pause)


def _pause(attempt: int) -> float:
    """Choose a pause after a failed attempt, in seconds: between half of 2**n and the whole."""
    return min(_LONGEST_PAUSE, 2.0**attempt) * random.uniform(0.25, 0.5)


def _asked_pause(headers: Any) -> float | None:
    """Read how many seconds the server asks to wait, or until when; None if it does not say."""
    said = str(headers.get("retry-after") or "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except ValueError:
            return None
    return min(_LONGEST_PAUSE, max(0.0, seconds))


def _is_filtered(failure: openai.APIStatusError) -> bool:
    return failure.status_code == 400 and "content_filter" in str(failure.body)


def _refusal(failure: openai.APIStatusError, settings: PromptingConfig) -> ConfigError:
    model = settings.model
    fixes = {
        401: f"the environment variable {model.key} holds no valid key",
        403: f"the key in {model.key} may not use this model",
        404: "no such model or address: see prompting.model.name and prompting.model.url",
    }
    what = fixes.get(failure.status_code, redact(first_line(failure)))
    return ConfigError(
        f"prompting.model.name={model.name}: the server refuses the request "
        f"({failure.status_code}): {what}. Answers that have arrived are stored"
    )
