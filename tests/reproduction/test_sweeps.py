"""Sixty jobs with kills at random end as sixty jobs that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path

import pytest

from small_sweeps import meanwhile, scores, sweep, working

JOBS = 60


@pytest.mark.real
@pytest.mark.slow
def test_sixty_jobs_with_kills_at_random_score_as_the_undisturbed_ones(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert sweep(whole, "run.isolate=false", n=JOBS) == 0
    kills, over, generator = list[int](), threading.Event(), random.Random(0)

    def kill_at_random() -> None:
        while not over.wait(generator.uniform(0.5, 5.0)):
            for pid in working(broken)[:1]:
                os.kill(pid, signal.SIGKILL)
                kills.append(pid)

    words = ("run.n_jobs=2", "trainer.checkpoint_steps=3")
    with meanwhile(kill_at_random):
        codes = [sweep(broken, *words, n=JOBS)]
        while codes[-1] and len(codes) < 30:
            codes.append(sweep(broken, *words, n=JOBS))
        over.set()
    print(f"{len(kills)} kills, {len(codes)} commands")
    assert len(kills) >= 5
    assert codes[-1] == 0
    assert list(scores(broken).values()) == list(scores(whole).values())
