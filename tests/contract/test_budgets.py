"""The size and density of the house, held by a ratchet: `budgets.toml` has the most of everything.

Figures are counted on the parsed tree, so that breaking or joining a line changes only the nodes a
line. A figure above its budget fails, and so does one more than 3 % below: lower the budget then,
so that the house cannot grow back.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import heron
from heron.commands import OWN
from heron.config.constraints import key_types

ROOT = Path(heron.__file__).parents[2]
SOURCE = ROOT / "src" / "heron"
HOUSE = {
    "heron": SOURCE,
    "tools": ROOT / "src" / "heron_tools",
    "experiments": ROOT / "experiments",
}
BUDGETS = tomllib.loads((ROOT / "tests/contract/budgets.toml").read_text("utf-8"))
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
][0]["layers"]
SLACK = 0.97
DENSE_FILE = 8.5  # nodes a line, counted in files of 40 lines and more
DENSE_FUNCTION = 10  # nodes a line, counted in functions of 14 lines and more
# What is called with a text that a user may read: errors, problems, warnings, remarks.
SPEAKING = re.compile(r"\w*(Error|Problems?|Finding)|warn\w*|say|note\w*")
# Names of Hydra and OmegaConf that are not public.
PRIVATE = re.compile(r"hydra\._internal|\._(content|get_root|get_node|metadata|return_value)\b")


@cache
def trees(part: str) -> dict[Path, ast.Module]:
    """Parse the files of a part of the house; links to other parts are left out."""
    files = [
        file
        for file in sorted(HOUSE[part].rglob("*.py"))
        if not any(place.is_symlink() for place in (file, *file.parents))
    ]
    return {file: ast.parse(file.read_text("utf-8")) for file in files}


def all_trees() -> Iterator[tuple[Path, ast.Module]]:
    for part in HOUSE:
        yield from trees(part).items()


def count_nodes(tree: ast.AST) -> int:
    return sum(1 for _ in ast.walk(tree))


def count_lines(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines())


def nodes_per_line(part: str) -> float:
    nodes = sum(count_nodes(tree) for tree in trees(part).values())
    lines = sum(count_lines(file) for file in trees(part))
    return round(nodes / lines, 2)


def count_dense_files() -> int:
    count = 0
    for file, tree in all_trees():
        lines = count_lines(file)
        count += lines >= 40 and count_nodes(tree) / lines > DENSE_FILE
    return count


def dense_functions_in_percent() -> int:
    long, dense = 0, 0
    for _, tree in all_trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                long += lines >= 14
                dense += lines >= 14 and count_nodes(node) / lines > DENSE_FUNCTION
    return -(-100 * dense // long)  # rounded up


def count_twins() -> int:
    """Count the public classes that two modules call by one name."""
    names = Counter(
        node.name
        for _, tree in all_trees()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sum(count > 1 for count in names.values())


def sentences(tree: ast.Module) -> int:
    """Count what a user may read where something is wrong or remarkable.

    These are texts given to an error, a warning or a remark, and those that a generator of problems
    or notes yields or a function of that name returns.
    """
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
            count += bool(SPEAKING.fullmatch(name)) and any(map(is_text, node.args))
        elif isinstance(node, ast.Yield) and node.value is not None:
            count += is_text(node.value)
    return count


def is_text(node: ast.AST) -> bool:
    """Tell whether an expression is a text of several words, or joins such texts."""
    pieces = [
        piece.value
        for piece in ast.walk(node)
        if isinstance(piece, ast.Constant) and isinstance(piece.value, str)
    ]
    return len("".join(pieces).split()) >= 3


def count_private_files() -> int:
    return sum(bool(PRIVATE.search(file.read_text("utf-8"))) for file, _ in all_trees())


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, ast.Module]:
    return {module_name(file): tree for file, tree in trees("heron").items()}


def imported(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """List what a module imports, anywhere in it, and whether it is named by a string.

    A string counts where the part before a colon is a module of heron, whatever follows it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, False) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{name.name}", False) for name in node.names)
        elif isinstance(node, ast.Constant):
            place = str(node.value).partition(":")[0]
            if place.startswith("heron.") and place in modules():
                yield str(node.value).replace(":", "."), True


@cache
def edges() -> dict[tuple[str, str], bool]:
    """Map each import between heron's modules to whether only a string names it."""
    only_by_string: dict[tuple[str, str], bool] = {}
    for name, tree in modules().items():
        for place, by_string in imported(tree):
            target = place if place in modules() else place.rpartition(".")[0]
            if target in modules() and target != name and "heron" not in (name, target):
                edge = name, target
                only_by_string[edge] = only_by_string.get(edge, True) and by_string
    return only_by_string


def layer(name: str) -> int:
    package = name.split(".")[1]
    for number, packages in enumerate(LAYERS):
        if package in re.split(r"\s*[|:]\s*", packages):
            return number
    return -1


def biggest_circle() -> int:
    """Count the modules of the largest group that all reach each other by imports."""
    names = {name: n for n, name in enumerate(modules())}
    pairs = np.array([(names[importer], names[target]) for importer, target in edges()])
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(names), len(names)))
    sizes = np.bincount(connected_components(graph, connection="strong")[1])
    return int(sizes.max()) if sizes.max() > 1 else 0


def measured() -> dict[str, float]:
    strings = sum(by_string for tree in modules().values() for _, by_string in imported(tree))
    tests = sum(count_lines(file) for file in (ROOT / "tests").rglob("*.py"))
    corpus = sum(count_lines(file) for file in (ROOT / "src" / "chronicle").rglob("*.py"))
    house = corpus + sum(count_lines(file) for file, _ in all_trees())
    return {
        **{f"nodes.{part}": sum(map(count_nodes, trees(part).values())) for part in HOUSE},
        **{f"nodes_per_line.{part}": nodes_per_line(part) for part in HOUSE},
        "dense_files": count_dense_files(),
        "dense_functions_percent": dense_functions_in_percent(),
        "class_names_twice": count_twins(),
        "sentences": sum(sentences(tree) for _, tree in all_trees()),
        "keys": len(key_types()),
        "commands": len(OWN),
        "private_files": count_private_files(),
        "tests_per_line": round(tests / house, 3),
        "imports.strings": strings,
        "imports.upward": sum(layer(name) > layer(target) >= 0 for name, target in edges()),
        "imports.circle": biggest_circle(),
    }


FIGURES = measured()


@pytest.mark.parametrize("name", sorted({**BUDGETS, **FIGURES}))
def test_the_house_stays_within_its_budget_and_a_gain_is_kept(name):
    figure = FIGURES.get(name, 0)
    assert name in BUDGETS, f'budgets.toml: add "{name}" = {figure}'
    budget = BUDGETS[name]
    assert figure <= budget
    assert figure >= SLACK * budget, f'budgets.toml: lower "{name}" to {figure}'
