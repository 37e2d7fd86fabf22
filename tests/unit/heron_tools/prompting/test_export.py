"""Exported prompts load in lm-evaluation-harness, with the same texts and the same accuracy."""

import json

import pytest

from heron.tasks.task import task_of
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.prompting.system import fit_prompted
from small_prompts import compose, examples_of, words
from small_runs import heron

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom

CASES = [
    ("chronicle_nli", "lchaim", 2),
    ("chronicle_nli", "nli", 0),
    ("chronicle_nli", "lchaim_ro", 1),
    ("chronicle", "relation", 2),
    ("chronicle_qa", "qa", 1),
    ("chronicle_summaries", "hesum", 0),
    ("chronicle_summaries", "summarization", 1),
]


def evaluated(folder, model, name):
    """Evaluate an exported task with the other package; returns its scores and prompts."""
    pytest.importorskip("lm_eval", reason="lm-eval is not installed: pip install -e '.[dev]'")
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager

    found = simple_evaluate(
        model="hf",
        model_args={"pretrained": str(model), "dtype": "float32", "device": "cpu"},
        tasks=[name],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        batch_size=4,
        bootstrap_iters=0,
        log_samples=True,
    )
    samples = sorted(found["samples"][name], key=lambda each: each["doc_id"])
    return found["results"][name], samples


@pytest.mark.parametrize(("data", "prompt", "shots"), CASES)
def test_the_other_package_gives_the_same_prompts_and_accuracy(
    tmp_path, causal_model, monkeypatch, data, prompt, shots
):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    own = ["model=local", f"prompting.model.name={causal_model}", f"data={data}"]
    own += [f"prompt={prompt}", f"prompting.shots={shots}", "prompting.model.form=completion"]
    config = compose(tmp_path, *own)
    has_classes = task_of(config).has_classes
    if has_classes:
        config.prompting.scoring = "likelihood"
        own.append("prompting.scoring=likelihood")
    assert heron("prompt", "export", *words(tmp_path, *own), f"out={tmp_path / 'out'}") == 0
    name = f"heron_{data}_{prompt}_test"
    scores, samples = evaluated(tmp_path / "out", causal_model, name)
    rows = examples_of(config)
    system = fit_prompted(config, examples_of(config, "train"))
    asked = system.questions(rows, config)
    theirs = [each["arguments"][0][0] for each in samples]
    assert theirs == [as_text(each.request.messages) for each in asked]
    if has_classes:
        predictions = system.predict(rows, config)
        assert scores["acc,none"] == pytest.approx(predictions.scores(config)["accuracy"])
    golds = [each["target"] for each in samples]
    prompter = Prompter(config, config.prompting.prompt)
    assert golds == [prompter.gold(prompter.right_answer(row)) for row in rows]


def test_rows_and_yaml_are_written_beside_each_other(tmp_path, capsys):
    own = ["data=chronicle_nli", "prompt=lchaim", "prompting.splits=[validation,test]"]
    assert heron("prompt", "export", *words(tmp_path, *own), f"out={tmp_path / 'out'}") == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    stem = "heron_chronicle_nli_lchaim"
    assert names == [
        f"{stem}_{split}.{end}" for split in ("test", "validation") for end in ("jsonl", "yaml")
    ]
    row = json.loads((tmp_path / "out" / names[0]).read_text(encoding="utf-8").splitlines()[0])
    assert {"guid", "text", "text_pair", "target"} <= set(row)
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_an_export_needs_no_model(tmp_path):
    own = ["data=chronicle_nli", "prompt=lchaim", "shots=2", "scoring=likelihood"]
    assert heron("prompt", "export", *words(tmp_path, *own), f"out={tmp_path / 'out'}") == 0
    (task,) = (tmp_path / "out").glob("*.yaml")
    assert "output_type: multiple_choice" in task.read_text(encoding="utf-8")
