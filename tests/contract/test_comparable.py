"""A difference to a paper's number is marked alike in the report of a sweep and in `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from heron.base.files import read_yaml
from heron.results.collect import RunRecord
from heron_tools.reproduction.cell_comparison import compare_runs, comparison_table
from heron_tools.reproduction.deviations import DAGGER, _compose
from heron_tools.reproduction.paper_tables import ScoreTable, report_view
from heron_tools.reproduction.published import find_published
from heron_tools.reproduction.targets import read_targets

PUBLISHED = {
    target.paper: read_yaml(find_published(f"{target.paper}/x"))
    for target in read_targets().values()
    if find_published(f"{target.paper}/x")
}
# By view: an experiment whose runs it shows.
VIEWS = {
    f"{target.paper}/{target.table}": target.experiment
    for target in read_targets().values()
    if target.experiment
}
# RoNLI's tables have the largest grids, which are planned for each: seconds.
TABLES = [
    pytest.param(
        *(view, name, experiment),
        id=f"{view}:{name}",
        marks=[pytest.mark.real] if view.startswith("ronli/table") else [],
    )
    for view, experiment in VIEWS.items()
    for name in PUBLISHED[view.partition("/")[0]]["views"].get(view.partition("/")[2], [])
    if name in PUBLISHED[view.partition("/")[0]]["tables"]  # no figure
]
OTHER = {"encoder.name": "models/other", "prompting.model.name": "models/other"}
VARIANTS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "the paper's": ({}, ()),
    "another encoder": (OTHER, ()),
    "unverified data": ({"data.verify": False}, ()),
    "unknown files": ({"data.files": {"test": {"path": "mine.csv"}}}, ()),
    "another setting": ({}, ("optim.weight_decay=0.7",)),
}


def run_of(table: ScoreTable, row: tuple[str, ...], experiment: str, paper: str) -> dict[str, Any]:
    """Choose the settings that the names of a paper's row stand for."""
    settings: dict[str, Any] = {"data.name": table.data[0], "experiment": experiment}
    for place, name in zip(table.row_names, row, strict=False):
        value = next((value for value, each in place.names.items() if each == name), name)
        key = place.setting.split(",")[0]
        if key == "fine_tuned_on":
            frozen = [{"data": table.data[0], "freeze": "all"}]
            settings["stages"] = frozen if value == "none" else value.split("+")
        else:
            settings[key] = f"{paper}/{value}" if key == "experiment" else value
    of_experiment = _compose(settings["experiment"])
    for key in OTHER:
        settings.setdefault(key, OmegaConf.select(of_experiment, key))
    settings["baseline.name"] = OmegaConf.select(of_experiment, "baseline.name") or "none"
    return settings


def deltas(view: str, name: str, run: RunRecord) -> tuple[dict[Any, str], dict[Any, str]]:
    """Read every Δ of a table, by row and score: of the sweep's report, and of `reproduce`."""
    published = PUBLISHED[view.partition("/")[0]]
    table = ScoreTable(published, published["tables"][name])
    of_report, of_reproduce = {}, {}
    shown = report_view(view, [run], None)[0][name]
    titles, names = list(table.content["scores"]), len(table.headings)
    width = (len(shown.columns) - names) // len(titles)
    for row in shown.rows:
        for number, title in enumerate(titles):
            if (delta := row[names + width * (number + 1) - 1]) is not None:
                of_report[*row[:names], title] = str(delta)
    rows, headings = compare_runs(published, table.content, [run])
    compared = comparison_table("t", headings, rows, 2, "")
    for row in compared.rows:
        if (delta := row[compared.columns.index("Δ")]) is not None:
            of_reproduce[row[: names + 1]] = str(delta)
    return of_report, of_reproduce


@pytest.mark.parametrize(("view", "name", "experiment"), TABLES)
def test_a_difference_is_marked_alike_in_every_report(view, name, experiment):
    paper = view.partition("/")[0]
    table = ScoreTable(PUBLISHED[paper], PUBLISHED[paper]["tables"][name])
    seen = 0
    for row in table.printed:
        settings = run_of(table, row, experiment, paper)
        for variant, (changes, words) in VARIANTS.items():
            config = OmegaConf.create({})
            for key, value in {**settings, **changes}.items():
                OmegaConf.update(config, key, value)
            split = table.content.get("split", "test")
            metrics = [metric for key in table.printed for _, metric, _ in table.cells(key)]
            scores = dict.fromkeys(metrics, 0.5)
            named = {split: scores, f"{table.content.get('test_set')}.{split}": scores}
            status = {"state": "done", "overrides": [*words]}
            made: Any = OmegaConf.to_container(config)
            run = RunRecord(Path("runs/s/j"), made, status, {"validation": scores, **named})
            of_report, of_reproduce = deltas(view, name, run)
            for place, delta in of_report.items():
                assert (DAGGER in delta) == (DAGGER in of_reproduce[place]), (variant, place)
            marked = [DAGGER in delta for delta in (*of_report.values(), *of_reproduce.values())]
            if variant != "the paper's":
                assert all(marked), (variant, row)
            elif settings["baseline.name"] not in ("cbow_svm", "cbow_softmax"):  # other vectors
                assert not any(marked), row
            seen += len(of_report)
    assert seen
