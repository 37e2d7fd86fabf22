"""Probes learn what a text alone gives away, and nothing from random labels."""

import random

import pytest
from tests.unit.heron_tools.audit.builders import by_id, event, pair, pairs, sentence

from heron_tools.audit import probes
from heron_tools.audit.probes import find_by_probes
from heron_tools.audit.rules import labelled

LABELS = ["a", "b"]


def leaky(count: int, seed: int, prefix: str = "g"):
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        label = rng.choice("ab")
        ending = " desigur" if label == "a" else " niciodată"
        rows.append(pair(f"{prefix}{i}", sentence(rng), sentence(rng) + ending, label))
    return rows


def test_a_hypothesis_that_gives_its_label_away_is_found_and_its_premise_is_not():
    parts = labelled({"train": leaky(150, 0), "test": leaky(60, 1, "t")}, LABELS)
    found = by_id(find_by_probes(parts, LABELS))
    assert found["hypothesis_only"].severity == "serious"
    scores = {(m["sees"], m["split"]): m["accuracy"] for m in found["hypothesis_only"].measures}
    assert scores["hypothesis", "train"] > 0.95
    assert scores["hypothesis", "test"] > 0.95
    assert ("all texts", "test") in scores
    assert found["premise_only"].severity == "info"


def test_random_labels_are_information_at_most():
    found = find_by_probes(labelled({"train": pairs(200)}, LABELS), LABELS)
    assert {finding.severity for finding in found} == {"info"}


def test_capitals_are_seen():
    rng = random.Random(0)
    rows = []
    for i in range(120):
        text = sentence(rng)
        rows.append(pair(str(i), sentence(rng), text.title() if i % 2 else text, "ab"[i % 2]))
    found = by_id(find_by_probes(labelled({"train": rows}, LABELS), LABELS))
    assert found["hypothesis_only"].measures[0]["accuracy"] > 0.95


def test_events_are_evidence_and_their_window_alone_is_not():
    rng = random.Random(0)
    rows = []
    for i in range(120):
        verb = "ploua" if i % 2 else "tuna"
        text = f"{sentence(rng)} {verb} apoi ningea"
        rows.append(event(str(i), text, verb, "ningea", label="ab"[i % 2]))
    found = by_id(find_by_probes(labelled({"train": rows}, LABELS), LABELS))
    assert found["events_only"].severity == "info"
    assert found["window_only"].severity == "serious"


def test_a_long_split_is_thinned_evenly(monkeypatch):
    monkeypatch.setattr(probes, "MOST_ROWS", 50)
    found = find_by_probes(labelled({"train": leaky(200, 0)}, LABELS), LABELS)
    assert found[0].measures[0]["rows"] == 50


@pytest.mark.parametrize("rows", [[], [pair("1", "p", "h", "a")], [pair("1", "p", "h", None)]])
def test_with_nothing_to_tell_apart_there_is_no_probe(rows):
    assert find_by_probes(labelled({"train": rows}, LABELS), LABELS) == []
