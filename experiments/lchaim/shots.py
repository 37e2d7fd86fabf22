"""`heron build lchaim_shots`: the fixed examples of LCHAIM's prompts, from its released notebook.

The notebook's examples are part of its prompts. Each list becomes a table for `prompting.pool`;
`prompting.draw=first` uses its first rows, as `lchaim/table3` does with `protocol=repo`.

Source: https://github.com/oriel9p/lchaim, `Lechaim_inst_models_test.ipynb`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import DataError, Problem
from heron.base.files import read_json
from heron.base.tables import write_table
from heron.base.terminal import begin, print_lines
from heron.config.parsing import parse_options

# By table: the notebook's variable that holds the prompt with three examples (spelt as there).
PROMPTS = {
    "hebnli": "SNLI_THREE_SHOT_PROMPT",
    "lchaim": "LCH_THREE_SHORT_PROMPT",
    "lchaim_long": "LCH_THREE_SHOT_PROMPT",
    "control": "ENGLISH_THREE_SHOT_PROMPT",
    "control_short": "ENGLISH_THREE_SHOT_PROMPT_SHORT",
    "back": "BACK_TO_ENGLISH_THREE_SHOT_PROMPT_SHORT",
}
_EXAMPLE = re.compile(
    r"(?:פסקה|Paragraph):\n +(.+)\n +(?:משפט|Sentence):\n +(.+)\n +(?:תשובה|Response):\n +(\w)\n"
)
_LABELS = {"ס": "c", "מ": "e", "נ": "n"}  # by the letter of a Hebrew answer


@dataclass
class ShotsOptions:
    """Options of `heron build lchaim_shots`."""

    notebook: Path  # Lechaim_inst_models_test.ipynb
    out: Path = Path("data/lchaim/shots")  # a folder; one table per list


def run(arguments: Sequence[str]) -> int:
    """Write a table for each list of examples; returns the exit code."""
    begin()
    options = parse_options(ShotsOptions, arguments)
    prompts = read_prompts(options.notebook)
    for name, variable in PROMPTS.items():
        examples = _EXAMPLE.findall(prompts[variable])
        labels = [_LABELS.get(answer, answer) for _, _, answer in examples]
        columns = {
            "premise": [premise for premise, _, _ in examples],
            "hypothesis": [hypothesis for _, hypothesis, _ in examples],
            "label": labels,
        }

        path = options.out / f"{name}.jsonl"
        write_table(path, columns)
        order = ", ".join(labels)
        print_lines(f"{path}: {len(labels)} examples, {order}")

    return 0


def read_prompts(notebook: Path) -> dict[str, str]:
    """Read the strings that a notebook's cells assign to names, without running it.

    Returns:
        The string of each name; a name that is assigned twice has the last one.

    Raises:
        DataError: it lacks a prompt of `PROMPTS`.
    """
    strings = {}
    for cell in read_json(notebook)["cells"]:
        if cell["cell_type"] != "code":
            continue
        for statement in ast.parse("".join(cell["source"])).body:
            match statement:
                case ast.Assign(targets=targets, value=ast.Constant(value=value)):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            strings[target.id] = str(value)

    for name in PROMPTS.values():
        if name not in strings:
            raise DataError([Problem(str(notebook), f"has no {name}")])
    return strings
