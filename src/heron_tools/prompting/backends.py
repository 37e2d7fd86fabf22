"""Access to a model: on this machine, on a server, or by files for a batch interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import write_file
from heron.base.terminal import say
from heron.tasks.config import Config
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


class BatchFiles:
    """Writes requests as a file for a batch interface, and reads the files of its answers.

    The lines are those of OpenAI's batch interface. The first answer to a request counts.
    """

    def __init__(self, config: Config, settings: PromptingConfig):
        self.settings = settings
        self.folder = Path(config.paths.cache) / "requests"

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[str, Answer]]:
        """See `Backend`; a ConfigError names the file of the requests that have no answer yet."""
        left = {request.key: request for request in requests}
        for name in self.settings.traffic.answers:
            for key, answer in _read_answers(Path(name)):
                if left.pop(key, None):
                    yield key, answer
        if not left:
            return
        lines = [
            {
                "custom_id": key,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": chat_body(request, self.settings),
            }
            for key, request in left.items()
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path = write_file(self.folder / f"{min(left)[:16]}-{len(left)}.jsonl", text)
        raise ConfigError(
            f"{len(left)} requests wait for answers: {path}. Send this file to the batch "
            "interface, then give the same command with prompting.traffic.answers=[FILE]"
        )


def _read_answers(path: Path) -> Iterator[tuple[str, Answer]]:
    if not path.is_file():
        raise ConfigError(f"prompting.traffic.answers: no such file: {path}")
    problems = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                key, response = str(row["custom_id"]), row.get("response") or {}
                if _is_filtered(row):
                    yield key, Answer(finish="filtered")
                elif response.get("status_code") == 200:
                    yield key, read_completion(response["body"])
                else:
                    say(f"{path}:{number}: the request has failed and will be written again")
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                fix = "one JSON object in each line, as the batch interface writes it"
                problems.append(Problem(f"{path}:{number}", f"is no answer: {error}", fix))
    if problems:
        raise DataError(problems)


def _is_filtered(row: dict[str, Any]) -> bool:
    """Tell whether a filter refused the request; answers may also name filters that passed."""
    if (row.get("response") or {}).get("status_code") == 200:
        return False
    return "content_filter" in json.dumps([row.get("error"), row.get("response")])
