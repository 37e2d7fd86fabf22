"""Sphinx builds the site from the Markdown of the whole repository, in place.

Pages outside `docs/` (in `experiments`) are neither moved nor copied: the source directory is the
repository, so that relative links work on the site, on GitHub and in an editor. The table of
contents is the list of links in `docs/README.md` and `docs/api/README.md`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import heron

project = "heron"
copyright = "the authors of heron"
root_doc = "docs/README"
include_patterns = [
    "docs/**",
    "experiments/**.md",
    "notebooks/README.md",
    "tests/benchmarks/README.md",
    "CHANGELOG.md",
]
# Folders to skip; `src/heron/experiments` is a link to `experiments`.
exclude_patterns = [".*", "src", "conf", "build", "cache", "data", "dist", "reproductions", "runs"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]

html_theme = "furo"
html_title = "heron"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["index.html"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "ignore-module-all": True}
# Names of other packages are not resolved, so the build needs no network. Type variables and
# private names are not documented.
nitpick_ignore_regex = [
    ("py:.*", r"(?!heron(_tools)?\.).*|.*\.(T|Entry|Number|Run|Value|Work|_\w+)")
]
# `heron.base.cells` and `heron.base.tables` each have a `Table`.
suppress_warnings = ["ref.python"]

FENCE = re.compile(r'^```(\w+) title="([^"]+)"\n', re.M)
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
LINK = re.compile(r"\]\(([^)#:]+\.md)\)")


def prepare(app: Any, page: str, source: list[str]) -> None:
    """Show titles of code blocks as captions; add tables of contents, and a package's modules."""
    text = FENCE.sub(r"```{code-block} \1\n:caption: \2\n\n", source[0])
    folder, _, name = page.rpartition("/")
    if folder in ("docs", "docs/api") and name == "README":
        parts = re.split(r"(?=^## )", text, flags=re.M)
        text = "\n".join(contents(part, f"/{folder}/") for part in parts)
    elif folder == "docs/api":
        text += modules(name)
    source[0] = text


def contents(part: str, folder: str) -> str:
    """Add a table of contents to a section, with the section's title as caption."""
    pages = [folder + page for page in LINK.findall(part)]
    if not pages or not part.startswith("## "):
        return part
    caption = part.partition("\n")[0][3:]
    return "\n".join(
        [part, "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""]
    )


def modules(package: str) -> str:
    """Write the directives that document all public modules of a package."""
    source = Path(heron.__file__).parents[1]
    folder = next(each for each in source.glob(f"heron*/{package}") if each.is_dir())
    files = sorted(folder.rglob("[!_]*.py"))
    names = [".".join(file.relative_to(source).with_suffix("").parts) for file in files]
    return "".join(
        f"\n## `{name}`\n\n```{{eval-rst}}\n.. automodule:: {name}\n```\n" for name in names
    )


def to_rst(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Convert Markdown's `code` in docstrings to reStructuredText, which Sphinx reads."""
    parts = CODE.split("\n".join(lines))  # every second one is code
    parts[::2] = [part.replace("|", r"\|").replace("*", r"\*") for part in parts[::2]]
    parts[1::2] = [f"``{part}``\\ " for part in parts[1::2]]
    lines[:] = "".join(parts).split("\n")


def setup(app: Any) -> None:
    """Register the handlers; called by Sphinx."""
    app.connect("source-read", prepare)
    app.connect("autodoc-process-docstring", to_rst, priority=400)  # before napoleon
