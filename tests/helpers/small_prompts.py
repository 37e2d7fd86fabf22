"""Small prompted runs: a causal model with random weights, and a server that misbehaves."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks.config import Config
from heron.training import compose as composition
from tiny_models import plain_tokenizer, save_model

TEMPLATE = (
    "{% for message in messages %}{{ message.role }} : {{ message.content }} . {% endfor %}"
    "{% if add_generation_prompt %}assistant : {% endif %}"
)
# What a server does with a request: a status with a body, perhaps headers; or a text to complete
# with; or a function that writes to the connection itself.
Reply = str | tuple[int, dict[str, Any]] | tuple[int, dict[str, Any], dict[str, str]] | Callable


def save_causal_model(encoder: Path, folder: Path, positions: int = 2048) -> Path:
    """Save a Llama of 2 layers x 32 units with a chat template, and an encoder's vocabulary."""
    tokenizer = plain_tokenizer(encoder, pad_token="[PAD]", chat_template=TEMPLATE)
    own = {"eos_token_id": tokenizer.eos_token_id, "bos_token_id": None, "pad_token_id": None}
    # Probabilities that differ.
    own |= {"initializer_range": 0.5, "max_position_embeddings": positions}
    return save_model("llama", tokenizer, folder, "AutoModelForCausalLM", **own)


def words(folder: Path, *overrides: str) -> list[str]:
    """List the overrides of a small run in `folder`; those that are given win."""
    return [
        "data.generator.size=120",
        "task.bootstrap=0",
        "trainer.enable_progress_bar=false",
        "run.isolate=false",
        "baseline=prompted",
        f"paths.runs={folder / 'runs'}",
        f"paths.cache={folder / 'cache'}",
        *overrides,
    ]


def compose(folder: Path, *overrides: str) -> Config:
    """Compose a prompted run on a built-in corpus."""
    return composition.compose(words(folder, *overrides))


def examples_of(config: Config, split: str = "test") -> list[Example]:
    """Read a split of the run's data."""
    return load_run_data(config).examples[split]


def completion(text: str, finish: str = "stop") -> tuple[int, dict[str, Any]]:
    """Write the body of an answer as OpenAI's interface does."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{**choice, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }
    return 200, body


class MadeUpServer(ThreadingHTTPServer):
    """Answers as `reply` says, which gets the prompt and how often it has come before."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, reply: Callable[[str, int], Reply]):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply, self.seen = reply, Counter[str]()
        self.requests: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address of the interface."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: MadeUpServer

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = body["messages"][-1]["content"] if "messages" in body else body.get("prompt")
        prompt = body.get("q", asked)  # `q`: a translation
        with self.server.lock:
            times = self.server.seen[prompt]
            self.server.seen[prompt] += 1
            self.server.requests.append(body)
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            reply = self.server.reply(prompt, times)
        finally:  # before the client can have the answer and ask again
            with self.server.lock:
                self.server.at_once -= 1
        try:
            self._send(reply)
        except OSError:  # the client has gone
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        if callable(reply):
            reply(self)
            return
        status, content, *headers = completion(reply) if isinstance(reply, str) else reply
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        for name, value in (headers[0] if headers else {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


def hang(handler: _Handler) -> None:
    """Answer nothing, for longer than the client waits."""
    time.sleep(3)


def half_a_body(handler: _Handler) -> None:
    """Send JSON that ends in the middle."""
    text = json.dumps(completion("yes")[1])[:40].encode()
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


def hang_up(handler: _Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True
    handler.connection.close()


@contextmanager
def serving(reply: Callable[[str, int], Reply]) -> Iterator[MadeUpServer]:
    """Run a server in a thread."""
    server = MadeUpServer(reply)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
