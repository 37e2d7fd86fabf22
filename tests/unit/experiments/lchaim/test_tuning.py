"""The hill-climb keeps what scores better on its own rows, and says how much of it was noise."""

import json
from dataclasses import replace

import numpy as np
import pytest

from heron.base.files import read_yaml
from heron.data.examples import Example
from heron_forks.lchaim.tuning import climb, compare, interval, line_changes
from heron_tools.prompting.config import PromptConfig
from small_prompts import save_causal_model, words
from small_runs import heron

FIRST = PromptConfig("p", instruction="one\ntwo\nthree", item="{{ text }}")
ROWS = [Example(str(number), "text", label="a") for number in range(200)]


def climbed(scores, rounds=7):
    """Climb where the n-th prompt has the n-th score."""
    asked = []

    def tried(kept, number):
        asked.append(kept.name)
        return (f"{number}", replace(FIRST, name=str(number))) if number <= rounds else None

    def score(prompt, rows):
        assert len(rows) == 30
        number = 0 if prompt is FIRST else int(prompt.name)
        return np.full(30, scores[number])

    return list(climb(FIRST, tried, ROWS, 30, 0, score)), asked


def test_a_better_prompt_is_kept_and_a_worse_one_is_undone():
    found, asked = climbed([0.5, 0.4, 0.6, 0.6, 0.7, 0.1, 0.65, 0.8])
    assert [each.is_kept for each in found] == [True, False, True, False, True, False, False, True]
    assert asked == ["p", "p", "2", "2", "4", "4", "4", "7"]


def test_each_round_draws_rows_anew_and_the_same_for_a_seed():
    found, _ = climbed([0.5] * 8)
    drawn = [tuple(each.guids) for each in found]
    assert len(set(drawn)) == 8
    assert drawn == [tuple(each.guids) for each in climbed([0.5] * 8)[0]]


def test_intervals_of_shares_are_wilsons():
    mean, low, high = interval(np.array([1.0] * 17 + [0.0] * 13), 0)
    # Wilson 1927, as statsmodels and R's prop.test without correction give it.
    assert (mean, low, high) == pytest.approx((0.5667, 0.3920, 0.7262), abs=1e-4)
    assert interval(np.ones(30), 0)[1] < 0.9, "30 of 30 are no proof of 1"
    mean, low, high = interval(np.linspace(0, 1, 30), 0)
    assert low < mean < high


def test_the_comparison_is_paired():
    first = np.array([1.0] * 50 + [0.0] * 50)
    better = first.copy()
    better[50:60] = 1
    found = compare(first, better, 0)
    assert (found.rows, found.first, found.last) == (100, 0.5, 0.6)
    assert found.p == pytest.approx(2 / 2**10)
    assert 0 < found.low < 0.1 < found.high
    assert compare(first, first, 0).p == 1


def test_changes_of_lines_leave_all_else_as_it_is():
    changes = dict(line_changes(FIRST))
    assert changes["without line 2"].instruction == "one\nthree"
    assert changes["line 3 first"].instruction == "three\none\ntwo"
    assert changes["line 1 again at the end"].instruction == "one\ntwo\nthree\none"
    assert "line 1 first" not in changes
    assert all(replace(each, instruction=FIRST.instruction) == FIRST for each in changes.values())
    ((change, _),) = line_changes(replace(FIRST, instruction="one"))
    assert change == "line 1 again at the end"


@pytest.fixture(scope="module")
def causal_model(tiny_encoder, tmp_path_factory):
    return save_causal_model(tiny_encoder, tmp_path_factory.mktemp("causal") / "model")


def tune(tmp_path, model, *more):
    small = [word for word in words(tmp_path) if not word.startswith("baseline")]
    own = ["data=chronicle_nli", "data.generator.size=400", "prompt=lchaim", "model=local"]
    asks = [f"model.name={model}", "scoring=likelihood", f"out={tmp_path / 'tuned'}"]
    return heron("prompt", "tune", *small, *own, *asks, *more)


def test_the_command_asks_validation_only_and_writes_the_last_prompt(
    tmp_path, causal_model, capsys
):
    assert tune(tmp_path, causal_model, "rounds=3", "sample=12") == 0
    shown = capsys.readouterr().out
    assert "was noise" in shown or "no gain" in shown
    found = json.loads((tmp_path / "tuned/tune.json").read_text(encoding="utf-8"))
    assert len(found["rounds"]) == 4
    drawn = {guid for each in found["rounds"] for guid in each["guids"]}
    assert found["held_out"]["rows"] + 12 <= 40, "half of validation is set aside"
    assert len(drawn) <= 40 - found["held_out"]["rows"]
    last = PromptConfig(**read_yaml(tmp_path / "tuned/prompt.yaml"))
    assert last.answers == {"contradiction": "ס", "entailment": "מ", "neutral": "נ"}
    # The written prompt is a candidate of another climb.
    written = f"candidates={tmp_path / 'tuned/prompt.yaml'},lchaim_en"
    assert tune(tmp_path, causal_model, "sample=5", written) == 0
    assert "lchaim_en" in capsys.readouterr().out


def test_no_candidate_is_left_out_for_want_of_rounds(tmp_path, causal_model, capsys):
    candidates = "candidates=lchaim,lchaim_en,nli"
    assert tune(tmp_path, causal_model, "sample=5", "rounds=2", candidates) == 2
    assert "candidates: 3 prompts, but rounds=2; set rounds=3" in capsys.readouterr().err
    assert tune(tmp_path, causal_model, "sample=5", "rounds=3", candidates) == 0
