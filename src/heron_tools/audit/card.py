"""The card (README.md) of a data set, in the Hugging Face Hub's format."""

import re
from collections.abc import Sequence
from pathlib import Path

from huggingface_hub import DatasetCardData

from heron import __version__
from heron.base.cells import Cell, Table, to_markdown
from heron.base.files import write_file
from heron.languages import get_language
from heron.reports.pages import render
from heron.results.shipped import Shipped
from heron.tasks import FORK_ANALYSES
from heron.tasks.task import task_of
from heron_tools.audit.findings import Finding
from heron_tools.audit.report import measure_table

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LICENCE = re.compile(r"CC BY(-NC)?(-SA|-ND)? \d\.\d|CC0 1\.0|MIT")


def write_card(shipped: Shipped, findings: Sequence[Finding], path: Path) -> Path:
    """Write a card that describes the existing split files and the findings; it shows no row."""
    config, task = shipped.config, task_of(shipped.config)
    statistics = FORK_ANALYSES.find("statistics")
    does = f", for a model that {task.about.does}" if task.about.does else ""
    facts = {
        "task": f"{config.task}{does}",
        "language": get_language(config.language).name,
        "classes": ", ".join(config.label_order) if task.has_classes else "",
        "licence": config.licence or "not known",
        "citation": config.citation,
        "homepage": config.homepage,
        **{f"{split}, sha256": f"`{value}`" for split, value in shipped.sha256.items()},
        **{f"{split}, missing": "not described here" for split in shipped.missing},
    }
    # Missing splits are named above; their findings have paths of this computer.
    shown = [(f, measure_table(f)) for f in findings if f.check != "missing"]
    numbers = [to_markdown(table).partition("\n\n")[2] if table else "" for _, table in shown]
    card = render(
        "card.md.j2",
        Path(__file__).parent / "templates",
        metadata=_metadata(shipped),
        config=config,
        facts=facts,
        sizes=to_markdown(_sizes(shipped)).replace("### ", "## ", 1),
        statistics=list(map(to_markdown, statistics(shipped))) if statistics else [],
        findings=[(f, text) for (f, _), text in zip(shown, numbers, strict=True)],
        version=__version__,
    )
    return write_file(path, card)


def _metadata(shipped: Shipped) -> str:
    config = shipped.config
    rows = sum(map(len, shipped.splits.values()))
    known = _LICENCE.fullmatch(config.licence)
    return DatasetCardData(
        language=config.language,
        license=known.group().lower().replace(" ", "-") if known else "other",
        task_categories=[task_of(config).about.hub_name],
        size_categories=[next((name for most, name in _SIZES if rows < most), "n>1M")],
        pretty_name=config.title or config.name,
        tags=["synthetic"] if config.synthetic else None,
    ).to_yaml()


def _sizes(shipped: Shipped) -> Table:
    labels = shipped.config.label_order
    rows: list[tuple[Cell, ...]] = []
    for split, examples in shipped.splits.items():
        found = [example.label for example in examples]
        groups = len({example.group for example in examples if example.group})
        rows.append((split, len(examples), groups, *(found.count(label) for label in labels)))
    note = "Groups are documents or articles; 0: rows are independent."
    return Table("Splits", ("split", "rows", "groups", *labels), tuple(rows), note)
