"""What asks a model, on this machine or on a server, and the form of OpenAI's interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from heron_tools.prompting.answers import Answer, Request
from heron_tools.prompting.config import PromptingConfig


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


def chat_body(request: Request, settings: PromptingConfig) -> dict[str, Any]:
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


def read_completion(body: Any) -> Answer:
    """Read a response of OpenAI's interface, or raise a ValueError."""
    try:
        choice, usage = body["choices"][0], body.get("usage") or {}
        said = choice.get("message") or {"content": choice.get("text")}  # no chat: `text`
        text, finish = said.get("content") or "", choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"no completion: {body!s:.80}") from error
    kinds = {"content_filter": "filtered", "length": "length"}
    return Answer(
        text,
        kinds.get(str(finish), "stop"),
        input_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
    )
