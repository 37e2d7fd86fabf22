"""The size of the house, held by a ratchet: `budgets.toml` has the most of everything.

A figure above its budget fails, and so does one more than 3 % below: lower the budget then, so that
the house cannot grow back. Raising one needs another lowered in the same commit.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import heron
from heron.commands import OWN
from heron.config.constraints import key_types, plain, root
from heron.tasks.task import Task

ROOT = Path(heron.__file__).parents[2]
SOURCE = ROOT / "src" / "heron"
TOOLS = ROOT / "src" / "heron_tools"
BUDGETS = tomllib.loads((ROOT / "tests/contract/budgets.toml").read_text("utf-8"))
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
][0]["layers"]
SLACK = 0.97
PLACE = re.compile(r"heron(\.\w+)+:\w+")  # an import by name
# What a user may read because something is wrong.
MESSAGES = re.compile(r"\braise \w*(?:Error|Problems)\(|\bProblem\(|\bwarn\w*\(|file=sys\.stderr")


def lines(folder: Path) -> int:
    return sum(len(file.read_text("utf-8").splitlines()) for file in folder.rglob("*.py"))


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, ast.Module]:
    return {module_name(file): ast.parse(file.read_text("utf-8")) for file in SOURCE.rglob("*.py")}


def imported(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """List what a module imports, anywhere in it, and whether it is named by a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, False) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{each.name}", False) for each in node.names)
        elif isinstance(node, ast.Constant) and PLACE.fullmatch(str(node.value)):
            yield str(node.value).replace(":", "."), True


@cache
def edges() -> dict[tuple[str, str], bool]:
    """Map each import between heron's modules to whether only a string names it."""
    found: dict[tuple[str, str], bool] = {}
    for name, tree in modules().items():
        for place, by_string in imported(tree):
            target = place if place in modules() else place.rpartition(".")[0]
            if target in modules() and target != name and "heron" not in (name, target):
                found[name, target] = found.get((name, target), True) and by_string
    return found


def layer(name: str) -> int:
    part = name.split(".")[1]
    places = [n for n, each in enumerate(LAYERS) if part in re.split(r"\s*[|:]\s*", each)]
    return places[0] if places else -1


def biggest_circle() -> int:
    """Count the modules of the largest group that all reach each other by imports."""
    names = {name: n for n, name in enumerate(modules())}
    pairs = np.array([(names[one], names[other]) for one, other in edges()])
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(names), len(names)))
    sizes = np.bincount(connected_components(graph, connection="strong")[1])
    return int(sizes.max()) if sizes.max() > 1 else 0


def own_keys() -> list[str]:
    """List the keys of dataclasses of `heron`; those of tools and experiments are theirs."""
    types, own = key_types(), []
    for key in types:
        parent, _, field = key.rpartition(".")
        schema = plain(types[parent]) if parent else root()
        owners = [each for each in schema.__mro__ if field in vars(each).get("__annotations__", ())]
        own += [key for each in owners[:1] if each.__module__.startswith("heron.")]
    return own


def measured() -> dict[str, int]:
    packages = sorted(path.parent for path in SOURCE.glob("*/__init__.py"))
    tools = sorted(path.parent for path in TOOLS.glob("*/__init__.py"))
    texts = [file.read_text("utf-8") for file in SOURCE.rglob("*.py")]
    strings = Counter(by_string for tree in modules().values() for _, by_string in imported(tree))
    return {
        **{f"lines.{path.name}": lines(path) for path in packages},
        "lines.total": lines(SOURCE),
        **{f"lines.tools.{path.name}": lines(path) for path in tools},
        "lines.tools": lines(TOOLS),
        "lines.experiments": lines(ROOT / "experiments"),
        "lines.tests": lines(ROOT / "tests"),
        "modules": len(modules()),
        "keys": len(own_keys()),
        "commands": len(OWN),
        "messages": sum(len(MESSAGES.findall(text)) for text in texts),
        "task_fields": len(fields(Task)),
        "imports.strings": strings[True],
        "imports.upward": sum(layer(one) > layer(other) >= 0 for one, other in edges()),
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
