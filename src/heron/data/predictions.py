"""`Prediction`: one predicted row, as every command that looks at predictions has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heron.base.tables import cell_text, is_missing


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted row.

    Args:
        guid: its id.
        gold: the gold label or text; None where there is none. An empty text is a gold text: it
            says that "no answer" is right.
        prediction: the predicted label or text, without spaces around it; empty for none.
        golds: all right texts, from the column `golds` (a JSON list); else `gold`, unless empty.
        group: what the row belongs to, such as its document; empty for none.
        cells: all columns that were read, as they are stored.
    """

    guid: str
    gold: str | None
    prediction: str
    golds: tuple[str, ...] = ()
    group: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)

    @property
    def probability(self) -> float | None:
        """Probability of the prediction; None where it is not stored."""
        return self.cells.get(f"p/{self.prediction}", self.cells.get("probability"))

    def text(self, column: str) -> str:
        """Read a cell as text; empty where there is none."""
        cell = self.cells.get(column)
        return "" if is_missing(cell) else cell_text(cell)
