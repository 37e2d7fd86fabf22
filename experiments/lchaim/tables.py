"""LCHAIM's tables and figures without a sweep: `heron reproduce lchaim:F4`."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from heron.base.cells import Table
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.tables import cell_text, read_table
from heron.data.config import TEST, DataConfig
from heron.data.examples import Example
from heron.data.rows import LabelError, LabelReader
from heron.metrics.classification import bootstrap_intervals, score_task
from heron.metrics.intervals import score_intervals
from heron.results.shipped import find_examples
from heron.training.compose import compose
from heron_tools.analysis.command import open_slicer
from heron_tools.analysis.slicing import split_categories
from heron_tools.annotation.labels import Labels, Layout, read_labels
from heron_tools.annotation.measures import rating_differences
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.reproduction.examples import pairs_table, shortest, shortest_of_classes
from heron_tools.reproduction.targets import (
    Estimate,
    Filled,
    Names,
    TargetRequest,
    run_mark,
)
from heron_tools.statistics.labels import jaccard
from heron_tools.statistics.options import AnalyzeOptions

DATA = "lchaim"
SUBSTITUTE = "control_dev"  # read if the files of LCHAIM are missing
ENCODER = "LongHeRo"  # of section 5
TRANSLATORS = ("Amazon Translate", "DictaLM-2.0")  # the rows of Table 1
CRITERIA = ("accuracy", "fluency", "culture")
_POINTS = {"yes": "5", "no": "0"}  # points for a valid label, or not
# Table 2's columns for people, and heron's scores.
PEOPLE_SCORES = {"accuracy": "accuracy", "F1": "macro_f1"}
CLASS_SCORES = {"P": "precision", "R": "recall", "F1": "f1"}
TYPES = ("temporal", "coreferential", "logical", "analytical")
_LONGEST = 400  # characters of a text

Guids = Mapping[str, Sequence[str]]  # of the rows of each type of reasoning


def ratings(request: TargetRequest) -> Filled:
    """Average human ratings of translations, with their error (Table 1).

    The files have columns guid, rater and the criteria, one row per rater and text, as `heron
    annotate collect` writes them. A file named by the first word of one of the paper's
    translators (`amazon.csv`, `dictalm.csv`) is compared with its row; other files get extra rows.
    Error: half the interval of the mean absolute difference between the raters of a text, which
    has its own row. `valid` (yes or no: does the label still hold?) is the paper's `label`, in
    points of 5.

    Source: LCHAIM, section 2.2 and Table 1.
    """
    criteria = ", ".join(CRITERIA)
    if not request.files:
        raise ConfigError(f"from=FILE: expected ratings, columns guid, rater, {criteria}")

    estimates: dict[Names, Estimate] = {}
    for path in request.files:
        present = read_table(path).columns
        columns = [column for column in (*CRITERIA, "label", "valid") if column in present]
        if not columns:
            raise ConfigError(f"{path}: none of the columns {criteria}")

        translator = _translator(path)
        for column in columns:
            labels = read_labels([path], Layout(rater="rater", label=column))
            if column == "valid":
                column = "label"
                labels = _as_points(labels)
            difference = rating_differences(labels)

            points = []
            for ratings_of_text in labels.values:
                points += [float(rating) for rating in ratings_of_text if rating]
            if not points:  # a criterion without ratings
                continue

            mean = float(np.mean(points))
            estimates[translator, column] = Estimate(mean, n=len(points), of="ratings")

            low = difference.low
            high = difference.high
            texts = difference.n
            if low is not None and high is not None:
                half = (high - low) / 2
                estimates[translator, f"{column}, error"] = Estimate(half, n=texts, of="texts")

            if difference.value is not None:
                row = (translator, f"{column}, difference of raters")
                estimates[row] = Estimate(difference.value, low, high, texts, "texts")
    return Filled({"table1": estimates})


def _translator(path: Path) -> str:
    """Name the row of Table 1 that a file of ratings belongs to, else the file itself."""
    for name in TRANSLATORS:
        if name.casefold().startswith(path.stem.casefold()):
            return name
    return path.stem


def _as_points(labels: Labels) -> Labels:
    """Turn answers of yes and no into points."""
    points = []
    for answers in labels.values:
        points.append([_POINTS.get(answer, answer) for answer in answers])
    return replace(labels, values=points)


def people(request: TargetRequest) -> Filled:
    """Score people's answers to rows of the test set (Table 2).

    The files have columns guid and label, a row for each rater and pair, as `heron annotate
    collect` writes them. A file whose name begins with `english` is about ConTRoL's test set. Every
    answer counts as a prediction; intervals draw pairs.

    Source: LCHAIM, section 3.2 and Table 2, whose F1 of people is the mean of the classes' F1s.
    """
    overall: dict[Names, Estimate] = {}
    by_class: dict[Names, Estimate] = {}
    notes = []
    for path in request.files:
        data = DATA
        language = "in Hebrew"
        if path.stem.casefold().startswith("english"):
            data = "control"
            language = "in English"

        config = request.choose_present(data, SUBSTITUTE)
        mark = ""
        if config.name != data:
            mark = f"{SUBSTITUTE} in place of {data}"

        guids, answers = _answers(path, config)
        examples = find_examples(guids, TEST, config, *request.folders)
        golds = [str(example.label) for example in examples]
        classes = config.label_order
        scores = score_task("nli", golds, answers, classes)
        bounds = bootstrap_intervals(
            "nli", golds, answers, classes, groups=guids, seed=request.seed
        )

        n = len(guids)
        for column, score in PEOPLE_SCORES.items():
            estimate = Estimate.with_bounds(scores[score], bounds, score, n, "answers", mark)
            overall["human", language, column] = estimate

        for name in classes:
            for column, score in CLASS_SCORES.items():
                value = scores[f"{score}/{name}"]
                estimate = Estimate(value, n=n, of="answers", mark=mark)
                by_class["human", language, name, column] = estimate

        answered = len(set(guids))
        notes.append(f"human {language}: {n} answers to {answered} pairs.")
    return Filled({"table2": overall, "table2_classes": by_class}, notes=notes)


def _answers(path: Path, config: DataConfig) -> tuple[list[str], list[str]]:
    """Read the pairs' guids and the classes that people gave them, without empty answers."""
    table = read_table(path)
    table.require("guid", "label")
    reader = LabelReader(config, "label")
    guids = []
    answers = []
    problems = []
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


def statistics(request: TargetRequest) -> Filled:
    """Count the rows of each split; average the overlap of premise and hypothesis by class.

    Source: LCHAIM, sections 2 and 3.1; Jaccard overlap of words split at spaces.
    Deviates: the paper defines neither words nor the split; all available rows are used.
    """
    name = request.data or DATA
    shipped = request.read(name)
    examples = shipped.all_examples()

    sizes: dict[Names, Estimate] = {}
    if name == DATA:
        mark = ""
        if shipped.missing:
            present = ", ".join(shipped.splits)
            mark = f"only {present}"
        for split, rows in shipped.splits.items():
            sizes[split, "rows"] = Estimate(len(rows))
        sizes["total", "rows"] = Estimate(len(examples), mark=mark)
    else:  # its files are not the paper's splits
        mark = f"{name} in place of {DATA}"
        sizes[name, "rows"] = Estimate(len(examples), mark=mark)

    overlap: dict[Names, Estimate] = {}
    for label in shipped.config.label_order:
        overlaps = []
        for example in examples:
            if example.label != label:
                continue
            premise = example.text.split()
            hypothesis = (example.text_pair or "").split()
            overlaps.append(jaccard(premise, hypothesis))

        if overlaps:
            mean = float(np.mean(overlaps))
            estimate = Estimate(mean, n=len(overlaps), of="pairs", mark=mark)
            overlap[label, "jaccard"] = estimate
    return Filled({"sizes": sizes, "overlap": overlap})


def pairs(request: TargetRequest) -> Filled:
    """Show a pair of each class (Figure 1), from the user's files."""
    shipped, notes = request.read_present(DATA, SUBSTITUTE)
    examples = shortest_of_classes(shipped)
    title = "The pair with the shortest premise of each class"
    table = pairs_table(title, "label", examples.items(), _LONGEST)
    return Filled(tables=(table,), notes=notes)


def diversity(request: TargetRequest) -> Filled:
    """Show the accuracy of runs by type-token ratio (Figure 2): `heron analyze by=ttr`.

    The paper's ratio is the mean of a part-of-speech term and a lemma term. Parts of speech are
    read from a CoNLL-U file, or computed by stanza; without either, the ratio is of lemmas only,
    and named so.
    """
    treebanks = [path for path in request.files if ".conllu" in path.suffixes]
    runs = [path for path in request.files if path not in treebanks]
    if not runs or len(treebanks) > 1:
        raise ConfigError("from=RUN,RUN or from=RUN,FILE.conllu: expected finished runs on LCHAIM")

    if treebanks:
        morphology = f"conllu:{treebanks[0]}"
    elif find_spec("stanza"):
        morphology = "stanza"
    else:
        morphology = "simplemma"

    tables: list[Table] = []
    for run in runs:
        options = replace(_options(run, request), morphology=morphology)
        outcome = open_slicer(options).run("ttr")

        # The paper's figure is of an encoder and of a language model.
        marks = [run_mark(run, DATA, model) for model in (ENCODER, "gpt-4o")]
        mark = min(marks, key=len)
        title = run.name
        if mark:
            title = f"{title} ({mark})"
        for table in outcome.tables:
            tables.append(replace(table, title=f"{title}: {table.title}"))
    return Filled(tables=tables)


def reasoning(request: TargetRequest) -> Filled:
    """Score a run by type of reasoning, or show a pair of each type (Figure 3, section 5.2).

    The file is as for `heron analyze types=FILE`; its second column may be called `reasoning`.
    """
    runs = [path for path in request.files if path.is_dir()]
    files = [path for path in request.files if path not in runs]
    if len(files) != 1 or len(runs) > 1:
        raise ConfigError("from=FILE or from=RUN,FILE: expected a table with guid and types")
    file = files[0]
    types = _types(file)
    if not runs:
        return _typed_pairs(types, file, request)

    run = runs[0]
    split = open_slicer(_options(run, request)).split
    right = dict(zip(split.frame["guid"], split.frame.right, strict=True))
    _check_guids(types, right, file)

    premises = {}
    for example in split.examples:
        premises[example.guid] = example.group or example.text

    mark = run_mark(run, DATA, ENCODER)
    estimates: dict[Names, Estimate] = {}
    for name, guids in types.items():
        scored = [guid for guid in guids if guid in right]
        if not scored:
            continue

        right_N = np.array([right[guid] for guid in scored], dtype=np.float64)
        groups = [premises[guid] for guid in scored]
        accuracy = float(right_N.mean())
        bounds = score_intervals({"accuracy": right_N}, groups, seed=request.seed)
        estimates[name, "accuracy"] = Estimate.with_bounds(
            accuracy, bounds, "accuracy", len(scored), "rows", mark
        )
    return Filled({"reasoning": estimates})


def _typed_pairs(types: Guids, file: Path, request: TargetRequest) -> Filled:
    """Show a pair of each type, and the number of rows."""
    shipped, notes = request.read_present(DATA, SUBSTITUTE)
    by_guid = {example.guid: example for example in shipped.all_examples()}
    _check_guids(types, by_guid, file)

    shown = []
    for name, guids in types.items():
        examples = [by_guid[guid] for guid in guids if guid in by_guid]
        if examples:
            counted_name = f"{name} ({len(guids):,} rows)"
            shown.append((counted_name, shortest(examples)))

    title = "The pair with the shortest premise of each type of reasoning"
    table = pairs_table(title, "type", shown, _LONGEST)
    return Filled(tables=(table,), notes=notes)


def _check_guids(types: Guids, known: Container[str], file: Path) -> None:
    """Raise a DataError unless one of a file's guids is in the data."""
    for guids in types.values():
        if any(guid in known for guid in guids):
            return
    raise DataError(str(file), "none of its guids is in the data", "copy guids from there")


def _types(path: Path) -> dict[str, list[str]]:
    """Read the guids of each type of reasoning, the paper's types first."""
    table = read_table(path)
    column = table.find(("types", "reasoning")) or "types"
    table.require("guid", column)
    repeated = table.duplicates("guid")
    if repeated:
        raise DataError(repeated)

    guids: dict[str, list[str]] = {name: [] for name in TYPES}
    for row in table.rows:
        guid = cell_text(row["guid"])
        types = split_categories(row[column])
        different = dict.fromkeys(name.lower() for name in types)
        for name in different:
            guids.setdefault(name, []).append(guid)
    return guids


def prompts(request: TargetRequest) -> Filled:
    """Render the prompt as sent, with its English and Romanian versions (Figure 4)."""
    example = Example("pair", "(the premise)", "(the hypothesis)")
    tables = []
    files = {}
    for name in ("lchaim", "lchaim_en", "lchaim_ro"):
        words = ["data=lchaim", "baseline=prompted", f"prompt={name}", "model=gpt-4o"]
        config = compose(words)
        prompter = Prompter(config, config.prompting.prompt)
        text = as_text(prompter.messages(example))
        files[f"{name}.txt"] = text + "\n"

        rows = []
        for line in text.splitlines():
            if line.strip():
                rows.append((line,))
        note = "The prompt as sent, without empty lines."
        table = Table(f"prompt={name}", ("the prompt",), rows, note)
        tables.append(table)
    return Filled(tables=tables, files=files)


def _options(run: Path, request: TargetRequest) -> AnalyzeOptions:
    return AnalyzeOptions(run=run, paths_data=request.data_dir, paths_cache=request.cache_dir)
