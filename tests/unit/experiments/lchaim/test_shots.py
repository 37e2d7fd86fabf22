"""Table 3 under `protocol=repo` asks what LCHAIM's notebook asks, with its fixed examples.

The notebook here is made up, in the form of the released one.
"""

import json

import pytest

from heron.base.tables import read_table
from heron.cli import main
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.sweeps.grid import compose_jobs
from heron.training.compose import compose
from heron_forks.lchaim.shots import PROMPTS
from heron_tools.prompting.prompts import Prompter
from heron_tools.prompting.system import fit_prompted

BREAK = "\n        "
HEBREW = (
    " אני אתן לך פסקה ומשפט ואתה תצטרך לסווג האם המשפט סותר את הנאמר הפסקה (ס) , נגזר מהנאמר "
    "מהפסקה (מ) או לא סותר את הנאמר בפסקה ולא נגזר מהאמר בפסקה (נ) עליך לענות באמצעות אחת "
    "האותיות המייצגות את הקשר של המשפט לטקסט בלבד!"
)
WORDS = {"he": ("פסקה", "משפט", "תשובה", "מנס"), "en": ("Paragraph", "Sentence", "Response", "enc")}
ASK = {"he": "ענה על הפסקה והמשפט הבאים", "en": "Answer for the following paragraph and sentence"}


def written(language, head, rows):
    """Write a prompt as the notebook does: examples with answers, then the question."""
    premise, hypothesis, answer, _ = WORDS[language]
    parts = [head, "דוגמאות:" if language == "he" else "examples:"]
    for p, h, letter in rows:
        parts += [f"{premise}:", p, f"{hypothesis}:", h, f"{answer}:", letter]
    parts += [ASK[language], f"{premise}:", "{p}", f"{hypothesis}:", "{h}", f"{answer}:"]
    return BREAK.join(parts)


@pytest.fixture
def notebook(tmp_path):
    lines = ["import absent_package  # is never run", "x, y = 1, 2"]
    for name, variable in PROMPTS.items():
        language = "he" if variable.startswith(("SNLI", "LCH")) else "en"
        letters = WORDS[language][3]
        rows = [(f'{name} "{n}", it\'s', f"{name} h{n}.", letters[n]) for n in range(3)]
        prompt = written(language, HEBREW if language == "he" else "I will", rows)
        text = prompt.replace('"', '\\"')
        lines.append(f'{variable} = """{text}"""\nSHORT_{variable} = [{variable}]')
    cells = [{"cell_type": "markdown", "source": ["# no code"]}]
    cells += [{"cell_type": "code", "source": [line]} for line in lines]
    path = tmp_path / "notebook.ipynb"
    path.write_text(json.dumps({"cells": cells}, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def data(notebook, tmp_path):
    """LCHAIM's test file alone, and the notebook's examples."""
    folder = tmp_path / "data"
    assert (
        main(["build", "lchaim_shots", f"notebook={notebook}", f"out={folder}/lchaim/shots"]) == 0
    )
    rows = [
        {"uid": f"id_{n}", "premise": f"פ {n}", "hypothesis": f"ה {n}", "label": "n"}
        for n in (1, 2)
    ]
    (folder / "lchaim/aws_heb_test.json").write_text(json.dumps(rows))
    return folder


def test_the_notebook_s_examples_become_tables_with_the_labels_that_it_shows(data):
    shots = read_table(data / "lchaim/shots/lchaim.jsonl").rows
    assert [row["label"] for row in shots] == ["e", "n", "c"]
    assert shots[1]["premise"] == 'lchaim "1", it\'s'
    assert sorted(path.stem for path in (data / "lchaim/shots").iterdir()) == sorted(PROMPTS)


@pytest.mark.parametrize("shots", range(4))
def test_table_3_under_repo_sends_what_the_notebook_sends(data, shots, tmp_path):
    words = ["experiment=lchaim/table3", "protocol=repo", f"prompting.shots={shots}"]
    words += [f"paths.data={data}", f"paths.cache={tmp_path}", "data.verify=false"]
    configs = [job.resolved() for job in compose_jobs(words)]
    names = ("gemma-2-9b-it", "dictalm2.0-instruct", "Mistral-7B-Instruct-v0.2")
    assert {c.prompting.model.name.split("/")[1] for c in configs} == set(names)
    assert {c.prompting.sampling.max_tokens for c in configs} == {1}
    config = next(c for c in configs if c.prompting.pool.endswith("hebnli.jsonl"))
    examples = load_run_data(config).examples
    asked = [
        q.request.messages for q in fit_prompted(config, []).questions(examples["test"], config)
    ]
    known = [(f'hebnli "{n}", it\'s', f"hebnli h{n}.", "מנס"[n]) for n in range(shots)]
    wanted = written("he", HEBREW, known)
    if not shots:
        answers = [line for letter in "מסנ" for line in ("תשובה:", letter)]
        wanted = wanted.replace("דוגמאות:", BREAK.join(["דוגמאות לתשובות:", *answers]))
    texts = [wanted.format(p=f"פ {n}", h=f"ה {n}") for n in (1, 2)]
    assert asked == [({"role": "user", "content": text},) for text in texts]


def test_the_notebook_s_english_prompt_has_small_letters_in_its_examples_only():
    config = compose(["data=control", "baseline=prompted", "prompt=lchaim_en_repo", "model=gpt-4o"])
    prompter = Prompter(config, config.prompting.prompt)
    question = Example("1", "The premise.", "The hypothesis.")
    (none,), (one,) = (
        prompter.messages(question, shots)
        for shots in ([], [Example("2", "A shot.", "Its end.", label="neutral")])
    )
    end = ["Paragraph:", "The premise.", "Sentence:", "The hypothesis.", "Response:"]
    assert none["content"].endswith(BREAK.join(["N", ASK["en"], *end]))
    shown = ["examples:", "Paragraph:", "A shot.", "Sentence:", "Its end.", "Response:", "n"]
    assert one["content"].endswith(BREAK.join([*shown, ASK["en"], *end, ""]))
