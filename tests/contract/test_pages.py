"""Pages for people: links lead somewhere, commands are valid, and heron says what they quote."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import page_commands
from heron.base.folders import conf_dir, data_set_file
from small_forks import ENVIRONMENT, write_fork

ROOT = conf_dir().parent
PAGES = list(page_commands.pages(ROOT))
ADDING = [page for page in PAGES if page.parent.name == "adding"]
# CHANGELOG.md quotes commands of earlier versions; those of adding/ need their fork, see below.
WITH_COMMANDS = [
    # The papers' pages have half of all commands: seconds, so in `make test-real`.
    pytest.param(page, marks=pytest.mark.real if page.parent.parent.name == "experiments" else ())
    for page in PAGES
    if page.name != "CHANGELOG.md" and page not in ADDING
]
# Programs that are not heron's.
OTHERS = {
    "cd",
    "git",
    "jupyter",
    "pip",
    "pre-commit",
    "python",
    "ray",
    "mlflow",
    "source",
    "tensorboard",
    "wandb",
}
# Commands of heron that are run elsewhere, since they need a run.
ELSEWHERE = {"heron train run.from=runs/sweep/job": "tests/unit/commands/test_train_from.py"}
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


def outside_code(page: Path) -> str:
    return page_commands.FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """List the anchors of a page's headings, as GitHub makes them."""
    found: dict[str, int] = {}
    for title in re.findall(r"^#+ (.+)$", outside_code(page), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = found[slug] = found.get(slug, -1) + 1
        found[f"{slug}-{number}" if number else slug] = 0
    return set(found)


@every_page
def test_every_link_leads_to_a_file_and_a_heading(page):
    broken = []
    for link in LINK.findall(outside_code(page)):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_contents():
    listed = set()
    for contents in (ROOT / "docs" / "README.md", ROOT / "docs" / "api" / "README.md"):
        links = LINK.findall(outside_code(contents))
        listed |= {
            contents,
            *((contents.parent / link.partition("#")[0]).resolve() for link in links),
        }
    assert [page for page in PAGES if page not in listed and page.parent != ROOT] == []


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Go to a folder with what the pages call DIR, and data sets that earlier commands made."""
    (tmp_path / "DIR").mkdir()
    (tmp_path / "DIR" / "config.json").write_text("{}")
    for name, like in (("news", "own_summaries"), ("shoot/data", "own_qa")):
        text = data_set_file(like).read_text(encoding="utf-8")
        file = tmp_path / name / "conf" / "data" / f"{name.partition('/')[0]}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(text.replace(f"name: {like}", f"name: {file.stem}"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def what_is_wrong(line: str) -> str:
    """Say what is wrong with a command of heron's, of make or of another program; "" if nothing."""
    program, *words = shlex.split(line)
    if program == "srun":
        program, *words = words
    if line in ELSEWHERE:
        return "" if (ROOT / ELSEWHERE[line]).is_file() else f"no {ELSEWHERE[line]}"
    if program == "heron":
        return page_commands.check(words)
    if program == "make":
        return "" if {word for word in words if "=" not in word} <= make_targets() else "no target"
    return "" if Path(program).name in OTHERS else "an unknown program"


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_every_command_of_a_page_is_one_that_heron_takes(page, place):
    wrong = {line: what_is_wrong(line) for line in page_commands.commands(page)}
    mentioned = {line: what_is_wrong(line) for line in page_commands.mentions(page)}
    # Commands within a sentence may leave out what they require.
    wrong |= {line: why for line, why in mentioned.items() if "Field required" not in why}
    assert {line: why for line, why in wrong.items() if why} == {}


CHECK_THERE = """
import json, shlex, sys
sys.path.insert(0, sys.argv[1])
import page_commands
from pathlib import Path
lines = [line for page in sys.argv[2:] for line in page_commands.commands(Path(page))]
print(json.dumps([[line, page_commands.check(shlex.split(line)[1:])] for line in lines]))
"""


@pytest.mark.real  # they run in test_pages_run.py
def test_every_command_of_the_pages_on_additions_is_valid_beside_their_fork(tmp_path):
    write_fork(tmp_path / "experiments" / "village")
    words = [sys.executable, "-c", CHECK_THERE, str(ROOT / "tests" / "helpers"), *map(str, ADDING)]
    said = subprocess.run(
        words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    checked = json.loads(said.stdout)
    assert len(checked) >= len(ADDING)
    assert {line: why for line, why in checked if why} == {}


@cache
def messages() -> list[str]:
    """List the strings of heron's source; `…` stands for what is filled in."""
    found = []
    for file in sorted((ROOT / "src").glob("heron*/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", None) for part in node.values]
                found.append("".join(p if isinstance(p, str) else "…" for p in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


def test_heron_still_prints_every_message_that_troubleshooting_quotes():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| `([^|]+)` \|", page, re.M)
    assert len(quoted) > 10
    for message in quoted:
        parts = [re.escape(part) for part in message.split("…")]
        assert any(re.search(".*".join(parts), text, re.S) for text in messages()), message


# Wordings that only heron's authors understand: {what to write instead: pattern of the wording}.
RIDDLES = {
    "uniform, linear, at equal distances": r"evenly|even (draws?|shares|weights?)",
    "substitute data": r"stand-?ins?|stands? in for",
    "override": r"said words",
    "repair, correct": r"mend(s|ed|ing)?",
    "identifying": r"decisive",
    "again": r"anew",
    "describe, report": r"(says?|said|tells?|told) of",
    "the run that a curriculum learns from": r"an?other first run|no first run|of first runs",
}
MOST_WORDS = {"README.md": 900, "docs": 14_500}


def texts_of_the_house() -> dict[str, str]:
    """Map every page, configuration and source file of the product to its text."""
    files = [*PAGES, *(ROOT / "conf").rglob("*.yaml")]
    for ending in ("py", "txt", "yaml"):
        files += [
            *(ROOT / "src").rglob(f"*.{ending}"),
            *(ROOT / "experiments").rglob(f"*.{ending}"),
        ]
    return {name_of(file): file.read_text(encoding="utf-8") for file in files}


def test_no_sentence_uses_a_word_that_only_its_authors_understand() -> None:
    found = [
        f"{name}:{number}: {words[0]!r}: {better}"
        for name, text in texts_of_the_house().items()
        for number, line in enumerate(text.splitlines(), 1)
        for better, riddle in RIDDLES.items()
        if (words := re.search(rf"\b({riddle})\b", line, re.I))
    ]
    assert found == []


def test_each_term_of_the_glossary_has_one_line_and_is_used() -> None:
    page = ROOT / "docs" / "glossary.md"
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("- ")]
    terms = [line[4:].partition("**")[0] for line in lines]
    assert terms == sorted(set(terms), key=lambda term: term.lower().replace("-", " "))
    used = " ".join(text for name, text in texts_of_the_house().items() if "glossary" not in name)
    used = re.sub(r"[\s_]+", " ", used).lower()
    alone = [t for t in terms if not any(part.lower() in used for part in t.split(", "))]
    assert alone == []


@pytest.mark.parametrize("prefix", MOST_WORDS)
def test_pages_stay_short_enough_to_be_read(prefix: str) -> None:
    pages = [page for page in PAGES if name_of(page).startswith(prefix)]
    words = [word for page in pages for word in page.read_text("utf-8").split()]
    assert sum(bool(re.search(r"\w", word)) for word in words) <= MOST_WORDS[prefix]


def test_one_example_is_followed_through_few_files() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    listed = page.partition("from top to bottom: ")[2].partition(". ")[0]
    files = [ROOT / "src" / "heron" / name for name in re.findall(r"`([^`]+)`", listed)]
    assert 5 < len(files) <= 9
    assert [file for file in files if not file.is_file()] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the pages as a web site, as `make docs` does; warnings are errors."""
    pytest.importorskip("sphinx", reason="the site needs heron-nlu[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "-q", "-c", "docs", ".", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.real  # a minute, and it needs `make docs`'s extra
def test_the_site_has_every_page(site):
    written = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    in_the_site = [page.relative_to(ROOT) for page in PAGES if page.parent != ROOT]
    assert [page for page in in_the_site if page not in written] == []
