"""A prompted model is a system like any other: every task, prompt, language, examples, scoring."""

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow.parquet as pq
import pytest

from heron.base.errors import ConfigError
from heron.base.files import parse_yaml
from heron.base.run_folder import RunFolder, config_text
from heron.languages import LANGUAGES
from heron.tasks.config import read
from heron.tasks.task import task_of
from heron.training.compose import compose as compose_words
from heron.training.run_names import config_key
from heron.training.stored import read_own
from heron_tools.prompting.config import ModelConfig, PromptingConfig
from heron_tools.prompting.system import PromptedModel, fit_prompted
from small_prompts import compose, examples_of, save_causal_model, words
from small_runs import heron

PROMPTS = {
    "chronicle": ["relation"],
    "chronicle_nli": ["nli", "lchaim", "lchaim_en", "lchaim_ro"],
    "chronicle_ronli": ["nli"],
    "chronicle_qa": ["qa"],
    "chronicle_summaries": ["summarization", "hesum"],
    "own_classification": ["classification"],
}
REPEATED = ("chronicle_ronli",)  # `chronicle_nli` asks the same
# The first prompt of each other data set runs with every change.
CASES = [
    pytest.param(data, prompt, marks=[pytest.mark.real] if place or data in REPEATED else [])
    for data, prompts in PROMPTS.items()
    for place, prompt in enumerate(prompts)
]


@pytest.fixture
def own_data(tmp_path):
    lines = [f"text number {i},{'ab'[i % 2]}" for i in range(30)]
    for split in ("train", "test"):
        path = tmp_path / f"{split}.csv"
        path.write_text("\n".join(["text,label", *lines[:: 1 if split == "train" else 7]]), "utf-8")
    return [
        f"data.files.train.path={tmp_path / 'train.csv'}",
        f"data.files.test.path={tmp_path / 'test.csv'}",
        "data.label_order=[a,b]",
        "data.duplicates=keep",
    ]


# For tasks with classes, every fifth has each language, number of examples and scoring.
@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.real)])
@pytest.mark.parametrize(("data", "prompt"), CASES)
def test_every_combination_of_prompt_language_examples_and_scoring(
    tmp_path, causal_model, data, prompt, step, request
):
    own = request.getfixturevalue("own_data") if data.startswith("own") else []
    overrides = [f"data={data}", "model=local", f"prompting.model.name={causal_model}", *own]
    small = [each for each in words(tmp_path) if not own or "generator" not in each]
    config = compose_words([*small, *overrides, f"prompt={prompt}"])
    loaded = {split: examples_of(config, split) for split in ("train", "test")}
    rows = loaded["test"][:3]
    scorings = ["generate", "likelihood"]
    of_task = scorings if task_of(config).has_classes else scorings[:1]
    ways = list(product(sorted(LANGUAGES), (0, 2), of_task))
    for language, shots, scoring in ways[::step]:
        settings = replace(
            config.prompting,
            shots=shots,
            scoring=scoring,
            prompt=replace(config.prompting.prompt, language=language),
        )
        here = replace(config, parts={"prompting": settings})
        system = fit_prompted(here, loaded["train"])
        predictions = system.predict(rows, here)
        assert predictions.guids == [row.guid for row in rows]
        columns = predictions.columns(here)
        assert len(columns["prediction"]) == len(rows)
        assert all(math.isfinite(v) for v in predictions.scores(here).values())
        assert predictions.lines(here)
        assert len(predictions.answers(here)["guid"]) == len(rows)
        log = system.log
        assert all(log["prompt"])
        assert log["guid"] == predictions.guids
        assert all(len(each.split()) == shots for each in log["shots"])
        if scoring != "generate":
            assert set(columns["prediction"]) <= set(config.data.label_order)
        if scoring == "likelihood":
            shares = [columns[f"p/{label}"] for label in config.data.label_order]
            np.testing.assert_allclose(np.sum(shares, axis=0), 1, atol=1e-5)


def train(tmp_path, model, *overrides, code=0, job="tiny"):
    own = ["data=chronicle_nli", "model=local", f"prompting.model.name={model}", f"run.job={job}"]
    assert heron("train", *words(tmp_path, *own, *overrides)) == code
    found = list((tmp_path / "runs").glob(f"*/{job}"))
    return RunFolder(found[0]) if found else None


def test_a_run_folder_like_any_other(tmp_path, causal_model):
    folder = train(tmp_path, causal_model, "prompting.scoring=likelihood", "prompting.shots=2")
    assert folder.state() == "done"
    assert set(folder.read_scores()["test"]) >= {"accuracy", "macro_f1", "valid_rows"}
    table = pq.read_table(folder.path / "prompts.parquet").to_pydict()
    assert {"prompt", "answer", "parsed", "input_tokens", "seconds", "cost", "attempts"} <= set(
        table
    )
    config = read_own(folder.config)
    assert config.prompting.shots == 2
    assert read(parse_yaml(config_text(config))) == config
    assert not folder.predictions("validation").exists()
    for command in (("report", str(folder.path)), ("analyze", f"run={folder.path}")):
        assert (
            heron(*command, *([] if command[0] == "report" else [f"out={tmp_path / 'out'}"])) == 0
        )


@pytest.mark.parametrize("data", ["chronicle_nli", "chronicle_qa", "chronicle_summaries"])
def test_prompts_that_are_too_long_are_counted_and_the_run_ends_well(
    tmp_path, tiny_encoder, data, capsys
):
    short = save_causal_model(tiny_encoder, tmp_path / "short", positions=180)
    scoring = ["prompting.scoring=likelihood"] if data == "chronicle_nli" else []
    folder = train(tmp_path, short, f"data={data}", *scoring)
    ends = folder.read_status()["baseline"]["answers"]
    assert ends["failed"]
    assert f"{ends['failed']} of {sum(ends.values())} answers are failed" in capsys.readouterr().err
    rows = pq.read_table(folder.predictions("test")).to_pylist()
    assert sum(not row["prediction"] for row in rows) >= ends["failed"]
    assert (folder.path / "report.html").is_file()
    if data == "chronicle_nli":
        assert ends["stop"], "only long prompts fail"
        assert all((row["p/neutral"] is None) == (row["prediction"] == "") for row in rows)
    if data == "chronicle_qa":
        assert all(row["probability"] is None for row in rows)
        assert heron("analyze", f"run={folder.path}", "by=answers", f"out={tmp_path / 'o'}") == 0


def test_splits_choose_what_is_asked_about(tmp_path, causal_model, capsys):
    folder = train(tmp_path, causal_model, "prompting.splits=[validation]")
    assert set(folder.read_scores()) == {"validation"}
    train(tmp_path, causal_model, "prompting.splits=[dev]", code=2, job="other")
    assert "prompting.splits=dev: chronicle_nli has only" in capsys.readouterr().err


def test_an_exported_system_answers_new_texts(tmp_path, causal_model, capsys):
    folder = train(tmp_path, causal_model, "prompting.scoring=likelihood", "prompting.shots=1")
    capsys.readouterr()
    assert heron("predict", f"run={folder.path}", "text=a b", "text_pair=c d") == 0
    assert capsys.readouterr().out.split()[0] in ("entailment", "contradiction", "neutral")


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_prompted_run_a_fine_tuned_run_and_a_file_stand_in_one_comparison(
    tmp_path, causal_model, capsys
):
    asked = train(tmp_path, causal_model, "prompting.scoring=likelihood")
    written = train(tmp_path, causal_model, job="written")  # no answer names a class
    tuned = [word for word in words(tmp_path) if not word.startswith("baseline")]
    small = ["trainer.max_epochs=1", "encoder.scratch.vocabulary=400", "encoder.scratch.layers=1"]
    assert heron("train", *tuned, *small, "data=chronicle_nli", "run.job=tuned") == 0
    (other,) = (tmp_path / "runs").glob("*/tuned")
    table = pq.read_table(asked.predictions("test")).to_pydict()
    somebody = tmp_path / "somebody.csv"
    rows = [
        f"{guid},{gold},neutral" for guid, gold in zip(table["guid"], table["gold"], strict=True)
    ]
    somebody.write_text("\n".join(["guid,gold,prediction", *rows]), encoding="utf-8")
    capsys.readouterr()
    out = tmp_path / "one"
    assert heron("compare", asked.path, written.path, other, somebody, f"out={out}") == 0
    compared = json.loads((out / "compare.json").read_text(encoding="utf-8"))
    assert len(compared["systems"]) == 4
    assert compared["cochran_q"]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["data=chronicle_qa", "prompting.scoring=likelihood"], "has no classes"),
        (["model=gpt-4o", "prompting.scoring=likelihood"], "needs a local model"),
        (["prompting.model.backend=servr"], "Did you mean 'server'"),
        (["prompting.shots=-1"], "prompting.shots=-1"),
        (["prompting.shts=1"], "prompting.shots"),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path, overrides, said):
    own = ["data=chronicle_nli", "model=local", "prompting.model.name=x"]
    with pytest.raises(ConfigError, match=said):
        compose(tmp_path, *own, *overrides)


@pytest.mark.parametrize("change", ["model.key=X", "model.input_price=1", "traffic.concurrency=1"])
def test_keys_prices_and_traffic_do_not_change_the_jobs_hash(tmp_path, change):
    own = ["data=chronicle_nli", "model=local", "prompting.model.name=x"]
    plain = compose(tmp_path, *own)
    assert config_key(compose(tmp_path, *own, f"prompting.{change}")) == config_key(plain)
    assert config_key(compose(tmp_path, *own, "prompting.shots=1")) != config_key(plain)


def test_the_options_in_yaml_are_the_defaults_of_the_schema(tmp_path):
    own = ["data=chronicle_nli", "model=local", "prompting.model.name=x"]
    found = compose(tmp_path, *own).prompting
    assert found == PromptingConfig(model=ModelConfig("x"), prompt=found.prompt)


# The command


def prompt(tmp_path, *overrides):
    own = [word for word in words(tmp_path) if not word.startswith("baseline")]
    return heron("prompt", *own, *overrides)


def test_heron_prompt_spells_out_its_keys_and_sweeps(tmp_path, causal_model, capsys):
    code = prompt(
        tmp_path,
        "data=chronicle_nli",
        "prompt=lchaim",
        "model=local",
        f"model.name={causal_model}",
        "shots=0,2",
        "scoring=likelihood",
        "traffic.concurrency=2",
    )
    assert code == 0
    found = sorted((tmp_path / "runs").glob("*/*/scores.json"))
    assert len(found) == 2
    stored = [read_own(each.parent / "config.yaml") for each in found]
    assert {each.prompting.shots for each in stored} == {0, 2}
    assert {each.prompting.traffic.concurrency for each in stored} == {2}
    assert "prompting.shots" in capsys.readouterr().out


def test_a_dry_run_counts_calls_and_costs_and_asks_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    words_ = ["data=chronicle_nli", "prompt=lchaim", "model=gpt-4o,gemma-2-9b-it"]
    assert prompt(tmp_path, *words_, "shots=0,1", "dry_run=true") == 0
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.split()}
    questions = 24
    gpt, gemma = lines["gpt-4o"], lines["google/gemma-2-9b-it"]
    assert gpt[1:4] == gemma[1:4] == ["2", str(2 * questions), "0"]
    assert gpt[4].startswith("~")
    assert int(gpt[5].replace(",", "")) == 2 * questions * 16
    tokens = int(gpt[4].strip("~").replace(",", ""))
    expected = (tokens * 2.5 + 2 * questions * 16 * 10) / 1e6
    assert float(gpt[6]) == pytest.approx(expected, abs=0.006)
    assert gemma[6] == "-"
    assert not (tmp_path / "runs").exists()


def test_only_a_true_dry_run_asks_nothing(monkeypatch, capsys):
    monkeypatch.setattr("heron_tools.prompting.command.train", lambda words: 7)
    for word in ("dry_run=False", "dry_run=no", "shots=1"):
        assert heron("prompt", word) == 7
    assert heron("prompt", "dry_run=perhaps") == 2
    assert "dry_run=perhaps: " in capsys.readouterr().err


@pytest.mark.parametrize(("temperature", "count"), [(0.0, 1), (0.7, 3)])
def test_drawn_answers_are_asked_for_each_seed_and_greedy_ones_once(
    temperature, count, tmp_path, causal_model
):
    own = [f"prompting.model.name={causal_model}", f"prompting.sampling.temperature={temperature}"]
    config = compose(tmp_path, "data=chronicle_nli", "model=local", *own)
    (row, *_), keys = examples_of(config), set()
    for seed in range(3):
        seeded = replace(config, seed=seed)
        (question,) = PromptedModel(seeded, config.prompting).questions([row], seeded)
        keys.add(question.request.key)
    assert len(keys) == count
