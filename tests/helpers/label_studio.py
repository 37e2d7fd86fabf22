"""A real Label Studio on this computer, and what its annotators would leave in it.

`HERON_LABEL_STUDIO` names the program of an environment of its own:
`python -m venv DIR && DIR/bin/pip install label-studio==1.23.2` makes DIR/bin/label-studio.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

PROGRAM = Path(os.environ.get("HERON_LABEL_STUDIO", "absent"))
FORMATS = {"JSON": "json", "JSON_MIN": "json", "CSV": "csv"}
_TOKEN = "0123456789abcdef0123456789abcdef01234567"
_STARTED = 900.0  # seconds; the first start makes the database


def utf16(text: str) -> int:
    """Count the UTF-16 units of a text."""
    return len(text.encode("utf-16-le")) // 2


def span_result(context: str, answer: str, name: str, to: str = "context", units=len, shift=0):
    """The result that Label Studio stores for a marked span: its text is the rendered one."""
    start = units(context[: context.index(answer)]) + shift
    value = {"start": start, "end": start + units(answer), "labels": ["answer"]}
    value["text"] = " ".join(answer.replace("\n", "\\n").split())
    return {"id": name, "from_name": "answer", "to_name": to, "type": "labels", "value": value}


def region(context: str, question: str, answer: str, name: str, units=len, shift=0):
    """The two results of a marked span with a question."""
    span = span_result(context, answer, name, units=units, shift=shift)
    ends = {key: span["value"][key] for key in ("start", "end")}
    text = {"from_name": "question", "type": "textarea", "value": {**ends, "text": [question]}}
    return [span, {**span, **text}]


def choice(*classes: str) -> dict[str, Any]:
    """The result of chosen classes of a text."""
    tag = {"id": "c", "from_name": "opinion", "to_name": "text", "type": "choices"}
    return {**tag, "value": {"choices": list(classes)}}


class LabelStudio:
    """A running server."""

    def __init__(self, address: str):
        self.address = address

    def call(self, method: str, path: str, body: Any = None) -> str:
        """Call the API; returns the text of the answer."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {_TOKEN}", "Content-Type": "application/json"}
        request = Request(self.address + path, content, headers, method=method)
        with urlopen(request, timeout=120) as reply:
            return reply.read().decode()

    def annotate(self, config: str, tasks: Sequence[Any], results: Sequence[Any]) -> int:
        """Make a project whose tasks have these annotations, a list of results each."""
        body = {"title": "a project", "label_config": config}
        project = json.loads(self.call("POST", "/api/projects/", body))["id"]
        self.call("POST", f"/api/projects/{project}/import", list(tasks))
        listed = json.loads(self.call("GET", f"/api/tasks/?project={project}&page_size=500"))
        numbers = sorted(task["id"] for task in listed["tasks"])
        for number, made in zip(numbers, results, strict=True):
            for result in made:
                self.call("POST", f"/api/tasks/{number}/annotations/", {"result": result})
        return project

    def export(self, project: int, format: str, folder: Path) -> Path:
        """Export a project."""
        path = folder / f"{project}-{format}.{FORMATS[format]}"
        words = f"exportType={format}&download_all_tasks=true"
        path.write_text(self.call("GET", f"/api/projects/{project}/export?{words}"), "utf-8")
        return path


@contextmanager
def serving(folder: Path) -> Iterator[LabelStudio]:
    """Run a server with a database in `folder`, on the loopback device only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [PROGRAM, "start", "-b", "--data-dir", folder, "-p", port, "--internal-host"]
    words += ["127.0.0.1", "--username", "a@example.org", "--password", "of this test"]
    words += ["--user-token", _TOKEN, "--enable-legacy-api-token"]
    quiet = {"COLLECT_ANALYTICS": "0", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": ""}
    quiet |= {"LATEST_VERSION_CHECK": "0", "DJANGO_DB": "sqlite"}
    inherited = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    with (folder / "log.txt").open("w") as log:
        command = [str(word) for word in words]
        process = subprocess.Popen(command, env=inherited | quiet, stdout=log, stderr=log)
    server = LabelStudio(f"http://127.0.0.1:{port}")
    try:
        end = time.monotonic() + _STARTED
        while not _answers(server):
            assert process.poll() is None, (folder / "log.txt").read_text()
            assert time.monotonic() < end, "Label Studio does not start"
            time.sleep(2)
        yield server
    finally:
        process.terminate()
        process.wait(60)


def _answers(server: LabelStudio) -> bool:
    try:
        return bool(server.call("GET", "/health"))
    except (URLError, ConnectionError):
        return False
