"""The benchmark of span scores: the sample is Table 5's, and differing scores are no benchmark."""

from __future__ import annotations

import pytest

from benchmarks import span_scores as benchmark
from heron.base.errors import HeronError


def test_made_up_predictions_are_right_as_often_as_a_trained_systems() -> None:
    answers = benchmark.made_up_answers()
    assert all(context[start:end] for context, start, end in answers)
    sample = benchmark.make_sample(answers, 2000)
    exact, f1 = (scores_N.mean() for scores_N in benchmark.heron_scores(sample))
    assert exact == pytest.approx(0.26, abs=0.03)
    assert exact < f1 < 0.66


def test_ways_that_score_differently_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = benchmark.make_sample(benchmark.made_up_answers(5), 20)
    monkeypatch.setattr(benchmark, "official_scores", lambda one: [(1.0, 0.5)] * 20)
    with pytest.raises(HeronError, match="score differently"):
        benchmark.measure(sample, 1)


def test_the_verdict_is_for_the_slowest_number_of_pairs() -> None:
    def ways(ratio: float) -> dict[str, list[float]]:
        return {"official_loop": [1.0, 2.0, 9.0], "heron": [1 / ratio, 2 / ratio, 9.0]}

    assert "reached (6.5)" in benchmark.verdict({10: ways(6.5), 20: ways(9)})
    assert "missed (5.0)" in benchmark.verdict({10: ways(6.5), 20: ways(5)})
