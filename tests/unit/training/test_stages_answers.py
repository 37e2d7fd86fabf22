"""Questions of one corpus, then of another: weights, head and threshold go on, budgets do not."""

import copy
import json

import pytest
import torch

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.data.config import read_config
from heron.data.datamodule import DataModule
from heron.training import job
from heron.training.exported import load_exported
from heron.training.stages import stage_config
from heron.training.trainer import build_module
from small_runs import compose
from tiers import quick

NAMES = ("חיפה", "רמלה", "יפו", "עכו", "צפת")
CLASSES = "data.label_order=[answer,no_answer]"
SMALL = (
    *("data=chronicle_qa", CLASSES, "encoder.max_length=64", "encoder.stride=8"),
    "task.bootstrap=0",
    *("batching.tokens=400", "trainer.max_epochs=1", "trainer.enable_progress_bar=false"),
    *("optim.lr=5e-3", "dynamics.enabled=false", "trainer.select=last"),
)

YAML = """\
name: {name}
task: qa
language: {language}
format: squad_json
label_order: {classes}
columns: {{text: context, text_pair: question, guid: id, group: title}}
files: {{train: {{path: {folder}/{name}.json}}, test: {{path: {folder}/{name}.json}}}}
validation: {{fraction: 0.2, by: row}}
qa: {{no_answer: {no_answer}}}
"""


def write_questions(path, rows, unanswerable, sentence, question):
    data = []
    for number in range(rows):
        place = NAMES[number % len(NAMES)]
        context = sentence.format(place, number)
        answers = {"text": [place], "answer_start": [context.index(place)]}
        if unanswerable and number % 4 == 0:
            answers = {"text": [], "answer_start": []}
        row = {"id": f"{path.stem}{number}", "title": str(number), "context": context}
        data.append({**row, "question": question, "answers": answers})
    path.write_text(json.dumps({"data": data}, ensure_ascii=False), encoding="utf-8")


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """Make up three sets: without unanswerable questions, with them, and in another language."""
    conf = tmp_path / "conf"
    conf.mkdir()
    hebrew = ("דוד נסע אל {} בשנת {} ולא חזר", "לאן נסע דוד?")
    romanian = ("Ion a plecat la {} în anul {}", "Unde a plecat Ion?")
    kinds = {
        "village": ("he", 20, False, *hebrew),
        "doubts": ("he", 30, True, *hebrew),
        "satul": ("ro", 24, True, *romanian),
        "plain": ("he", 20, False, *hebrew),
        "certain": ("he", 40, True, *hebrew),
    }
    for name, (language, rows, *words) in kinds.items():
        write_questions(tmp_path / f"{name}.json", rows, *words)
        always = name in ("plain", "certain")
        text = YAML.format(
            name=name,
            language=language,
            folder=tmp_path,
            classes="[answer]" if always else "[answer, no_answer]",
            no_answer="drop" if always else "refuse",
        )
        (conf / f"{name}.yaml").write_text(text, encoding="utf-8")
    found = {path.stem: path for path in conf.glob("*.yaml")}
    monkeypatch.setattr("heron.base.folders.data_sets", lambda: found)
    return found


@pytest.fixture
def configure(sets, tmp_path):
    """Return a function that makes the configuration of a run on one set, after others."""

    def configure(data, *stages, words=()):
        config = compose(tmp_path, *SMALL, *words)
        config.data, config.stages = read_config(sets[data]), list(stages)
        return config

    return configure


@pytest.fixture
def train(configure, tmp_path):
    """Return a function that trains stages; gives configuration, run, and the stages' runs."""

    def train(data, *stages, words=()):
        config, folder = configure(data, *stages, words=words), RunFolder(tmp_path / "run")
        scores = job.run_job(copy.deepcopy(config), folder)
        inner = [RunFolder(path) for path in sorted(folder.stages.iterdir())]
        return config, scores, inner

    return train


def state(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


@pytest.mark.parametrize(("head", "keep"), quick([("biaffine", True), ("span", False)]))
def test_a_stage_begins_with_the_weights_of_the_one_before(train, head, keep):
    stages = ("doubts", {"data": "village", "keep_head": keep})
    config, _, (first, second) = train("village", *stages, words=(f"head={head}",))
    inner = stage_config(config, config.read_stages(), config.read_stages()[1], first)
    begun = build_module(inner, DataModule(inner))
    _, encoder, head_before = load_exported(first)
    before, now = state(encoder), state(begun.encoder)
    assert before.keys() == now.keys()
    assert all(torch.equal(before[name], now[name]) for name in before)
    weights, found = state(head_before), state(begun.head)
    equal = [torch.equal(weights[name], found[name]) for name in weights if "weight" in name]
    assert all(equal) if keep else not any(equal)
    _, encoder_after, head_after = load_exported(second)
    assert not all(torch.equal(now[name], value) for name, value in state(encoder_after).items())
    assert not torch.equal(found["borders.weight"], head_after.borders.weight)


@pytest.mark.real  # takes too long for every change
def test_each_stage_spends_its_own_budget_on_its_own_questions(train):
    _, scores, inner = train("village", "satul", {"data": "doubts", "max_epochs": 2}, "village")
    rows = {"satul": 24, "doubts": 30, "village": 20}
    for folder, (name, count) in zip(inner, rows.items(), strict=True):
        ledger = read_json(folder.ledger)
        unique = count - round(0.2 * count)
        epochs = 2 if name == "doubts" else 1
        assert ledger["total"]["unique"] == unique
        assert ledger["total"]["samples"] == epochs * unique
        assert ledger["total"]["steps"] == ledger["planned_steps"] > 0
    assert {"1-satul/test", "2-doubts/test", "3-village/test", "doubts.test"} <= set(scores)
    assert scores["test"] == scores["3-village/test"]


@pytest.mark.real  # takes too long for every change
def test_unanswerable_questions_are_learnt_in_one_stage_and_scored_after_the_other(train):
    _, scores, _ = train("village", "doubts", "village")
    assert "no_answer_accuracy" in scores["1-doubts/test"]
    assert "no_answer_accuracy" in scores["doubts.test"], "still, after the last stage"
    assert "threshold" in scores["test"]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_set_may_leave_its_unanswerable_questions_out_for_one_that_has_none(train):
    words = ("data.label_order=[answer]",)
    _, scores, (first, _) = train("plain", "certain", "plain", words=words)
    assert read_json(first.ledger)["total"]["unique"] == 40 - 10 - round(0.2 * 30)
    assert "threshold" not in scores["test"]
