"""A server that misbehaves in every way: one answer or one counted failure for each question."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import openai
import pyarrow.parquet as pq
import pytest

from heron.base.errors import ConfigError
from heron_tools.prompting.answers import ModelRequest
from heron_tools.prompting.config import ModelConfig, PromptingConfig, TrafficConfig
from heron_tools.prompting.server import Server
from small_prompts import completion, compose, half_a_body, hang, hang_up, serving, words
from small_runs import heron

KEY = "HERON_TEST_KEY"


def read_columns(path):
    return pq.read_table(path).to_pydict()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setenv(KEY, "sk-not-a-real-key")


def backend(tmp_path, url, form="chat", **traffic):
    config = compose(tmp_path, "model=server", "prompting.model.name=m")
    model = ModelConfig(name="m", backend="server", url=url, key=KEY, form=form)
    traffic = {"timeout": 1.0, "attempts": 4, **traffic}
    return Server(config, PromptingConfig(model=model, traffic=TrafficConfig(**traffic)))


def questions(*prompts):
    return [ModelRequest(p, ({"role": "user", "content": p},)) for p in prompts]


def refused(status, text="no", **headers):
    return status, {"error": {"message": text, "code": text}}, headers


BEHAVIOURS = {
    "well": (["yes"], "stop", 1),
    "too many requests": ([refused(429, **{"Retry-After": "0.05"}), "yes"], "stop", 2),
    "two errors": ([refused(500), refused(503), "yes"], "stop", 3),
    "always an error": ([refused(500)] * 9, "failed", 4),
    "hangs once": ([hang, "yes"], "stop", 2),
    "hangs up": ([hang_up, "yes"], "stop", 2),
    "half a body": ([half_a_body], "failed", 1),
    "no choices": ([(200, {"choices": []})], "failed", 1),
    "empty": (["  "], "failed", 1),
    "filtered answer": ([completion("", "content_filter")], "filtered", 1),
    "filtered prompt": ([refused(400, "content_filter")], "filtered", 1),
    "cut": ([completion("yes and", "length")], "length", 1),
}


def test_every_question_has_one_answer_or_one_counted_failure(tmp_path):
    with serving(lambda prompt, times: BEHAVIOURS[prompt][0][times]) as place:
        found = list(backend(tmp_path, place.url).answer(questions(*BEHAVIOURS)))
    assert sorted(key for key, _ in found) == sorted(BEHAVIOURS)
    for key, answer in found:
        _, finish, attempts = BEHAVIOURS[key]
        assert (key, answer.finish, answer.attempts) == (key, finish, attempts)
        assert place.seen[key] == attempts
        assert bool(answer.error) == (finish == "failed")
    assert dict(found)["well"].input_tokens == 7


def test_a_server_is_asked_again_for_the_next_split(tmp_path):
    with serving(lambda prompt, times: "yes") as place:
        model = backend(tmp_path, place.url)
        for split in ("validation", "test"):
            ((_, answer),) = model.answer(questions(split))
            assert answer.text == "yes"


def test_openai_is_asked_with_a_key_only(monkeypatch):
    own = PromptingConfig(model=ModelConfig("m", "server", key=KEY))
    assert Server(None, own).client.max_retries == own.traffic.attempts - 1
    monkeypatch.delenv(KEY)
    with pytest.raises(ConfigError, match=KEY):
        _ = Server(None, own).client


@pytest.mark.parametrize(("status", "said"), [(401, KEY), (404, "prompting.model.name")])
def test_a_refusal_ends_the_run_and_names_the_key(tmp_path, status, said):
    with (
        serving(lambda prompt, times: refused(status)) as place,
        pytest.raises(ConfigError, match=said) as caught,
    ):
        list(backend(tmp_path, place.url).answer(questions(*map(str, range(50)))))
    assert "sk-not" not in str(caught.value)
    assert len(place.requests) < 50


def test_no_more_than_so_many_requests_are_under_way(tmp_path):
    def slowly(prompt, times):
        time.sleep(0.02)
        return "yes"

    with serving(slowly) as place:
        found = list(backend(tmp_path, place.url, concurrency=5).answer(questions(*"abcdefghijkl")))
    assert len(found) == 12
    assert 2 <= place.most_at_once <= 5


def test_completion_form_sends_one_text(tmp_path):
    reply = 200, {"choices": [{"text": " yes", "finish_reason": "stop"}]}
    with serving(lambda prompt, times: reply) as place:
        (answer,) = dict(
            backend(tmp_path, place.url, form="completion").answer(questions("q"))
        ).values()
    assert answer.text == " yes"
    assert place.requests[0]["prompt"] == "q"


# Whole runs


def run(tmp_path, url, *more):
    overrides = words(
        tmp_path,
        "data=chronicle_nli",
        "model=server",
        "prompting.model.name=m",
        f"prompting.model.url={url}",
        f"prompting.model.key={KEY}",
        "prompting.traffic.timeout=1",
        "prompting.traffic.attempts=3",
        "run.job=tiny",
        *more,
    )
    assert heron("train", *overrides) == 0
    (folder,) = (tmp_path / "runs").glob("*/tiny")
    return folder


def mixed(prompt, times):
    """Answer well, wrongly, not at all, by the prompt."""
    kind = sum(map(ord, prompt)) % 7
    return {
        0: "נגזר",
        1: "סותר.",
        2: "I do not know",
        3: completion("", "content_filter"),
        4: refused(500),
        5: refused(429, **{"Retry-After": "0"}) if times == 0 else "ניטרלי",
        6: "תשובה: נגזר\nכי כך",
    }[kind]


def test_counts_add_up_and_nothing_is_guessed(tmp_path):
    with serving(mixed) as place:
        folder = run(tmp_path, place.url, "data.generator.size=400")
    log = read_columns(folder / "prompts.parquet")
    rows = len(log["guid"])
    assert len(set(log["guid"])) == rows > 20
    counts = json.loads((folder / "status.json").read_text())["baseline"]
    assert counts["answers"] == dict(Counter(log["finish"]))
    assert sum(counts["answers"].values()) == sum(counts["rules"].values()) == rows
    assert {"stop", "filtered", "failed"} <= set(counts["answers"])
    assert {"exact", "signs or case", "first line", "invalid"} <= set(counts["rules"])
    scores = json.loads((folder / "scores.json").read_text())["test"]
    predicted = read_columns(folder / "predictions/test.parquet")
    given = [(g, p) for g, p in zip(predicted["gold"], predicted["prediction"], strict=True)]
    right = sum(gold == label for gold, label in given)
    valid = sum(bool(label) for _, label in given)
    assert valid == rows - counts["rules"]["invalid"] == scores["valid_rows"] < rows
    assert scores["accuracy"] == pytest.approx(right / rows)
    assert scores["valid_accuracy"] == pytest.approx(right / valid)


def test_a_second_run_sends_nothing_but_what_had_failed(tmp_path):
    with serving(mixed) as place:
        first = run(tmp_path, place.url)
        failed = read_columns(first / "prompts.parquet")["finish"].count("failed")
        place.requests.clear()
        run(tmp_path, place.url, "run.resume=false")
        assert failed
        assert len(place.requests) == 3 * failed
        place.reply = lambda prompt, times: "נגזר"
        run(tmp_path, place.url, "run.resume=false")
        place.requests.clear()
        run(tmp_path, place.url, "run.resume=false", "prompting.traffic.concurrency=2")
        assert not place.requests


def test_no_key_is_written_anywhere(tmp_path):
    with serving(lambda prompt, times: "נגזר") as place:
        folder = run(tmp_path, place.url)
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"sk-not-a-real-key" not in path.read_bytes(), path


@pytest.mark.real  # 20 seconds
def test_a_kill_loses_no_answer_that_had_arrived(tmp_path):
    def slowly(prompt, times):
        time.sleep(0.05)
        return "נגזר"

    with serving(slowly) as place:
        overrides = words(
            tmp_path,
            "data=chronicle_nli",
            "data.generator.size=1000",
            "model=server",
            "prompting.model.name=m",
            f"prompting.model.url={place.url}",
            "prompting.traffic.concurrency=4",
            "run.job=tiny",
        )
        code = "import sys; from heron.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, "train", *overrides]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(place.requests) < 60:
            time.sleep(0.01)
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        arrived = len(place.requests)
        place.reply = lambda prompt, times: "נגזר"
        before = len(place.requests)
        assert heron("train", *overrides) == 0
        again = len(place.requests) - before
        questions = 200
        # Those under way at the kill, and no others, are asked twice.
        assert again <= questions - arrived + 2 * 4
        assert arrived + again >= questions
