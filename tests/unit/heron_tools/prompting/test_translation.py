"""Translation around a prompt: rows before it, answers behind it, each text once."""

import json
from dataclasses import replace
from pathlib import Path

import openai
import pyarrow.parquet as pq
import pytest

from heron.base.errors import ConfigError, HeronError
from heron.data.examples import Example, Span
from heron_tools.prompting.system import fit_prompted
from heron_tools.prompting.translation import Translator
from small_prompts import compose, examples_of, serving, words
from small_runs import heron

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.01)


@pytest.fixture(scope="module")
def seq2seq(tiny_encoder, tmp_path_factory):
    """Save a T5 of 2 layers x 32 units with random weights; returns the folder."""
    import torch
    from transformers import AutoTokenizer, T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("he-en")
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = T5Config(
            vocab_size=len(tokenizer),
            d_model=32,
            d_ff=64,
            d_kv=16,
            num_layers=2,
            num_heads=2,
            decoder_start_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.sep_token_id,
            pad_token_id=tokenizer.pad_token_id,
            max_length=8,
        )
        T5ForConditionalGeneration(shape).save_pretrained(folder)
    return folder


def upper(prompt, times):
    return 200, {"translatedText": f"<{prompt}>"}


def google(prompt, times):
    return 200, {"data": {"translations": [{"translatedText": f"<{prompt}>"}]}}


def translating(tmp_path, url, **changes):
    config = compose(
        tmp_path,
        "data=chronicle_summaries",
        "model=gpt-4o",
        "prompting.translation.backend=server",
        f"prompting.translation.url={url}/translate",
        "prompting.translation.input=en",
        "prompting.translation.output=en",
        "prompting.traffic.attempts=2",
    )
    changed = replace(config.prompting.translation, **changes)
    return Translator(config, replace(config.prompting, translation=changed))


@pytest.mark.parametrize("reply", [upper, google])
def test_texts_are_translated_by_http_once(tmp_path, reply, monkeypatch):
    monkeypatch.setenv("HERON_TRANSLATION_KEY", "secret")
    with serving(reply) as place:
        translator = translating(tmp_path, place.url)
        found = translator.translate(["a", "b", "a", " "], "he", "en")
        assert found == ["<a>", "<b>", "<a>", " "]
        assert len(place.requests) == 2
        assert place.requests[0].items() >= {"source": "he", "target": "en"}.items()
        assert place.requests[0]["api_key"] == "secret"
        assert translating(tmp_path, place.url).translate(["b"], "he", "en") == ["<b>"]
        assert len(place.requests) == 2
        translator.translate(["b"], "en", "he")
        assert len(place.requests) == 3, "the other direction is another translation"
        translating(tmp_path, place.url, codes={"he": "heb_Hebr"}).translate(["b"], "he", "en")
        assert len(place.requests) == 4, "and so is one with the model's own codes"
        assert translator.translate(["b"], "he", "he") == ["b"]


def test_a_failure_is_an_error_and_loses_nothing(tmp_path):
    def sometimes(prompt, times):
        return (500, {}) if prompt == "b" else upper(prompt, times)

    with serving(sometimes) as place:
        with pytest.raises(HeronError, match="1 of 2 texts could not be translated: 500"):
            translating(tmp_path, place.url).translate(["a", "b"], "he", "en")
        place.reply = upper
        place.requests.clear()
        assert translating(tmp_path, place.url).translate(["a", "b"], "he", "en") == ["<a>", "<b>"]
        assert len(place.requests) == 1


def test_rows_answers_and_examples_are_translated_as_the_run_says(tmp_path):
    row = Example("1", "text", "pair", target="summary")
    with serving(upper) as place:
        both = translating(tmp_path, place.url)
        assert both.translate_rows([row]) == [Example("1", "<text>", "<pair>", target="summary")]
        assert both.translate_answers(["x"]) == both.translate_golds(["x"]) == ["<x>"]
        assert {(r["source"], r["target"]) for r in place.requests if r["q"] == "x"} == {
            ("en", "he"),
            ("he", "en"),
        }, "right answers of examples go the other way"
        only_in = translating(tmp_path, place.url, output=None)
        assert only_in.translate_rows([row]) == [Example("1", "<text>", "<pair>", target="summary")]
        assert only_in.translate_answers(["x"]) == only_in.translate_golds(["x"]) == ["x"]
        only_out = translating(tmp_path, place.url, input=None)
        assert only_out.translate_rows([row]) == [row]


def test_a_translation_that_loses_the_place_of_events_is_refused(tmp_path):
    events = Example("2", "came and went", spans=(Span(0, 4), Span(9, 13)))
    relations = compose(
        tmp_path,
        "data=chronicle",
        "model=gpt-4o",
        "prompting.translation.backend=server",
        "prompting.translation.url=http://localhost/translate",
        "prompting.translation.input=en",
    )
    with pytest.raises(ConfigError, match="events in 2"):
        Translator(relations, relations.prompting).translate_rows([events])


def test_examples_of_questions_have_their_answers_translated(tmp_path, causal_model):
    def qa(*more):
        return compose(
            tmp_path,
            "data=chronicle_qa",
            "data.generator.unanswerable=0.5",
            "data.label_order=[answer,no_answer]",
            "model=local",
            f"prompting.model.name={causal_model}",
            "prompting.shots=6",
            "prompting.prompt.examples=turns",
            "prompting.translation.backend=server",
            *more,
        )

    with serving(upper) as place:
        config = qa(f"prompting.translation.url={place.url}/translate")
        rows, pool = examples_of(config)[:3], examples_of(config, "train")
        plain = fit_prompted(config, pool).questions(rows, config)
        for ways in ({"output": "en"}, {"input": "en"}, {"input": "en", "output": "en"}):
            more = [f"prompting.translation.{name}={code}" for name, code in ways.items()]
            config = qa(f"prompting.translation.url={place.url}/translate", *more)
            found = fit_prompted(config, pool).questions(rows, config)
            for one, other in zip(found, plain, strict=True):
                turns = list(zip(one.request.messages, other.request.messages, strict=True))
                golds = [(a["content"], b["content"]) for a, b in turns if a["role"] == "assistant"]
                none = "אין תשובה"
                assert len(golds) == 6
                assert {b == none for _, b in golds} == {True, False}
                for shown, gold in golds:
                    translated = "output" in ways and gold != none
                    assert shown == (f"<{gold}>" if translated else gold)
                assert all(("<" in a["content"]) == ("input" in ways) for a, _ in turns[::2])


def test_a_local_model_translates_sentence_by_sentence(tmp_path, seq2seq):
    name = str(seq2seq).replace("he-en", "{source}-{target}")
    config = compose(
        tmp_path,
        "data=chronicle_summaries",
        "model=gpt-4o",
        f"prompting.translation.model='{name}'",
        "prompting.translation.input=en",
    )
    translator = Translator(config, config.prompting)
    one, two = translator.translate(["הועדה התכנסה.", "הועדה התכנסה. השר עזב."], "he", "en")
    assert two.startswith(one)
    assert one
    path = translator.store.path
    assert path.is_file()
    keys = [each.key for each in translator.requests(["הועדה"], "he", "en")]
    (seq2seq / "spiece.model").write_text("another tokenizer", encoding="utf-8")
    assert keys != [each.key for each in translator.requests(["הועדה"], "he", "en")], (
        "a folder may hold another model tomorrow"
    )
    with pytest.raises(ConfigError, match=r"en-he"):
        translator.translate(["a"], "en", "he")


@pytest.mark.parametrize("body", [{"translation": "x"}, {"data": {"translations": []}}, []])
def test_an_answer_without_a_translation_is_said_and_asked_for_again(tmp_path, body):
    with serving(lambda prompt, times: (200, body)) as place:
        config = compose(
            tmp_path,
            "data=chronicle_summaries",
            "model=gpt-4o",
            "prompting.translation.backend=server",
            f"prompting.translation.url={place.url}/translate",
            "prompting.translation.input=en",
            "prompting.traffic.attempts=1",
        )
        with pytest.raises(HeronError, match="no translation"):
            Translator(config, config.prompting).translate(["a"], "he", "en")


@pytest.mark.parametrize("prompt", ["hesum_he", "hesum"])
def test_hesums_combinations_of_languages_run(tmp_path, causal_model, prompt):
    with serving(upper) as place:
        for source in ("null", "en"):
            for target in ("null", "en"):
                overrides = words(
                    tmp_path,
                    "data=chronicle_summaries",
                    "data.generator.size=100",
                    f"prompt={prompt}",
                    "model=local",
                    f"prompting.model.name={causal_model}",
                    "prompting.translation.backend=server",
                    f"prompting.translation.url={place.url}/translate",
                    f"prompting.translation.input={source}",
                    f"prompting.translation.output={target}",
                    f"run.job={source}-{target}",
                )
                assert heron("train", *overrides) == 0
                (folder,) = (tmp_path / "runs").glob(f"*/{source}-{target}")
                asked = pq.read_table(folder / "prompts.parquet").to_pydict()
                given = pq.read_table(folder / "predictions/test.parquet").to_pydict()
                names = {"hesum": ("Hebrew", "English"), "hesum_he": ("עברית", "אנגלית")}[prompt]
                assert all(names[target == "en"] in text for text in asked["prompt"])
                assert all(("<" in text) == (source == "en") for text in asked["prompt"])
                assert all(
                    text == (f"<{raw}>" if target == "en" and raw else raw)
                    for text, raw in zip(given["prediction"], asked["parsed"], strict=True)
                )
                scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
                assert "rouge1" in scores["test"]


def test_a_dry_run_translates_nothing_and_counts_the_texts(tmp_path, capsys):
    with serving(upper) as place:
        own = [word for word in words(tmp_path) if not word.startswith("baseline")]
        code = heron(
            "prompt",
            *own,
            "data=chronicle_summaries",
            "prompt=hesum",
            "model=gpt-4o",
            "translation.backend=server",
            f"translation.url={place.url}/translate",
            "translation.input=null,en",
            "dry_run=true",
        )
        assert code == 0
        assert not place.requests
    shown = capsys.readouterr().out
    assert "translator" in shown
    assert not Path(tmp_path / "runs").exists()
