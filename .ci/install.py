"""Install heron and what its development needs into this environment: `python .ci/install.py`.

uv installs in half of pip's time, but does not read pip's settings. It is given those that say
where packages come from; where it fails, pip installs. Runs before anything is installed.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

PIP = [sys.executable, "-m", "pip"]
PROJECT = ["--quiet", "--editable", ".[dev]"]
# pip's settings with uv's options of the same meaning; `no-index` is a switch.
SOURCES = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "constraint": "--constraints",
    "no-index": "--no-index",
}


def options(settings: str) -> list[str]:
    """Translate what `pip config list` prints to options of uv.

    The environment wins over pip's files, as for pip.
    """
    chosen: dict[str, list[str]] = {}
    for line in sorted(settings.splitlines(), key=lambda line: line.startswith(":env:")):
        key, _, value = line.partition("=")
        option = SOURCES.get(key.rpartition(".")[2])
        words = str(ast.literal_eval(value)).split() if option and value else []
        if option and words:
            switch = [option] if words[0].lower() in ("1", "true", "yes", "on") else []
            pairs = [part for word in words for part in (option, word)]
            chosen[option] = switch if option == "--no-index" else pairs
    return [part for parts in chosen.values() for part in parts]


def pinned_uv() -> str:
    """Read the version of uv that `make update` and the locks use."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    update = project["project"]["optional-dependencies"]["update"]
    return next(each for each in update if each.startswith("uv=="))


def install() -> int:
    """Install with uv, or else with pip; returns the exit code."""
    if subprocess.run([*PIP, "install", "--quiet", pinned_uv()], check=False).returncode == 0:
        shown = subprocess.run([*PIP, "config", "list"], stdout=subprocess.PIPE, text=True)
        command = [sys.executable, "-m", "uv", "pip", "install", f"--python={sys.executable}"]
        given = ["--index-strategy=unsafe-best-match", *options(shown.stdout)]  # pip's strategy
        environment = {"UV_SYSTEM_CERTS": "true", **os.environ}
        if subprocess.run([*command, *given, *PROJECT], env=environment).returncode == 0:
            return 0
        print("uv could not install the project; pip tries", file=sys.stderr)
    return subprocess.run([*PIP, "install", "--no-compile", *PROJECT], check=False).returncode


if __name__ == "__main__":
    sys.exit(install())
