"""Answers are stored once, by all that can change them."""

import multiprocessing
from dataclasses import replace

import pytest

from heron_tools.prompting.answers import ModelAnswer, Store, model_key
from heron_tools.prompting.config import ModelConfig, PromptingConfig, SamplingConfig, TrafficConfig

MODEL = ModelConfig(name="m", backend="server")


def test_an_answer_is_found_as_it_was_stored(tmp_path):
    store = Store(tmp_path, "owner/model name")
    answer = ModelAnswer("כן", "length", (-1.5, -0.25), 7, 2, 0.5, 3)
    assert list(store.keep([("k", answer)])) == [("k", answer)]
    assert Store(tmp_path, "owner/model name").find(["k", "other"]) == {"k": answer}
    assert store.path.parent == tmp_path / "answers"


def test_the_first_answer_stays_and_failures_are_asked_again(tmp_path):
    store = Store(tmp_path, "m")
    list(
        store.keep(
            [
                ("k", ModelAnswer("first")),
                ("k", ModelAnswer("second")),
                ("f", ModelAnswer(finish="failed")),
            ]
        )
    )
    assert store.find(["k", "f"]) == {"k": ModelAnswer("first")}


def test_an_answer_is_stored_before_the_next_one_arrives(tmp_path):
    store = Store(tmp_path, "m")

    def arriving():
        yield "a", ModelAnswer("a")
        assert Store(tmp_path, "m").find(["a"])
        yield "b", ModelAnswer("b")

    assert len(list(store.keep(arriving()))) == 2


def _fill(folder, part):
    answers = ((f"{part}-{number}", ModelAnswer(str(number))) for number in range(100))
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
