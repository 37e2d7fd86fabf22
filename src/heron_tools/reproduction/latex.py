"""A `Table` as LaTeX, rounded."""

from heron.base.cells import Table, show

# Characters that LaTeX reads as commands, and symbols that its text fonts lack.
_LATEX = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"±": r"$\pm$", "Δ": r"$\Delta$", "†": r"\dag{}", "–": "--", "<": r"$<$", ">": r"$>$"},
    **{
        "−": "$-$",
        "κ": r"$\kappa$",
        "α": r"$\alpha$",
        "×": r"$\times$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
    },
}


def to_latex(table: Table) -> str:
    """Write the table for LaTeX with booktabs; Hebrew needs a font and babel in the document."""
    numbers = [
        all(_is_number_like(show(row[n])) for row in table.rows) for n in range(len(table.columns))
    ]
    layout = "".join("r" if number else "l" for number in numbers)
    rows = [
        " & ".join(map(_latex, row)) + r" \\"
        for row in [table.columns, *(map(show, r) for r in table.rows)]
    ]
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_latex(table.title)}}}"]
    lines += [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", rows[0], r"\midrule", *rows[1:]]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip\footnotesize {_latex(table.note)}"] if table.note else []
    return "\n".join([*lines, r"\end{table}", ""])


def _is_number_like(text: str) -> bool:
    return text[:1] in "+-–−." or text[:1].isdigit() or not text


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))
