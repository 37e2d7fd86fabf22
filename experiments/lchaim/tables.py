"""LCHAIM's tables and figures without a sweep: `heron reproduce lchaim:F4`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.tables import cell_text, read_table
from heron.data.config import TEST, DataConfig
from heron.data.examples import Example
from heron.data.overrides import configure
from heron.data.rows import LabelError, LabelReader
from heron.metrics.classification import bootstrap_intervals, score_task
from heron.metrics.intervals import score_intervals
from heron.reports.pages import cut_text
from heron.results.shipped import Shipped, find_examples, read_shipped
from heron.training.compose import compose
from heron_tools.analysis.command import open_slicer
from heron_tools.analysis.slicing import split_categories
from heron_tools.annotation.labels import Layout, read_labels
from heron_tools.annotation.measures import rating_differences
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.reproduction.targets import (
    Estimate,
    Filled,
    Names,
    Request,
    choose_present,
    run_mark,
)
from heron_tools.statistics.labels import jaccard
from heron_tools.statistics.options import AnalyzeOptions

DATA, SUBSTITUTE = "lchaim", "control_dev"
ENCODER = "LongHeRo"  # of section 5
TRANSLATORS = ("Amazon Translate", "DictaLM-2.0")  # the rows of Table 1
CRITERIA = ("accuracy", "fluency", "culture")
_POINTS = {"yes": "5", "no": "0"}  # points for a valid label, or not
# Table 2's columns for people, and heron's scores.
PEOPLE_SCORES = {"accuracy": "accuracy", "F1": "macro_f1"}
CLASS_SCORES = {"P": "precision", "R": "recall", "F1": "f1"}
TYPES = ("temporal", "coreferential", "logical", "analytical")
_LONGEST = 400  # characters of a text


def ratings(request: Request) -> Filled:
    """Average human ratings of translations, with their error (Table 1).

    The files have columns guid, rater and the criteria, one row per rater and text, as `heron
    annotate collect` writes them. A file named by the first word of one of the paper's
    translators (`amazon.csv`, `dictalm.csv`) is compared with its row; other files get extra rows.
    Error: half the interval of the mean absolute difference between the raters of a text, which
    has its own row. `valid` (yes or no: does the label still hold?) is the paper's `label`, in
    points of 5.

    Source: LCHAIM, section 2.2 and Table 1.
    """
    if not request.files:
        raise ConfigError(
            "from=FILE: expected ratings, columns guid, rater, " + ", ".join(CRITERIA)
        )
    values: dict[Names, Estimate] = {}
    for path in request.files:
        there, stem = read_table(path).columns, path.stem.casefold()
        row = next((name for name in TRANSLATORS if name.casefold().startswith(stem)), path.stem)
        columns = [each for each in (*CRITERIA, "label", "valid") if each in there]
        if not columns:
            raise ConfigError(f"{path}: none of the columns {', '.join(CRITERIA)}")
        for column in columns:
            labels = read_labels([path], Layout(rater="rater", label=column))
            if column == "valid":
                points = [[_POINTS.get(x, x) for x in said] for said in labels.values]
                labels, column = replace(labels, values=points), "label"
            found = rating_differences(labels)
            given = [float(x) for said in labels.values for x in said if x]
            if not given:  # a criterion without ratings
                continue
            values[row, column] = Estimate(float(np.mean(given)), n=len(given), of="ratings")
            if found.low is not None and found.high is not None:
                half = (found.high - found.low) / 2
                values[row, f"{column}, error"] = Estimate(half, n=found.n, of="texts")
            if found.value is not None:
                estimate = Estimate(found.value, found.low, found.high, found.n, "texts")
                values[row, f"{column}, difference of raters"] = estimate
    return Filled({"table1": values})


def people(request: Request) -> Filled:
    """Score people's answers to rows of the test set (Table 2).

    The files have columns guid and label, a row for each rater and pair, as `heron annotate
    collect` writes them. A file whose name begins with `english` is about ConTRoL's test set. Every
    answer counts as a prediction; intervals draw pairs.

    Source: LCHAIM, section 3.2 and Table 2, whose F1 of people is the mean of the classes' F1s.
    """
    values: dict[Names, Estimate] = {}
    classes: dict[Names, Estimate] = {}
    notes: list[str] = []
    for path in request.files:
        in_english = path.stem.casefold().startswith("english")
        data = "control" if in_english else DATA
        config = choose_present(data, SUBSTITUTE, request.data_dir, request.cache_dir)
        mark = "" if config.name == data else f"{SUBSTITUTE} in place of {data}"
        row = ("human", "in English" if in_english else "in Hebrew")
        guids, answers = _answers(path, config)
        examples = find_examples(guids, TEST, config, request.data_dir, request.cache_dir)
        golds = [str(example.label) for example in examples]
        scored = "nli", golds, answers, config.label_order
        scores = score_task(*scored)
        bounds = bootstrap_intervals(*scored, groups=guids, seed=request.seed)
        for column, score in PEOPLE_SCORES.items():
            low, high = bounds.get(f"{score}_low"), bounds.get(f"{score}_high")
            found = Estimate(scores[score], low, high, len(guids), "answers", mark=mark)
            values[*row, column] = found
        for name in config.label_order:
            for column, score in CLASS_SCORES.items():
                found = Estimate(scores[f"{score}/{name}"], n=len(guids), of="answers", mark=mark)
                classes[*row, name, column] = found
        notes.append(f"{' '.join(row)}: {len(guids)} answers to {len(set(guids))} pairs.")
    return Filled({"table2": values, "table2_classes": classes}, notes=notes)


def _answers(path: Path, config: DataConfig) -> tuple[list[str], list[str]]:
    """Read the pairs' guids and the classes that people gave them, without empty answers."""
    table, reader = read_table(path), LabelReader(config, "label")
    table.require("guid", "label")
    guids, answers, problems = [], [], []
    for line, row in zip(table.lines, table.rows, strict=True):
        try:
            answer = reader.read(row["label"])
        except LabelError as error:
            problems.append(Problem(f"{path}:{line}", *error.args))
            continue
        if answer:
            guids.append(cell_text(row["guid"]))
            answers.append(answer)
    raise_all(problems)
    return guids, answers


def statistics(request: Request) -> Filled:
    """Count the rows of each split; average the overlap of premise and hypothesis by class.

    Source: LCHAIM, sections 2 and 3.1; Jaccard overlap of words split at spaces.
    Deviates: the paper defines neither words nor the split; all available rows are used.
    """
    name = request.data or DATA
    shipped = read_shipped(configure(name, []), request.data_dir, request.cache_dir)
    part = f"only {', '.join(shipped.splits)}" if shipped.missing else ""
    rows = {split: len(examples) for split, examples in shipped.splits.items()}
    if name != DATA:  # its files are not the paper's splits
        part, rows = f"{name} in place of {DATA}", {}
    sizes: dict[Names, Estimate] = {(n, "rows"): Estimate(count) for n, count in rows.items()}
    total = sum(map(len, shipped.splits.values()))
    sizes["total" if rows else name, "rows"] = Estimate(total, mark=part)
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
    """Show a pair of each class (Figure 1), from the user's files."""
    shipped, notes = _shipped(request)
    examples = [example for rows in shipped.splits.values() for example in rows]
    chosen = {
        label: _shortest(example for example in examples if example.label == label)
        for label in shipped.config.label_order
    }
    title = "The pair with the shortest premise of each class"
    return Filled(tables=(_pairs_table(title, "label", chosen),), notes=notes)


def diversity(request: Request) -> Filled:
    """Show the accuracy of runs by type-token ratio (Figure 2): `heron analyze by=ttr`.

    The paper's ratio is the mean of a part-of-speech term and a lemma term. Parts of speech are
    read from a CoNLL-U file, or computed by stanza; without either, the ratio is of lemmas only,
    and named so.
    """
    stored = [path for path in request.files if ".conllu" in path.suffixes]
    runs = [path for path in request.files if path not in stored]
    if not runs or len(stored) > 1:
        raise ConfigError("from=RUN,RUN or from=RUN,FILE.conllu: expected finished runs on LCHAIM")
    tagger = "stanza" if find_spec("stanza") else "simplemma"
    morphology = f"conllu:{stored[0]}" if stored else tagger
    tables: list[Table] = []
    for run in runs:
        options = replace(_options(run, request), morphology=morphology)
        found = open_slicer(options).run("ttr")
        mark = min((run_mark(run, DATA, name) for name in (ENCODER, "gpt-4o")), key=len)
        title = f"{run.name}{f' ({mark})' if mark else ''}"
        tables += [Table(f"{title}: {t.title}", t.columns, t.rows, t.note) for t in found.tables]
    return Filled(tables=tables)


def reasoning(request: Request) -> Filled:
    """Score a run by type of reasoning, or show a pair of each type (Figure 3, section 5.2).

    The file is as for `heron analyze types=FILE`; its second column may be called `reasoning`.
    """
    runs = [path for path in request.files if path.is_dir()]
    files = [path for path in request.files if path not in runs]
    if len(files) != 1 or len(runs) > 1:
        raise ConfigError("from=FILE or from=RUN,FILE: expected a table with guid and types")
    types = _types(files[0])
    if not runs:
        return _typed_pairs(types, files[0], request)
    split = open_slicer(_options(runs[0], request)).split
    right = dict(zip(split.frame["guid"], split.frame.right, strict=True))
    group = {example.guid: example.group or example.text for example in split.examples}
    _check_guids(types, right, files[0])
    mark = run_mark(runs[0], DATA, ENCODER)
    values: dict[Names, Estimate] = {}
    for name, guids in types.items():
        known = [guid for guid in guids if guid in right]
        hits = np.array([right[guid] for guid in known], dtype=np.float64)
        if known:
            groups = [group[guid] for guid in known]
            bounds = score_intervals({"accuracy": hits}, groups, seed=request.seed)
            low, high = bounds.get("accuracy_low"), bounds.get("accuracy_high")
            found = Estimate(float(hits.mean()), low, high, len(hits), mark=mark)
            values[name, "accuracy"] = found
    return Filled({"reasoning": values})


def _typed_pairs(types: Mapping[str, Sequence[str]], file: Path, request: Request) -> Filled:
    """Show a pair of each type, and the number of rows."""
    shipped, notes = _shipped(request)
    known = {example.guid: example for rows in shipped.splits.values() for example in rows}
    _check_guids(types, known, file)
    chosen = {
        f"{name} ({len(guids):,} rows)": _shortest(known[guid] for guid in guids if guid in known)
        for name, guids in types.items()
        if any(guid in known for guid in guids)
    }
    title = "The pair with the shortest premise of each type of reasoning"
    return Filled(tables=(_pairs_table(title, "type", chosen),), notes=notes)


def _check_guids(types: Mapping[str, Sequence[str]], known: Container[str], file: Path) -> None:
    if not any(guid in known for guids in types.values() for guid in guids):
        raise DataError(str(file), "none of its guids is in the data", "copy guids from there")


def _shortest(examples: Iterable[Example]) -> Example:
    return min(examples, key=lambda example: (len(example.text), example.guid))


def _pairs_table(title: str, column: str, examples: Mapping[str, Example]) -> Table:
    rows = tuple(
        (name, cut_text(e.text, _LONGEST), cut_text(e.text_pair or "", _LONGEST), e.guid)
        for name, e in examples.items()
    )
    return Table(title, (column, "premise", "hypothesis", "guid"), rows)


def _shipped(request: Request) -> tuple[Shipped, Sequence[str]]:
    """Read the available splits, of the substitute if there are none; returns also a note on it."""
    config = choose_present(DATA, SUBSTITUTE, request.data_dir, request.cache_dir)
    notes = () if config.name == DATA else (f"{SUBSTITUTE} in place of {DATA}.",)
    return read_shipped(config, request.data_dir, request.cache_dir), notes


def _types(path: Path) -> dict[str, list[str]]:
    table = read_table(path)
    column = table.find(("types", "reasoning")) or "types"
    table.require("guid", column)
    if repeated := table.duplicates("guid"):
        raise DataError(repeated)
    found: dict[str, list[str]] = defaultdict(list)
    for row in table.rows:
        for name in dict.fromkeys(each.lower() for each in split_categories(row[column])):
            found[name].append(cell_text(row["guid"]))
    return {name: found[name] for name in (*TYPES, *(n for n in found if n not in TYPES))}


def prompts(request: Request) -> Filled:
    """Render the prompt as sent, with its English and Romanian versions (Figure 4)."""
    example = Example("pair", "(the premise)", "(the hypothesis)")
    tables, files = [], {}
    for name in ("lchaim", "lchaim_en", "lchaim_ro"):
        words = ["data=lchaim", "baseline=prompted", f"prompt={name}", "model=gpt-4o"]
        config = compose(words)
        text = as_text(Prompter(config, config.prompting.prompt).messages(example))
        files[f"{name}.txt"] = text + "\n"
        lines = tuple((line,) for line in text.splitlines() if line.strip())
        note = "The prompt as sent, without empty lines."
        tables.append(Table(f"prompt={name}", ("the prompt",), lines, note))
    return Filled(tables=tables, files=files)


def _options(run: Path, request: Request) -> AnalyzeOptions:
    return AnalyzeOptions(run=run, paths_data=request.data_dir, paths_cache=request.cache_dir)
