"""HeSum's statistics on the part of it that is at hand: what comes near, what it lacks."""

from __future__ import annotations

from heron.base.files import read_json
from heron.cli import main
from real_data import DATA, needs

pytestmark = needs(DATA / "hesum_subset" / "pairs.jsonl")
ORIGINAL = "train, original"


def test_original_summaries_between_spaces_come_near_the_paper(tmp_path):
    words = ("data=hesum_subset", "by=summary_kind", "morphology=simplemma-prefixes")
    assert main(["analyze", *words, f"paths.data={DATA}", f"out={tmp_path}"]) == 0
    found = read_json(tmp_path / "statistics.json")["sets"]
    sizes = {name: one["rows"] for name, one in found.items()}
    assert sizes == {
        "train, original": 208,
        "train, normalized": 99,
        "train, curated": 117,
        "all": 424,
    }
    ways = found[ORIGINAL]["definitions"]
    nearest = {
        row: next(way for way in ways if way["row"] == row) for row in {w["row"] for w in ways}
    }
    assert nearest["HeSum"]["unit"] == "whitespace"
    assert nearest["HeSum"]["average"] == "document"
    assert nearest["HeSum"]["mean_distance"] < 0.013
    assert nearest["HeSum, morphemes"]["unit"] == "lemmas and marks"
    assert nearest["HeSum, morphemes"]["mean_distance"] < 0.02
    assert found["all"]["articles"]["morphemes"] / found["all"]["articles"]["words"] > 1.3


def test_the_audit_finds_that_articles_were_cut(tmp_path, capsys):
    words = ("data=hesum_subset", f"paths.data={DATA}", f"paths.cache={tmp_path / 'cache'}")
    assert main(["audit", *words, f"out={tmp_path}"]) == 0
    found = {one["id"]: one for one in read_json(tmp_path / "findings.json")["findings"]}
    kinds = [row["guid"].partition("-")[0] for row in found["cut.train"]["rows"]]
    assert kinds.count("normalized") > 50
    assert found["short.train"]["row_count"] == 7
