"""Run a notebook's code cells in order, without Jupyter: `python run_notebook.py FILE OUT.json`.

All cells share one namespace. What each has printed is written to OUT.json, by its number in the
notebook (markdown cells count, as a reader counts them). A cell that fails is named on standard
error, and the exit code is 1.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any


class Shown:
    """Stands in for what IPython shows: pictures, Markdown."""

    def __init__(self, data: Any = None):
        assert data, "nothing to show"


def stub_display() -> None:
    """Make `from IPython.display import ...` work where there is no IPython."""
    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    for name in ("Image", "Markdown", "HTML", "display"):
        setattr(module, name, Shown)
    package.display = module  # type: ignore[attr-defined]
    package.version_info = (9, 0)  # type: ignore[attr-defined]  # matplotlib asks for it
    sys.modules |= {"IPython": package, "IPython.display": module}


def run(path: Path) -> dict[int, str]:
    """Run all code cells; returns what each has printed, by number from 1."""
    printed: dict[int, str] = {}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output):
                exec(compile("".join(cell["source"]), f"<cell {number}>", "exec"), namespace)
        except BaseException:
            traceback.print_exc()
            print(f"{path.name}: cell {number} failed", file=sys.stderr)
            raise SystemExit(1) from None
        printed[number] = output.getvalue()
    return printed


if __name__ == "__main__":
    notebook, out = (Path(word).resolve() for word in sys.argv[1:])
    stub_display()
    out.write_text(json.dumps(run(notebook)), encoding="utf-8")
