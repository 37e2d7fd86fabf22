"""RoNLI's tables and figures without a sweep: `heron reproduce ronli:T2`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.config import PHRASES, TRAIN, VALIDATION
from heron.data.examples import Example
from heron.data.overrides import configure
from heron.data.sources import State, inspect
from heron.dynamics.cartography import GROUPS, allenai, read_statistics
from heron.languages import get_language
from heron.languages.words import TOKENIZERS
from heron.reports.map import draw_map
from heron.reports.map_data import group_examples, read_mapped
from heron.reports.pages import cut_text
from heron.results.shipped import Shipped, read_shipped
from heron_tools.analysis.command import open_slicer
from heron_tools.annotation.labels import Labels
from heron_tools.annotation.measures import agreements
from heron_tools.morphology.backends import load_morphology
from heron_tools.reproduction.targets import (
    Estimate,
    Filled,
    Names,
    Request,
    choose_present,
    run_mark,
)
from heron_tools.statistics.labels import OVERALL, split_statistics
from heron_tools.statistics.options import AnalyzeOptions

CLASSES = ("contrastive", "entailment", "reasoning", "neutral")
# Words of Table 2: split at spaces (the paper does not state it).
WORDS = "whitespace"
ENCODER = "bert-base-romanian-cased-v1"
FIRST_FILE = "ronli/processed_items_old.json"  # the first 1,266 corrected pairs
NEGATIONS = ("nobody", "no", "never", "not", "nothing", "sleeping")  # Gururangan et al. (2018)
_SHOWN, _LONGEST = 10, 300  # rows of a table of examples, characters of a text


def splits(request: Request) -> Filled:
    """Describe the splits by class (Table 2).

    Deviates: words are split at spaces, the overlap is Jaccard's; the paper defines neither.
    """
    shipped = _shipped("ronli", request)
    morphology = load_morphology("simplemma", get_language("ro"))
    values: dict[Names, Estimate] = {}
    for split, examples in shipped.splits.items():
        described = split_statistics(examples, CLASSES, TOKENIZERS[WORDS], morphology)
        for name, found in described.items():
            row = "all" if name == OVERALL else name
            values[split, row, "pairs"] = Estimate(found["rows"])
            for column, key in (("premise", "first"), ("hypothesis", "second"), ("overlap",) * 2):
                if found[key] is not None:
                    estimate = Estimate(found[key], n=found["rows"], of="pairs")
                    values[split, row, column] = estimate
    return Filled({"table2": values}, notes=_missing(shipped))


def groups(request: Request) -> Filled:
    """Count the classes of a run's easy, ambiguous and hard examples (Table 3).

    Instead of a run, the authors' released statistics are accepted, `td_metrics.jsonl`.
    """
    if len(request.files) == 1 and request.files[0].is_file():
        of = read_statistics(request.files[0])
        train = _shipped("ronli", request).splits.get(TRAIN, [])
        known = {example.guid: example.label for example in train}
        if unknown := [guid for guid in of.guids if guid not in known]:
            what = f"{len(unknown)} of its {len(of)} guids are not in train"
            raise DataError(str(request.files[0]), what, "see heron data ronli")
        golds_N = np.asarray([known[guid] for guid in of.guids], dtype=object)
        counts: dict[Names, Estimate] = {
            (group, label): Estimate(int((golds_N[mask_N] == label).sum()))
            for group, mask_N in allenai(of).items()
            for label in CLASSES
        }
        return Filled({"table3": counts})
    mapped = read_mapped(_run(request, "ronli/siamese"))
    labels, gold_N = mapped.dynamics.labels, mapped.dynamics.gold_N
    if not labels:
        raise ConfigError(f"from={mapped.folder}: its task has no classes")
    found = group_examples(mapped, "allenai")
    mark = run_mark(mapped.folder, "ronli", ENCODER)
    values: dict[Names, Estimate] = {
        (group, label): Estimate(int((gold_N[mask_N] == number).sum()), mark=mark)
        for group, mask_N in found.items()
        for number, label in enumerate(labels)
    }
    return Filled({"table3": values})


def data_map(request: Request) -> Filled:
    """Draw a run's data map (Figure 1)."""
    run = _run(request, "ronli/siamese")
    path = draw_map(RunFolder(run))
    rows = ((name, mask.sum()) for name, mask in _grouped(request).items())
    table = Table("Groups of the map", ("group", "examples"), tuple((n, int(c)) for n, c in rows))
    figures = {"map.png": path.read_bytes()}
    return Filled(tables=(table,), figures=figures, notes=_instead(run))


def _grouped(request: Request) -> dict[str, np.ndarray]:
    return group_examples(read_mapped(_run(request, "ronli/siamese")), "allenai")


def phrases(request: Request, label: str | None = None) -> Filled:
    """List linking phrases: three of each class (Table 1), or all of one (Tables 7 to 9)."""
    config = configure("ronli", ["data.phrases=start"])
    config.files = {PHRASES: config.files[PHRASES]}
    (source,) = inspect(config, request.data_dir, request.cache_dir).values()
    if source.state is State.MISSING:
        raise DataError(str(source.path), "missing", f"from {config.homepage}")
    found: dict[str, list[str]] = json.loads(source.path.read_text("utf-8"))
    sentences = _sentences(request.files)
    rows: list[tuple[Cell, ...]] = []
    for name, listed in found.items():
        known = list(dict.fromkeys(listed))
        if label is None:
            rows += [(name, phrase, sentences.get((name, phrase))) for phrase in known[:3]]
        elif name == label:
            rows += [(name, phrase, sentences.get((name, phrase))) for phrase in known]
    counts = {name: len(set(listed)) for name, listed in found.items()}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    title = f"Linking phrases: {label or 'three of each class'}"
    note = f"Different phrases in the list: {said}."
    shown = 3 if sentences else 2
    columns = ("class", "phrase", "sentences")[:shown]
    return Filled(tables=(Table(title, columns, tuple(row[:shown] for row in rows), note),))


def _sentences(files: Sequence[Path]) -> dict[tuple[str, str], int]:
    """Read the sentences of each phrase of a class from `phrases.csv` of `heron build ronli`."""
    counts: dict[tuple[str, str], int] = {}
    for path in files:
        table = read_table(path)
        table.require("class", "phrase", "sentences")
        for row in table.rows:
            counts[row["class"], row["phrase"]] = int(row["sentences"])
    return counts


def contrastive_phrases(request: Request) -> Filled:
    """List the phrases of contrastive pairs (Table 7)."""
    return phrases(request, "contrastive")


def entailment_phrases(request: Request) -> Filled:
    """List the phrases of entailment pairs (Table 8)."""
    return phrases(request, "entailment")


def reasoning_phrases(request: Request) -> Filled:
    """List the phrases of reasoning pairs (Table 9)."""
    return phrases(request, "reasoning")


def artefacts(request: Request) -> Filled:
    """Show SNLI contradictions whose hypothesis has a word that predicts the label (Table 10).

    Source: Gururangan et al. (2018), which the paper cites; its own pairs are not in its text.
    """
    config = choose_present("snli", "control_dev", request.data_dir, request.cache_dir)
    shipped = read_shipped(config, request.data_dir, request.cache_dir)
    notes = () if config.name == "snli" else (f"{config.name} in place of snli.",)
    examples = [e for rows in shipped.splits.values() for e in rows if e.label == "contradiction"]
    found = [e for e in examples if set((e.text_pair or "").lower().split()) & set(NEGATIONS)]
    title = f"{len(found):,} of {len(examples):,} contradictions have such a word"
    return Filled(tables=(_pairs_table(title, found[:_SHOWN]),), notes=notes)


def pairs(request: Request) -> Filled:
    """Show a pair of each class (Table 11), from the user's file."""
    shipped = _shipped("ronli", request)
    examples = [example for rows in shipped.splits.values() for example in rows]
    shortest = [
        min((e for e in examples if e.label == name), key=lambda e: (len(e.text), e.guid))
        for name in CLASSES
    ]
    title = "Table 11: the pair with the shortest premise of each class"
    return Filled(tables=(_pairs_table(title, shortest),), notes=_missing(shipped))


def agreement(request: Request) -> Filled:
    """Compare automatic with corrected labels, overall and by data map group (Table 12).

    Deviates: the paper has Fleiss' kappa of three annotators, whose labels were never released;
    this is Cohen's kappa of automatic and corrected labels.
    """
    examples = _corrected(request)
    values: dict[Names, Estimate] = {
        ("automatic and manual, Cohen's kappa", "value"): _kappa(examples, request.seed),
        ("automatic and manual, micro F1", "value"): _f1(examples, "micro"),
        ("automatic and manual, macro F1", "value"): _f1(examples, "macro"),
    }
    old = request.data_dir / FIRST_FILE
    notes = [f"{old} is not there: the first 1,266 pairs are left out."]
    if old.is_file():
        rows = json.loads(old.read_text("utf-8"))
        first = [(str(row["label"]), str(row["corrected_label"])) for row in rows]
        name = f"first {len(first):,} pairs"
        values |= {
            (f"{name}, Cohen's kappa", "value"): _kappa(first, request.seed),
            (f"{name}, micro F1", "value"): _f1(first, "micro"),
            (f"{name}, macro F1", "value"): _f1(first, "macro"),
        }
        notes = []
    groups = _by_group(request) if request.files else {}
    return Filled({"agreement": values, "table12": groups}, notes=notes)


def _by_group(request: Request) -> dict[Names, Estimate]:
    mapped = read_mapped(_run(request, "ronli/siamese, trained on data=ronli_auto"))
    by_guid = {e.guid: pair for e, pair in _corrected_examples(request)}
    mark = "Cohen's kappa of automatic and corrected labels"
    values: dict[Names, Estimate] = {}
    for group in GROUPS:
        mask_N = group_examples(mapped, "allenai")[group]
        guids = [guid for guid, in_it in zip(mapped.statistics.guids, mask_N, strict=True) if in_it]
        ours = [by_guid[guid] for guid in guids if guid in by_guid]
        if ours:
            values[group, "kappa"] = _kappa(ours, request.seed, mark)
    if not values:
        raise ConfigError(
            f"from={mapped.folder}: its examples are not those of data=ronli_auto; train on it"
        )
    return values


def _corrected(request: Request) -> list[tuple[str, str]]:
    return [pair for _, pair in _corrected_examples(request)]


def _corrected_examples(request: Request) -> list[tuple[Example, tuple[str, str]]]:
    """Pair the automatic label of each validation pair with the corrected one."""
    shipped = _shipped("ronli_auto", request)
    (examples,) = shipped.splits.values()
    return [(e, (str(e.label), str(e.side["truth"]))) for e in examples]


def _kappa(said: Sequence[tuple[str, str]], seed: int, mark: str = "") -> Estimate:
    """Compute Cohen's kappa; NaN where one side has a single class.

    Its formula gives 0 for such rows, however many of them agree.
    """
    if any(len(set(labels)) == 1 for labels in zip(*said, strict=True)):
        return Estimate(math.nan, n=len(said), of="pairs", mark=mark)
    items = [str(number) for number in range(len(said))]
    labels = Labels(items, ("automatic", "manual"), said)
    found = next(each for each in agreements(labels, seed=seed) if each.measure == "Cohen's kappa")
    assert found.value is not None
    return Estimate(found.value, found.low, found.high, found.n, "pairs", mark=mark)


def _f1(said: Sequence[tuple[str, str]], average: str) -> Estimate:
    """Score automatic labels as predictions of the manual ones."""
    automatic, manual = zip(*said, strict=True)
    value = f1_score(manual, automatic, average=average, zero_division=0)
    return Estimate(float(value), n=len(said), of="pairs")


def errors(request: Request) -> Filled:
    """Show the most confident errors of a run on test (Table 13)."""
    run = _run(request, "ronli/cart_stra")
    options = AnalyzeOptions(run=run, paths_data=request.data_dir, paths_cache=request.cache_dir)
    if not (run / "predictions" / "test.parquet").is_file():
        options.split = VALIDATION
    split = open_slicer(options).split
    examples, frame, shares = split.examples, split.frame, split.frame.probabilities
    wrong = [row for row, right in enumerate(frame.right) if not right]
    wrong.sort(key=lambda row: (-(shares[row] or 0.0), frame["guid"][row]))
    rows = tuple(
        (
            cut_text(examples[row].text, _LONGEST),
            cut_text(examples[row].text_pair or "", _LONGEST),
            frame["gold"][row],
            frame["prediction"][row],
            shares[row],
            frame["guid"][row],
        )
        for row in wrong[:_SHOWN]
    )
    columns = ("premise", "hypothesis", "gold", "prediction", "probability", "guid")
    title = f"{len(wrong):,} of {len(examples):,} pairs are wrong; the most confident errors first"
    return Filled(tables=(Table(title, columns, rows),), notes=_instead(run))


def _pairs_table(title: str, examples: Sequence[Example]) -> Table:
    rows = tuple(
        (e.label, cut_text(e.text, _LONGEST), cut_text(e.text_pair or "", _LONGEST), e.guid)
        for e in examples
    )
    return Table(title, ("label", "premise", "hypothesis", "guid"), rows)


def _shipped(name: str, request: Request) -> Shipped:
    return read_shipped(configure(name, []), request.data_dir, request.cache_dir)


def _missing(shipped: Shipped) -> tuple[str, ...]:
    missing = [name for name in shipped.missing if name not in shipped.splits]
    return (f"Left out, since the file is missing: {', '.join(missing)}.",) if missing else ()


def _instead(run: Path) -> tuple[str, ...]:
    mark = run_mark(run, "ronli", ENCODER)
    return (f"In place of the paper's: {mark}.",) if mark else ()


def _run(request: Request, what: str) -> Path:
    if len(request.files) != 1:
        raise ConfigError(f"from=DIR: {len(request.files)} given, expected a run of {what}")
    return request.files[0]
