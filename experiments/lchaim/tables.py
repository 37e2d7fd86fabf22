"""The tables and figures of LCHAIM that no sweep fills: `heron reproduce lchaim:F4`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from heron.analysis.run import open_analysis
from heron.annotation.agreement import rating_differences
from heron.annotation.labels import Layout, read_labels
from heron.base.cards import cut_text
from heron.base.cells import Table
from heron.base.errors import ConfigError
from heron.base.tables import cell_text, read_table
from heron.config.analyze_options import AnalyzeOptions
from heron.config.compose import compose
from heron.config.overrides import configure
from heron.data.examples import Example
from heron.data.sources import State, inspect
from heron.metrics.intervals import score_intervals
from heron.prompting.prompts import Prompter, as_text
from heron.reproduction.targets import Estimate, Filled, Names, Request
from heron.results.shipped import read_shipped
from heron.tasks.label_statistics import jaccard

DATA, SUBSTITUTE = "lchaim", "control_dev"
CRITERIA = ("accuracy", "fluency", "culture")
_POINTS = {"yes": "5", "no": "0"}  # of a label that is valid, or not
TYPES = ("temporal", "coreferential", "logical", "analytical")
_LONGEST = 400  # characters of a text


def ratings(request: Request) -> Filled:
    """Average people's ratings of translations, with their error (Table 1).

    The files have columns guid, rater and those of the criteria, a row for each rating, as `heron
    annotate collect` writes them; a file's name is the translator's. Error: mean absolute
    difference between the raters of a text. `valid` (yes or no: does the label still hold?) is the
    paper's `label`, in points of 5.

    Source: LCHAIM, section 2.2 and Table 1.
    """
    if not request.files:
        raise ConfigError(
            "from=FILE: expected ratings, columns guid, rater, " + ", ".join(CRITERIA)
        )
    values: dict[Names, Estimate] = {}
    for path in request.files:
        there = read_table(path).columns
        columns = [each for each in (*CRITERIA, "label", "valid") if each in there]
        if not columns:
            raise ConfigError(f"{path}: none of the columns {', '.join(CRITERIA)}")
        for column in columns:
            labels = read_labels([path], Layout(rater="rater", label=column))
            if column == "valid":
                points = [[_POINTS.get(x, x) for x in said] for said in labels.values]
                labels, column = replace(labels, values=points), "label"
            error = rating_differences(labels)
            given = [float(x) for said in labels.values for x in said if x]
            values[path.stem, column] = Estimate(float(np.mean(given)), n=len(given), of="ratings")
            if error.value is not None:
                estimate = Estimate(error.value, error.low, error.high, error.n, "texts")
                values[path.stem, f"{column}, error"] = estimate
    return Filled({"table1": values})


def statistics(request: Request) -> Filled:
    """Count the rows of each split, and average the overlap of premise and hypothesis by class.

    Source: LCHAIM, sections 2 and 3.1; overlap is Jaccard's, of what lies between spaces.
    Deviates: the paper defines neither words nor the split; all rows that are there count.
    """
    shipped = read_shipped(configure(DATA, []), request.data_dir, request.cache_dir)
    part = f"only {', '.join(shipped.splits)}" if shipped.missing else ""
    rows = {split: len(examples) for split, examples in shipped.splits.items()}
    sizes: dict[Names, Estimate] = {(n, "rows"): Estimate(count) for n, count in rows.items()}
    sizes["total", "rows"] = Estimate(sum(rows.values()), mark=part)
    examples = [example for of in shipped.splits.values() for example in of]
    overlap: dict[Names, Estimate] = {}
    for label in shipped.config.label_order:
        found = [
            jaccard(each.text.split(), (each.text_pair or "").split())
            for each in examples
            if each.label == label
        ]
        if found:
            value = float(np.mean(found))
            overlap[label, "jaccard"] = Estimate(value, n=len(found), of="pairs", mark=part)
    return Filled({"sizes": sizes, "overlap": overlap})


def pairs(request: Request) -> Filled:
    """Show a pair of each class (Figure 1), from the user's own files."""
    config, mark = configure(DATA, []), ""
    sources = inspect(config, request.data_dir, request.cache_dir).values()
    if all(source.state is State.MISSING for source in sources):
        config, mark = configure(SUBSTITUTE, []), f"{SUBSTITUTE} in place of {DATA}."
    shipped = read_shipped(config, request.data_dir, request.cache_dir)
    examples = [example for rows in shipped.splits.values() for example in rows]
    rows = []
    for label in config.label_order:
        ours = [example for example in examples if example.label == label]
        chosen = min(ours, key=lambda e: (len(e.text), e.guid))
        texts = (cut_text(chosen.text, _LONGEST), cut_text(chosen.text_pair or "", _LONGEST))
        rows.append((label, *texts, chosen.guid))
    table = Table("The pair with the shortest premise of each class",
                  ("label", "premise", "hypothesis", "guid"), tuple(rows))  # fmt: skip
    return Filled(tables=(table,), notes=(mark,) if mark else ())


def diversity(request: Request) -> Filled:
    """Show accuracy by richness of vocabulary of runs (Figure 2): `heron analyze by=ttr`."""
    if not request.files:
        raise ConfigError("from=RUN,RUN: expected finished runs on LCHAIM")
    tables: list[Table] = []
    for run in request.files:
        found = open_analysis(_options(run, request)).run("ttr")
        tables += [Table(f"{run.name}: {t.title}", t.columns, t.rows, t.note) for t in found.tables]
    return Filled(tables=tables)


def reasoning(request: Request) -> Filled:
    """Score a run by type of reasoning, or show a pair of each type (Figure 3, section 5.2).

    The file has columns guid and reasoning; a row with several types separates them by `;`.
    """
    runs = [path for path in request.files if path.is_dir()]
    files = [path for path in request.files if path not in runs]
    if len(files) != 1 or len(runs) > 1:
        raise ConfigError("from=FILE or from=RUN,FILE: expected a table with guid and reasoning")
    types = _types(files[0])
    if not runs:
        counts = tuple((name, len(guids)) for name, guids in types.items())
        return Filled(tables=(Table("Rows by type of reasoning", ("type", "rows"), counts),))
    analysis = open_analysis(_options(runs[0], request))
    right = {row.guid: row.gold == row.prediction for row in analysis.rows}
    values: dict[Names, Estimate] = {}
    for name, guids in types.items():
        hits = np.array([right[guid] for guid in guids if guid in right], dtype=np.float64)
        if len(hits):
            bounds = score_intervals({"accuracy": hits}, seed=request.seed)
            low, high = bounds["accuracy_low"], bounds["accuracy_high"]
            values[name, "accuracy"] = Estimate(float(hits.mean()), low, high, len(hits))
    return Filled({"reasoning": values})


def _types(path: Path) -> dict[str, list[str]]:
    table = read_table(path)
    table.require("guid", "reasoning")
    found: dict[str, list[str]] = defaultdict(list)
    for row in table.rows:
        for name in cell_text(row["reasoning"]).split(";"):
            if name.strip():
                found[name.strip().lower()].append(cell_text(row["guid"]))
    return {name: found[name] for name in (*TYPES, *(n for n in found if n not in TYPES))}


def prompts(request: Request) -> Filled:
    """Render the prompt as it is sent, and its English and Romanian versions (Figure 4)."""
    example = Example("pair", "(the premise)", "(the hypothesis)")
    tables, files = [], {}
    for name in ("lchaim", "lchaim_en", "lchaim_ro"):
        words = ["data=lchaim", "baseline=prompted", f"prompt={name}", "model=gpt-4o"]
        config = compose(words)
        assert config.prompting is not None
        text = as_text(Prompter(config, config.prompting.prompt).messages(example))
        files[f"{name}.txt"] = text + "\n"
        lines = tuple((line,) for line in text.splitlines() if line.strip())
        columns = ("the prompt as it is sent; lines are broken here, and empty ones left out",)
        tables.append(Table(f"prompt={name}", columns, lines))
    return Filled(tables=tables, files=files)


def _options(run: Path, request: Request) -> AnalyzeOptions:
    return AnalyzeOptions(run=run, paths_data=request.data_dir, paths_cache=request.cache_dir)
