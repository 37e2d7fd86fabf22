"""Tables of examples from the user's files, as the papers show some of theirs."""

from collections.abc import Iterable, Sequence

from heron.base.cells import Cell, Table
from heron.data.config import SPLITS
from heron.data.examples import Example
from heron.reports.pages import cut_text
from heron.results.shipped import Shipped


def shortest(examples: Iterable[Example]) -> Example:
    """Choose the example with the shortest text, or premise; of equal ones the first by guid."""
    return min(examples, key=lambda example: (len(example.text), example.guid))


def shortest_of_classes(shipped: Shipped) -> dict[str, Example]:
    """Choose the example with the shortest text of each class, in the data set's order."""
    examples = shipped.all_examples()
    chosen = {}
    for label in shipped.config.label_order:
        chosen[label] = shortest(example for example in examples if example.label == label)
    return chosen


def missing_splits(shipped: Shipped) -> tuple[str, ...]:
    """Note the splits whose file is missing, if any."""
    missing = [name for name in SPLITS if name in shipped.missing]
    if not missing:
        return ()
    return (f"Left out, since the file is missing: {', '.join(missing)}.",)


def pairs_table(
    title: str, column: str, examples: Iterable[tuple[Cell, Example]], longest: int
) -> Table:
    """Show premise, hypothesis and guid of examples.

    Args:
        title: of the table.
        column: heads the first cells.
        examples: each with the first cell of its row.
        longest: characters of a text that are shown.
    """
    rows: list[Sequence[Cell]] = []
    for cell, example in examples:
        rows.append((cell, *cut_pair(example, longest), example.guid))
    return Table(title, (column, "premise", "hypothesis", "guid"), rows)


def cut_pair(example: Example, longest: int) -> tuple[str, str]:
    """Cut the premise and the hypothesis of a pair to `longest` characters."""
    premise = cut_text(example.text, longest)
    hypothesis = cut_text(example.text_pair or "", longest)
    return premise, hypothesis
