"""A `Table` as LaTeX, rounded."""

from collections.abc import Sequence

from heron.base.cells import Table, show

# Characters that LaTeX reads as commands, and symbols that its text fonts lack.
_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "†": r"\dag{}",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
    "−": "$-$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}


def to_latex(table: Table) -> str:
    """Write the table for LaTeX with booktabs; Hebrew needs a font and babel in the document."""
    rows = [[show(cell) for cell in row] for row in table.rows]
    layout = ""
    for column in range(len(table.columns)):
        layout += "r" if all(_is_number_like(row[column]) for row in rows) else "l"

    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}}}",
        rf"\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        _latex_row(table.columns),
        r"\midrule",
        *map(_latex_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if table.note:
        lines.append(rf"\par\smallskip\footnotesize {_latex(table.note)}")
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _is_number_like(text: str) -> bool:
    return text[:1] in "+-–−." or text[:1].isdigit()


def _latex(text: str) -> str:
    """Escape a text, on one line."""
    line = " ".join(text.split())
    return "".join(_LATEX.get(letter, letter) for letter in line)
