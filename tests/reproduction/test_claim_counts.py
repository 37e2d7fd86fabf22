"""The counts that `heron claims` computes with are those of the real annotation files."""

from collections import Counter

import pytest

from heron.base.tables import read_table
from heron_forks.ronli import claims as ronli
from heron_forks.trc import claims as trc
from heron_forks.trc.tables import LAYOUT, MATRES, ROUNDS
from heron_tools.annotation.labels import read_labels
from heron_tools.annotation.measures import pairs_of
from real_data import DATA, needs

pytestmark = needs(DATA)


def counted(pairs, names):
    found = Counter(pairs)
    return [[found[a, b] for b in names] for a in names]


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round_of_trc_has_these_pairs_of_labels(name):
    labels = read_labels([DATA / ROUNDS[name][0]], LAYOUT)
    assert counted(pairs_of(labels, 0, 1), trc.LABELS) == trc.ROUNDS[name]


def test_the_first_round_of_trc_has_these_windows():
    rows = read_table(DATA / ROUNDS["first round"][0]).rows
    windows = {(row["document_number"], row["window_number"]): False for row in rows}
    for row in rows:
        windows[row["document_number"], row["window_number"]] |= row["hadar"] != row["shir"]
    assert (len(windows), sum(windows.values())) == (trc.WINDOWS, trc.MIXED)


def test_matres_has_these_relations():
    texts = [(DATA / "matres" / f"{name}.txt").read_text("utf-8") for name in MATRES]
    assert (
        Counter(line.split("\t")[-1] for text in texts for line in text.splitlines()) == trc.MATRES
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("an earlier file", "processed_items_old.json"),
        ("the released file", "processed_items.json"),
    ],
)
def test_a_file_of_ronli_has_these_automatic_and_manual_labels(name, file):
    rows = read_table(DATA / "ronli" / file).rows
    pairs = [(int(row["label"]), int(row["corrected_label"])) for row in rows]
    assert counted(pairs, range(4)) == ronli.LABELS[name]
