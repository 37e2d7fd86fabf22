"""Answers are stored once, by all that can change them; offline interfaces work through files."""

import json
import multiprocessing
from dataclasses import replace

import pytest

from heron.base.errors import ConfigError
from heron_tools.prompting.answers import Answer, Request, Store, model_key
from heron_tools.prompting.backends import BatchFiles
from heron_tools.prompting.config import ModelConfig, PromptingConfig, SamplingConfig, TrafficConfig
from small_prompts import completion, compose

MODEL = ModelConfig(name="m", backend="batch")


def requests(*keys):
    return [Request(key, ({"role": "user", "content": f"ask {key}"},)) for key in keys]


def test_an_answer_is_found_as_it_was_stored(tmp_path):
    store = Store(tmp_path, "owner/model name")
    answer = Answer("כן", "length", (-1.5, -0.25), 7, 2, 0.5, 3)
    assert list(store.keep([("k", answer)])) == [("k", answer)]
    assert Store(tmp_path, "owner/model name").find(["k", "other"]) == {"k": answer}
    assert store.path.parent == tmp_path / "answers"


def test_the_first_answer_stays_and_failures_are_asked_again(tmp_path):
    store = Store(tmp_path, "m")
    list(
        store.keep(
            [("k", Answer("first")), ("k", Answer("second")), ("f", Answer(finish="failed"))]
        )
    )
    assert store.find(["k", "f"]) == {"k": Answer("first")}


def test_an_answer_is_stored_before_the_next_one_arrives(tmp_path):
    store = Store(tmp_path, "m")

    def arriving():
        yield "a", Answer("a")
        assert Store(tmp_path, "m").find(["a"])
        yield "b", Answer("b")

    assert len(list(store.keep(arriving()))) == 2


def _fill(folder, part):
    answers = ((f"{part}-{number}", Answer(str(number))) for number in range(100))
    list(Store(folder, "m").keep(answers))


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_several_processes_share_a_store(tmp_path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(tmp_path, part)) for part in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    keys = [f"{part}-{number}" for part in range(3) for number in range(100)]
    assert len(Store(tmp_path, "m").find(keys)) == 300


@pytest.mark.parametrize(
    "other",
    [
        {"model": replace(MODEL, name="n")},
        {"model": replace(MODEL, revision="r")},
        {"model": replace(MODEL, form="completion")},
        {"sampling": SamplingConfig(max_tokens=17)},
        {"sampling": SamplingConfig(temperature=0.5)},
        {"scoring": "likelihood"},
    ],
)
def test_what_can_change_an_answer_changes_its_key(other):
    assert model_key(PromptingConfig(model=MODEL)) != model_key(
        PromptingConfig(**{"model": MODEL, **other})
    )


def test_traffic_and_prices_do_not_change_a_key():
    priced = replace(MODEL, input_price=3.0, key="OTHER")
    other = PromptingConfig(model=priced, traffic=TrafficConfig(concurrency=1))
    assert model_key(PromptingConfig(model=MODEL)) == model_key(other)


def test_another_model_in_the_same_folder_has_another_key(tmp_path):
    local = PromptingConfig(model=ModelConfig(name=str(tmp_path)))
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    before = model_key(local)
    (tmp_path / "config.json").write_text('{"layers": 2}', encoding="utf-8")
    assert model_key(local) != before


# Batch files


def batch(tmp_path, *files):
    config = compose(tmp_path, "model=server", "prompting.model.name=m")
    traffic = TrafficConfig(answers=[str(file) for file in files])
    return BatchFiles(config, PromptingConfig(model=MODEL, traffic=traffic))


def line(key, text="yes", status=200, error=None):
    body = completion(text)[1] if isinstance(text, str) else text
    response = {"status_code": status, "body": body}
    return json.dumps({"custom_id": key, "response": response, "error": error})


def test_requests_are_written_and_their_answers_read(tmp_path):
    with pytest.raises(ConfigError, match="2 requests wait for answers") as caught:
        list(batch(tmp_path).answer(requests("a", "b")))
    (path,) = (tmp_path / "cache" / "requests").glob("*.jsonl")
    assert str(path) in str(caught.value)
    rows = [json.loads(each) for each in path.read_text(encoding="utf-8").splitlines()]
    assert [row["custom_id"] for row in rows] == ["a", "b"]
    assert rows[0]["body"]["messages"] == [{"role": "user", "content": "ask a"}]
    assert rows[0]["body"]["model"] == "m"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(f"{line('b')}\n{line('a', 'no')}\n", encoding="utf-8")
    found = dict(batch(tmp_path, answers).answer(requests("a", "b")))
    assert {key: answer.text for key, answer in found.items()} == {"a": "no", "b": "yes"}


def test_repeated_strange_filtered_and_failed_lines(tmp_path):
    answers = tmp_path / "answers.jsonl"
    rows = [
        line("a", "first"),
        line("a", "second"),
        line("unknown"),
        line("b", {}, 500),
        json.dumps({"custom_id": "c", "error": {"code": "content_filter"}, "response": None}),
    ]
    answers.write_text("\n".join(rows), encoding="utf-8")
    arriving = batch(tmp_path, answers).answer(requests("a", "b", "c"))
    found = dict([next(arriving), next(arriving)])
    with pytest.raises(ConfigError, match="1 requests wait"):
        next(arriving)
    assert found["a"].text == "first"
    assert found["c"].finish == "filtered"
    assert sorted(found) == ["a", "c"]


def test_an_answer_that_passed_a_filter_is_an_answer(tmp_path):
    answers = tmp_path / "answers.jsonl"
    row = json.loads(line("a", "yes"))
    passed = {"hate": {"filtered": False, "severity": "safe"}}
    row["response"]["body"]["choices"][0]["content_filter_results"] = passed
    answers.write_text(json.dumps(row), encoding="utf-8")
    assert dict(batch(tmp_path, answers).answer(requests("a")))["a"].text == "yes"
