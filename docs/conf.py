"""Sphinx builds the site from the Markdown of the whole repository, where it stands.

Pages outside `docs/` (of the papers, of `experiments/adding`) are neither moved nor copied: the
source directory is the repository, so that a relative link leads to the same page here, on GitHub
and in an editor. The contents are the list of links in `docs/README.md`.
"""

from __future__ import annotations

import re
from typing import Any

project = "heron"
copyright = "the authors of heron"
root_doc = "docs/README"
include_patterns = [
    "docs/**",
    "experiments/README.md",
    "experiments/*/**/*.md",
    "notebooks/README.md",
    "tests/benchmarks/README.md",
    "CHANGELOG.md",
]
# Folders that need not be searched; `src/heron/experiments` is a link to `experiments`.
exclude_patterns = [".*", "src", "conf", "build", "cache", "data", "dist", "reproductions", "runs"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]

html_theme = "furo"
html_title = "heron"
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["index.html"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# The names of other packages are not looked up: nothing is fetched while the site is built.
nitpick_ignore_regex = [("py:.*", r"(?!heron\.).*")]

FENCE = re.compile(r'^```(\w+) title="([^"]+)"\n', re.M)
LINK = re.compile(r"\]\(([^)#:]+\.md)\)")


def prepare(app: Any, page: str, source: list[str]) -> None:
    """Show the titles of code blocks as captions, and make the contents from the links of README."""
    source[0] = FENCE.sub(r"```{code-block} \1\n:caption: \2\n\n", source[0])
    if page == root_doc:
        source[0] = "\n".join(contents(part) for part in re.split(r"(?=^## )", source[0], flags=re.M))


def contents(part: str) -> str:
    """Add a section's contents to it; its title is their caption."""
    pages = [f"/docs/{page}" for page in LINK.findall(part)]
    if not pages or not part.startswith("## "):
        return part
    caption = part.partition("\n")[0][3:]
    return "\n".join([part, "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def setup(app: Any) -> None:
    """Sphinx calls this once."""
    app.connect("source-read", prepare)
