"""Forks in folders of their own: `heron` commands, and pytest, as a user would type them there."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heron.base.folders import conf_dir
from small_runs import TINY

NO_GENERATOR = [word for word in TINY if "generator" not in word and "isolate" not in word]
SMALL = (*NO_GENERATOR, "batching.tokens=150", "optim.lr=1e-2", "encoder=scratch")
# The forks' data lie in their folders.
_OURS = {name: value for name, value in os.environ.items() if name != "HERON_DATA"}
ENVIRONMENT = {**_OURS, "HERON_FORKS": "experiments", "COLUMNS": "300"}
# One process for all commands in a folder: starting one takes longer than most commands.
COMMANDS = """
import contextlib, io, json, os, sys, traceback
from heron.cli import main
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # jobs of their own write elsewhere
for line in sys.stdin:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            name, *words = json.loads(line)
            if name == "loaded":  # the files of heron's modules
                files = {n: getattr(m, "__file__", None) for n, m in sys.modules.items()}
                print(json.dumps({n: f for n, f in files.items() if f and n[:5] == "heron"}))
                code = 0
            elif name == "pytest":
                import pytest
                code = int(pytest.main(words))
            else:
                code = main([name, *words])
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            code = traceback.format_exc()
    print(json.dumps([code or 0, said.getvalue()]), file=answers, flush=True)
os._exit(0)  # taking all modules down would be another second
"""
Heron = Callable[..., str]
PAGES = sorted((conf_dir().parent / "experiments" / "adding").glob("*.md"))
WORDS = {"feast": ["wine", "song"], "harvest": ["wheat", "olives"], "weather": ["rain", "wind"]}
BLOCK = re.compile(r'^```\w+ title="(?P<file>[^"]+)"\n(?P<code>.*?)^```$', re.M | re.S)


def write_fork(folder: Path) -> Path:
    """Write the files that the pages show; `__init__.py` has a line of each page."""
    for page in PAGES:
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            path = folder / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            before = (
                path.read_text(encoding="utf-8")
                if path.name == "__init__.py" and path.is_file()
                else ""
            )
            path.write_text(before + block["code"], encoding="utf-8")
    return folder


def write_data(folder: Path) -> None:
    """Write one small data set in both formats."""
    folder.mkdir(parents=True)
    draw = random.Random(0)
    for split, size in (("train", 80), ("test", 16)):
        rows = [
            (f"{split}-{row}", draw.choice(WORDS[label]), f"Todo de {row} i mas .", label)
            for row in range(size)
            for label in [draw.choice(list(WORDS))]
        ]
        with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("guid", "headline", "body", "label"), *rows])
        lines = [f"__label__{label} {head} {body}" for _, head, body, label in rows]
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def commands_in(folder: Path, **variables: str) -> Iterator[Heron]:
    """Run commands in a folder; each returns all that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMANDS],
        cwd=folder,
        env=ENVIRONMENT | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    source, answers = process.stdin, process.stdout

    def run(*words: str, wanted: int = 0) -> str:
        print(json.dumps(words), file=source, flush=True)
        code, said = json.loads(answers.readline())
        assert code == wanted, f"{said}{code}"
        return str(said)

    yield run
    source.close()
    assert process.wait(timeout=60) == 0
