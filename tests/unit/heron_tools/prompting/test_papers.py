"""The papers' prompted experiments, on made-up rows and a made-up server: one command each."""

import csv
import json
from collections import Counter

import pytest

from heron.base.files import read_yaml
from heron.results.collect import collect
from heron.sweeps.grid import compose_jobs
from heron_tools.reproduction.published import find_published
from small_prompts import serving
from small_runs import heron

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom

LABELS = ("contradiction", "entailment", "neutral")


def write_lchaim(folder):
    for split, count in (("train.jsonl", 30), ("aws_heb_dev.json", 9), ("aws_heb_test.json", 12)):
        rows = [
            {"premise": f"{split} {n} פסקה", "hypothesis": f"משפט {n}", "label": LABELS[n % 3]}
            for n in range(count)
        ]
        path = folder / "lchaim" / split
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text(lines, encoding="utf-8")


def plan(*words):
    found = compose_jobs(["-m", *words])
    return [each.resolved() for each in found]


def test_lchaims_table_3_is_three_models_four_numbers_of_examples_and_two_pools():
    jobs = plan("experiment=lchaim/table3")
    models = Counter(job.prompting.model.name for job in jobs)
    names = ("google/gemma-2-9b-it", "dicta-il/dictalm2.0-instruct", "gpt-4o")
    assert models == dict.fromkeys(names, 8)
    cells = {(job.prompting.shots, job.prompting.pool) for job in jobs}
    assert cells == {(shots, pool) for shots in range(4) for pool in ("hebnli", "lchaim")}
    assert {(job.data.name, job.prompting.prompt.name, job.report) for job in jobs} == {
        ("lchaim", "lchaim", "lchaim/table3")
    }


def test_hesums_table_8_is_every_combination_of_two_languages_on_validation():
    jobs = plan("experiment=hesum/table8")
    asked = [job.prompting for job in jobs]
    cells = {(a.prompt.name, a.translation.input, a.translation.output) for a in asked}
    assert len(jobs) == len(cells) == 8
    assert {tuple(each.splits) for each in asked} == {("validation",)}


def test_hesums_table_3_asks_both_models_about_test():
    jobs = plan("experiment=hesum/table3")
    models = [job.prompting.model.name for job in jobs]
    assert models == ["gpt-4-32k-0613", "gpt-3.5-turbo-16k-0613"]
    assert {job.report for job in jobs} == {"hesum/table3"}


def test_ronlis_chatgpt_has_two_examples_of_each_class():
    (job,) = plan("experiment=ronli/chatgpt")
    assert (job.prompting.shots, job.prompting.draw) == (2 * len(job.data.label_order), "balanced")


def test_the_published_rows_are_those_of_the_papers():
    table3 = read_yaml(find_published("lchaim/table3"))["tables"]["table3"]["rows"]
    # Section 4: "GPT-4o performed the best with 57.68%, 58.37%, 60.12%, and 57.21%".
    assert [score for (score,) in table3["GPT-4o"]["LCHAIM"].values()] == [
        *(0.5768, 0.5837, 0.6012, 0.5721)
    ]
    assert [score for (score,) in table3["Gemma-9B"]["HebNLI"].values()] == [
        *(0.5615, 0.5093, 0.4994, 0.4845)
    ]
    for pools in table3.values():
        assert pools["HebNLI"]["0"] == pools["LCHAIM"]["0"], "without examples there is no pool"
    table8 = read_yaml(find_published("hesum/table8"))["tables"]["table8"]["rows"]
    assert table8["E"]["H"]["H"] == [0.1708, 0.0495, 0.1246]
    assert sum(len(of_article) for rows in table8.values() for of_article in rows.values()) == 8
    mlongt5 = table8["none (mLongT5)"]["H"]["H"]
    test, validation = (
        read_yaml(find_published("hesum/table8"))["tables"][t] for t in ("table3", "table6")
    )
    name = "mLongT5 base"
    assert [cell["printed"] for cell in mlongt5] == test["rows"][name][:3]
    assert [cell["corrected"] for cell in mlongt5] == validation["rows"][name]
    ronli = read_yaml(find_published("ronli/table4"))["tables"]["table4"]["rows"]
    assert ronli["ChatGPT 3.5 Turbo"]["contrastive"] == [0.13, 0.20, 0.16]


@pytest.mark.slow
def test_a_paper_s_table_stands_beside_a_sweep_of_prompted_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_lchaim(tmp_path / "data")
    with serving(lambda prompt, times: "מ") as place:
        code = heron(
            "prompt",
            "experiment=lchaim/table3",
            "model=gpt-4o",
            f"model.url={place.url}",
            "shots=0,1",
            "pool=lchaim",
            "data.verify=false",
            "task.bootstrap=0",
            "run.isolate=false",
            f"paths.data={tmp_path / 'data'}",
            f"paths.cache={tmp_path / 'cache'}",
            f"paths.runs={tmp_path / 'runs'}",
        )
        assert code == 0
        assert len(place.requests) == 24
    (sweep,) = {path.parent.parent for path in (tmp_path / "runs").glob("*/*/scores.json")}
    assert len(collect(sweep)) == 2
    rows = csv.DictReader((sweep / "table3.csv").read_text(encoding="utf-8").splitlines())
    by_cell = {(row["model"], row["examples from"], row["examples"]): row for row in rows}
    assert len(by_cell) == 3 * 4 * 2
    row = by_cell["GPT-4o", "LCHAIM", "1"]
    assert float(row["accuracy, paper"]) == 0.5837
    assert float(row["heron mean"]) == pytest.approx(1 / 3)
    assert not by_cell["GPT-4o", "HebNLI", "1"]["heron mean"]
