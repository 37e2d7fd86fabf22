"""Models on a server with OpenAI's interface: OpenAI, Azure, vLLM, llama.cpp.

At most `concurrency` requests run at a time. OpenAI's client retries temporary failures, up to
`attempts` attempts in all, after a pause: as the server asks, else with exponential backoff.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from heron.base.errors import ConfigError, first_line
from heron.base.secrets import redact
from heron.tasks.config import Config
from heron_tools.prompting.answers import KeyedAnswers, ModelAnswer, ModelRequest
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.prompts import as_text

if TYPE_CHECKING:
    import openai

_PASSING = (408, 409, 429)  # statuses that the client retries, besides 5xx


class Server:
    """See `heron_tools.prompting.answers.Backend`."""

    def __init__(self, config: Config, settings: PromptingConfig):
        self.settings = settings
        self.traffic = settings.traffic

    @cached_property
    def client(self) -> openai.OpenAI:
        """The client, with a key from the environment; a ConfigError if OpenAI's key is missing."""
        import openai  # start-up time

        model = self.settings.model
        key = os.environ.get(model.key)
        if not key and model.url is None:
            raise ConfigError(
                f"prompting.model.name={model.name}: set the environment variable {model.key} to "
                "the key of the interface"
            )
        return openai.OpenAI(
            api_key=key or "none",
            base_url=model.url,
            timeout=self.traffic.timeout,
            max_retries=self.traffic.attempts - 1,
        )

    def answer(self, requests: Sequence[ModelRequest]) -> KeyedAnswers:
        """See `Backend`."""
        _ = self.client  # a missing key is an error before anything is sent
        pool = ThreadPoolExecutor(self.traffic.concurrency)
        keys = {pool.submit(self._ask, request): request.key for request in requests}
        try:
            for future in as_completed(keys):
                if future.exception():  # it ends the command: send no more, keep what has come
                    pool.shutdown(wait=False, cancel_futures=True)
                    for other, key in keys.items():
                        if not other.done() or other.cancelled():
                            continue
                        if not other.exception():
                            yield key, other.result()
                yield keys.pop(future), future.result()
        finally:  # on an error or Ctrl+C: open requests are not waited for
            pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, request: ModelRequest) -> ModelAnswer:
        """Send a request; errors that may pass give a failed answer.

        Raises:
            ConfigError: the server refuses the request.
        """
        import openai  # start-up time

        start_time = time.monotonic()
        attempts = self.traffic.attempts
        try:
            answer = self._once(request)
            if answer.text.strip() or answer.finish == "filtered":
                return replace(answer, seconds=time.monotonic() - start_time)
            error = "an empty answer"
            attempts = answer.attempts
        except openai.APIStatusError as failure:
            status = failure.status_code
            if status == 400 and "content_filter" in str(failure.body):
                return ModelAnswer(finish="filtered")
            if status < 500 and status not in _PASSING:
                raise _refusal(failure, self.settings) from failure
            error = f"{status} {first_line(failure)}"
        except (openai.APIError, ValueError) as failure:  # no connection, timeout, or no completion
            error = f"{type(failure).__name__}: {first_line(failure)}"
            if isinstance(failure, ValueError):
                attempts = 1
        seconds = time.monotonic() - start_time
        return ModelAnswer(finish="failed", attempts=attempts, seconds=seconds, error=redact(error))

    def _once(self, request: ModelRequest) -> ModelAnswer:
        body = _chat_body(request, self.settings)
        if self.settings.model.form == "completion":
            body["prompt"] = as_text(body.pop("messages"))
            response = self.client.completions.with_raw_response.create(**body)
        else:
            response = self.client.chat.completions.with_raw_response.create(**body)
        answer = _read_completion(response.http_response.json())
        return replace(answer, attempts=1 + response.retries_taken)


def _refusal(failure: openai.APIStatusError, settings: PromptingConfig) -> ConfigError:
    model = settings.model
    reasons = {
        401: f"the environment variable {model.key} holds no valid key",
        403: f"the key in {model.key} may not use this model",
        404: "no such model or address: see prompting.model.name and prompting.model.url",
    }
    reason = reasons.get(failure.status_code, redact(first_line(failure)))
    return ConfigError(
        f"prompting.model.name={model.name}: the server refuses the request "
        f"({failure.status_code}): {reason}. Answers that have arrived are stored"
    )


def _chat_body(request: ModelRequest, settings: PromptingConfig) -> dict[str, Any]:
    """Write a request as OpenAI's interface takes it."""
    sampling = settings.sampling
    body: dict[str, Any] = {
        "model": settings.model.name,
        "messages": list(request.messages),
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
    }
    if sampling.top_p < 1:
        body["top_p"] = sampling.top_p
    if sampling.stop:
        body["stop"] = sampling.stop
    return body


def _read_completion(body: Any) -> ModelAnswer:
    """Read a response of OpenAI's interface, or raise a ValueError."""
    try:
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        message = choice.get("message") or {"content": choice.get("text")}  # no chat: `text`
        text = message.get("content") or ""
        reason = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no completion: {body!s:.80}") from error
    finish = {"content_filter": "filtered", "length": "length"}.get(str(reason), "stop")
    return ModelAnswer(
        text,
        finish,
        input_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
    )
