"""Every table of `experiments/<paper>/published.yaml` says what its numbers are, and of how many.

The schema is described in `docs/reproducing.md`.
"""

import pytest

from heron.base.files import read_yaml
from heron.base.folders import conf_dir
from heron.results import STATISTICS
from heron_tools.reproduction.cell_comparison import note_of
from heron_tools.reproduction.published import published_cells
from heron_tools.reproduction.results import published_parts
from heron_tools.reproduction.targets import read_targets

FILES = sorted(conf_dir().parent.glob("experiments/*/published.yaml"))
PAPERS = {path.parent.name: read_yaml(path) for path in FILES}
TABLES = [
    pytest.param(table, id=f"{paper}:{name}")
    for paper, published in PAPERS.items()
    for name, table in published["tables"].items()
]
SCHEMA_PAGE = (conf_dir().parent / "docs/reproducing.md").read_text("utf-8")
TABLE_KEYS = {
    *("title", "definition", "unit", "n", "decimals", "note", "columns", "scores", "classes"),
    *("rows", "groups", "split", "data", "test_sets", "best_run", "choose", "row_names"),
}
RANGE_OF_UNIT = {
    "fraction": (0, 1),
    "kappa": (-1, 1),
    "cosine": (-1, 1),
    "points": (0, 5),
    "count": (0, 10**6),
    "words": (1, 2000),
    "per text": (0, 1000),
    "not stated": (0, 10**6),
}


def unit_of(table, names):
    """Find the unit of a cell: of the table, or of its row or column."""
    unit = table["unit"]
    return unit if isinstance(unit, str) else next(unit[name] for name in names if name in unit)


def test_the_five_papers_have_published_numbers():
    assert set(PAPERS) == {"hesum", "lchaim", "parashoot", "ronli", "trc"}
    for published in PAPERS.values():
        assert {"paper", "data", "tables"} <= set(published)


def test_a_described_data_set_is_one_of_a_paper_or_stands_in_for_one():
    described = [(*paper["data"], *paper.get("substitutes", ())) for paper in PAPERS.values()]
    assert {"control_dev", "ronli_dev"} <= set(STATISTICS)
    for name in STATISTICS:
        assert sum(name in names for names in described) == 1, name


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_definition_unit_number_of_items_and_cells_in_their_range(table):
    assert set(table) <= TABLE_KEYS
    assert {"title", "definition", "unit", "n"} <= set(table)
    assert table["definition"].endswith(".")
    assert table["definition"] in note_of(table)
    assert table["n"] is None or isinstance(table["n"], dict) or table["n"] > 0
    if isinstance(decimals := table.get("decimals"), dict):
        assert list(decimals) == list(table.get("scores") or table["columns"])
    cells = list(published_cells(table))
    assert cells
    for names, cell in cells:
        if isinstance(cell, dict):  # what was printed, and what is right or in doubt
            assert set(cell) in ({"printed", "corrected"}, {"printed", "verified"}), names
            assert cell["printed"] != cell.get("corrected"), names
            assert not cell.get("verified"), names
            values = [cell["printed"], cell.get("corrected")]
        else:
            values = [cell]
        unit = unit_of(table, names)
        low, high = RANGE_OF_UNIT[unit]
        assert f"`{unit}`" in SCHEMA_PAGE
        for value in (value for value in values if value is not None):
            assert low <= value <= high, names
            assert unit != "count" or isinstance(value, int), names


def test_the_schema_page_describes_every_key():
    assert [key for key in TABLE_KEYS if f"`{key}`" not in SCHEMA_PAGE] == []


def test_tables_that_the_papers_print_numbers_in_have_them():
    # Tables of texts, phrases and examples, and those that people must fill, have none.
    without_numbers = {
        *("trc:T1", "trc:T6", "hesum:T2", "parashoot:A.1"),
        *(f"ronli:T{number}" for number in (1, 7, 8, 9, 10, 11, 13)),
    }
    for name, target in read_targets().items():
        if target.key.startswith("T"):
            tables = published_parts(target, PAPERS[target.paper])
            assert bool(tables) != (name in without_numbers), name
