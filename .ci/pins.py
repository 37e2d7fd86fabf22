"""Pins and lock files: `make lock` writes the locks, `make update` raises the pins first.

`requirements.txt` and the extras of `pyproject.toml` pin what heron and its development name. The
lock files add all that these require in turn, for every system, with hashes. Torch is in no lock:
its builds (CPU, CUDA, ROCm) differ in hashes and in what they require, so it is installed first,
at the version in `requirements.txt`, and raised by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = (ROOT / "requirements.txt", ROOT / "pyproject.toml")
LOCKS = {ROOT / "requirements.lock": (), ROOT / "requirements-dev.lock": ("dev",)}  # extras
PIN = re.compile(r"(?m)^([\w.-]+)==([^\s;]+)|(?<=\")([\w.-]+)==([^\s;\"]+)")
# Releases that stole secrets; no pin may be one of them.
MALICIOUS = {
    "pytorch-lightning": ("2.6.2", "2.6.3"),
    "lightning": ("2.6.2", "2.6.3"),
    "litellm": ("1.82.7", "1.82.8"),
}
BY_HAND = ("torch",)


def pins(text: str) -> dict[str, str]:
    """List the versions in a file by the package's name."""
    found = (filter(None, match) for match in PIN.findall(text))
    return {name.lower().replace("_", "-"): version for name, version in found}


def compiled(folder: Path, source: Path, *options: str) -> str:
    """Resolve the requirements of a file with uv, without what is raised by hand."""
    (folder / "excluded.txt").write_text("\n".join(BY_HAND))
    refused = [f"{name}!={version}\n" for name in MALICIOUS for version in MALICIOUS[name]]
    (folder / "refused.txt").write_text("".join(refused))
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--python-version=3.11"]
    command += ["--no-header", "--no-annotate", "--no-emit-index-url"]
    command += [f"--excludes={folder / 'excluded.txt'}", f"--constraints={folder / 'refused.txt'}"]
    done = subprocess.run(
        [*command, *options, str(source)], stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def raise_pins(folder: Path) -> None:
    """Write the newest versions that go together into the files that pin."""
    named = {name for path in PINNED for name in pins(path.read_text(encoding="utf-8"))}
    loose = folder / "loose.txt"
    loose.write_text("".join(f"{name}\n" for name in sorted(named - set(BY_HAND))))
    newest = pins(compiled(folder, loose))
    for path in PINNED:
        old = path.read_text(encoding="utf-8")
        text = PIN.sub(lambda match: _raised(match, newest), old)
        path.write_text(text, encoding="utf-8")
        for name, version in pins(text).items():
            if pins(old)[name] != version:
                print(f"{path.name}: {name} {pins(old)[name]} -> {version}")


def _raised(match: re.Match[str], newest: dict[str, str]) -> str:
    name = match[1] or match[3]
    version = newest.get(name.lower().replace("_", "-"), match[2] or match[4])
    return f"{name}=={version}"


def lock(folder: Path, extras: Iterable[str]) -> str:
    """Resolve heron's own requirements and those of these extras, with hashes."""
    options = ["--universal", "--generate-hashes", *(f"--extra={extra}" for extra in extras)]
    return compiled(folder, ROOT / "pyproject.toml", *options)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        if sys.argv[1:] == ["raise"]:
            raise_pins(Path(name))
        for path, extras in LOCKS.items():
            path.write_text(lock(Path(name), extras), encoding="utf-8")
