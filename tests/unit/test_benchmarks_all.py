"""`make bench-all` sums up every benchmark in one table, and says what missed its bar."""

import json
from pathlib import Path

import pytest

from benchmarks.all import BENCHMARKS, Options, run
from benchmarks.frame import main

WRITTEN = {
    "rouge": {
        "seconds": {
            size: {"plain": [8.0, 9.0], "heron, first pass": [1.0, 1.0], "heron": [0.1, 0.1]}
            for size in ("title", "short", "article")
        }
    },
    "span_scores": {"seconds": {"1000": {"official_loop": [7.0], "heron": [1.0]}}},
    "significance": {"seconds": {"sklearn_loop": [600.0], "heron": [1.0]}},
    "token_loss": {"seconds": {"32000": {"torch": [2.0], "heron": [1.0]}}},
    "recorder": {"ms": {"12 layers": [300.0, 0.02], "a head": [1.0, 0.08]}},
    "tokenizing": {
        "seconds": {
            "tokenize": {"datasets": [9.0], "heron": [3.0]},
            "open": {"datasets": [0.5], "heron": [0.05]},
            "import": {"datasets": [5.0], "heron": [0.05]},
        },
        "pairs": 60,
    },
    "cartography": {"ratio": {"total": 120.0}},
    "prompting": {
        "seconds": {"one by one": [6.0], "heron, likelihood": [1.0], "heron, written": [2.0]}
    },
    "generation": {
        "seconds": {
            "greedy": {
                "one by one": [2.0],
                "Seq2SeqTrainer, 4 at once": [1.9],
                "Seq2SeqTrainer, 8 at once": [1.5],
                "heron": [1.0],
            }
        }
    },
    "training": {
        "headlines": [
            {"work": "heron", "rival": "the Trainer", "ratios": [2.0, 1.0, 3.0], "bar": 1.5}
        ]
    },
    "frozen_cache": {"seconds": {"grid": 72.0, "jobs": 180, "anew_job": 40.0, "narrow_job": 0.5}},
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Write what the benchmarks would have written."""
    for name, content in WRITTEN.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_every_benchmark_has_a_row_and_what_is_there_is_not_measured_again(out, capsys) -> None:
    assert WRITTEN.keys() == BENCHMARKS.keys()
    assert main(Options, run, [f"out={out}"]) == 0
    assert "bench-all:" not in capsys.readouterr().out
    rows = (out / "table.md").read_text().splitlines()
    assert "| heron | the Trainer | 2 times | 1 to 3 | ≥ 1.5: reached |" in rows
    assert "| recorder, a head | a step | 0.08 ms | 0.08 to 0.08 | ≤ 0.05: missed |" in rows
    assert "| a head-only job, 2 x 128 units |  | 0.5 s | 0.5 to 0.5 | ≤ 0.7: reached |" in rows
    best = "| the same | Seq2SeqTrainer, 8 at once | 1.5 times | 1.5 to 1.5 | ≥ 1.3: reached |"
    assert best in rows
    plain = "a plain re-statement of XL-Sum's fork"
    first = f"| ROUGE, short, texts seen first | {plain} | 8.5 times | 8 to 9 | ≥ 15: missed |"
    assert first in rows
    assert any("GFLOP/s a thread: 32-true" in row for row in rows)
