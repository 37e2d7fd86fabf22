import json

import pytest

from benchmarks import wiki_pairs as benchmark
from benchmarks.frame import main
from small_wiki import PHRASES, write_dump


def test_the_list_of_phrases_has_the_asked_for_length():
    found = benchmark.phrases(114)
    assert sum(map(len, found.values())) == 114
    assert set(found) == set(PHRASES)


@pytest.mark.real  # seconds
@pytest.mark.slow
def test_the_benchmark_runs_both_ways_on_a_small_dump(tmp_path, capsys):
    words = ["pages=30", "words=100", "rounds=1", f"out={tmp_path}/found.json"]
    assert main(benchmark.Options, benchmark.run, words) == 0
    (found,) = json.loads((tmp_path / "found.json").read_text())["rounds"]
    assert set(found) == {"heron, 1", "heron, 2", "plain script"}
    assert all(each["seconds"] > 0 for each in found.values())


def test_the_rival_finds_linked_pairs(tmp_path):
    dump = write_dump(tmp_path / "dump.xml", 40, words=200)
    assert benchmark.plain_script(dump, PHRASES) > 10
