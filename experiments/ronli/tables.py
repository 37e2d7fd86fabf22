"""RoNLI's tables and figures without a sweep: `heron reproduce ronli:T2`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from heron.base.cells import Row, Table
from heron.base.errors import ConfigError, DataError
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.config import PHRASES, TRAIN, VALIDATION
from heron.data.overrides import configure
from heron.data.sources import State, inspect
from heron.dynamics.cartography import GROUPS, Groups, allenai, read_statistics
from heron.languages import get_language
from heron.languages.words import TOKENIZERS
from heron.reports.map import draw_map
from heron.reports.map_data import group_examples, read_mapped
from heron_tools.analysis.command import open_slicer
from heron_tools.annotation.labels import Labels
from heron_tools.annotation.measures import agreements
from heron_tools.morphology.backends import load_morphology
from heron_tools.reproduction.examples import (
    cut_pair,
    missing_splits,
    pairs_table,
    shortest_of_classes,
)
from heron_tools.reproduction.targets import (
    Estimate,
    Filled,
    Names,
    TargetRequest,
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
_SHOWN = 10  # rows of a table of examples
_LONGEST = 300  # characters of a text

LabelPair = tuple[str, str]  # the automatic and the manual label of a row


def splits(request: TargetRequest) -> Filled:
    """Describe the splits by class (Table 2).

    Deviates: words are split at spaces, the overlap is Jaccard's; the paper defines neither.
    """
    shipped = request.read("ronli")
    morphology = load_morphology("simplemma", get_language("ro"))
    means = {"premise": "first", "hypothesis": "second", "overlap": "overlap"}
    estimates: dict[Names, Estimate] = {}
    for split, examples in shipped.splits.items():
        statistics = split_statistics(examples, CLASSES, TOKENIZERS[WORDS], morphology)
        for name, values in statistics.items():
            row = "all" if name == OVERALL else name
            n = values["rows"]
            estimates[split, row, "pairs"] = Estimate(n)

            for column, key in means.items():
                mean = values[key]
                if mean is not None:
                    estimates[split, row, column] = Estimate(mean, n=n, of="pairs")
    return Filled({"table2": estimates}, notes=missing_splits(shipped))


def groups(request: TargetRequest) -> Filled:
    """Count the classes of a run's easy, ambiguous and hard examples (Table 3).

    Instead of a run, the authors' released statistics are accepted, `td_metrics.jsonl`.
    """
    if len(request.files) == 1 and request.files[0].is_file():
        file = request.files[0]
        statistics = read_statistics(file)
        label_N = _train_labels(file, statistics.guids, request)
        counts = _class_counts(allenai(statistics), label_N, CLASSES)
        return Filled({"table3": counts})

    mapped = read_mapped(_run(request, "ronli/siamese"))
    classes = mapped.dynamics.labels
    if not classes:
        raise ConfigError(f"from={mapped.folder}: its task has no classes")

    names = np.array(classes, dtype=object)
    label_N = names[mapped.dynamics.gold_N]
    mark = run_mark(mapped.folder, "ronli", ENCODER)
    counts = _class_counts(group_examples(mapped, "allenai"), label_N, classes, mark)
    return Filled({"table3": counts})


def _train_labels(file: Path, guids: Sequence[str], request: TargetRequest) -> np.ndarray:
    """Look up the label of each guid of a file in train; object `[N]`."""
    shipped = request.read("ronli")
    train = shipped.splits.get(TRAIN, [])
    labels = {example.guid: example.label for example in train}
    unknown = sum(guid not in labels for guid in guids)
    if unknown:
        problem = f"{unknown} of its {len(guids)} guids are not in train"
        raise DataError(str(file), problem, "see heron data ronli")

    return np.array([labels[guid] for guid in guids], dtype=object)


def _class_counts(
    groups: Groups, label_N: np.ndarray, classes: Sequence[str], mark: str = ""
) -> dict[Names, Estimate]:
    """Count the examples of each class in each group."""
    counts: dict[Names, Estimate] = {}
    for group, mask_N in groups.items():
        label_G = label_N[mask_N]
        for name in classes:
            count = int((label_G == name).sum())
            counts[group, name] = Estimate(count, mark=mark)
    return counts


def data_map(request: TargetRequest) -> Filled:
    """Draw a run's data map (Figure 1)."""
    run = _run(request, "ronli/siamese")
    path = draw_map(RunFolder(run))

    rows = []
    masks = group_examples(read_mapped(run), "allenai")
    for group, mask_N in masks.items():
        size = int(mask_N.sum())
        rows.append((group, size))
    table = Table("Groups of the map", ("group", "examples"), rows)

    figures = {"map.png": path.read_bytes()}
    return Filled(tables=(table,), figures=figures, notes=_instead(run))


def phrases(request: TargetRequest, label: str | None = None) -> Filled:
    """List linking phrases: three of each class (Table 1), or all of one (Tables 7 to 9)."""
    sentences = _sentences(request.files)
    rows: list[Row] = []
    counts = []
    for name, texts in _listed_phrases(request).items():
        different = list(dict.fromkeys(texts))
        counts.append(f"{len(different)} {name}")
        if label is None:
            different = different[:3]
        elif label != name:
            continue

        for text in different:
            if sentences:
                rows.append((name, text, sentences.get((name, text))))
            else:
                rows.append((name, text))

    columns = ["class", "phrase"]
    if sentences:
        columns.append("sentences")

    title = f"Linking phrases: {label or 'three of each class'}"
    note = f"Different phrases in the list: {', '.join(counts)}."
    table = Table(title, columns, rows, note)
    return Filled(tables=(table,))


def _listed_phrases(request: TargetRequest) -> dict[str, list[str]]:
    """Read the released phrases of each class."""
    config = configure("ronli", ["data.phrases=start"])
    config.files = {PHRASES: config.files[PHRASES]}
    (source,) = inspect(config, *request.folders).values()
    if source.state is State.MISSING:
        raise DataError(str(source.path), "missing", f"from {config.homepage}")

    phrases: dict[str, list[str]] = json.loads(source.path.read_text("utf-8"))
    return phrases


def _sentences(files: Sequence[Path]) -> dict[tuple[str, str], int]:
    """Read the sentences of each phrase of a class from `phrases.csv` of `heron build ronli`."""
    counts: dict[tuple[str, str], int] = {}
    for path in files:
        table = read_table(path)
        table.require("class", "phrase", "sentences")
        for row in table.rows:
            phrase = row["class"], row["phrase"]
            counts[phrase] = int(row["sentences"])
    return counts


def contrastive_phrases(request: TargetRequest) -> Filled:
    """List the phrases of contrastive pairs (Table 7)."""
    return phrases(request, "contrastive")


def entailment_phrases(request: TargetRequest) -> Filled:
    """List the phrases of entailment pairs (Table 8)."""
    return phrases(request, "entailment")


def reasoning_phrases(request: TargetRequest) -> Filled:
    """List the phrases of reasoning pairs (Table 9)."""
    return phrases(request, "reasoning")


def artefacts(request: TargetRequest) -> Filled:
    """Show SNLI contradictions whose hypothesis has a word that predicts the label (Table 10).

    Source: Gururangan et al. (2018), which the paper cites; its own pairs are not in its text.
    """
    shipped, notes = request.read_present("snli", "control_dev")
    contradictions = 0
    with_word = []
    for example in shipped.all_examples():
        if example.label != "contradiction":
            continue
        contradictions += 1
        hypothesis = example.text_pair or ""
        words = hypothesis.lower().split()
        if not set(words).isdisjoint(NEGATIONS):
            with_word.append((example.label, example))

    title = f"{len(with_word):,} of {contradictions:,} contradictions have such a word"
    table = pairs_table(title, "label", with_word[:_SHOWN], _LONGEST)
    return Filled(tables=(table,), notes=notes)


def pairs(request: TargetRequest) -> Filled:
    """Show a pair of each class (Table 11), from the user's file."""
    shipped = request.read("ronli")
    examples = shortest_of_classes(shipped)
    title = "Table 11: the pair with the shortest premise of each class"
    table = pairs_table(title, "label", examples.items(), _LONGEST)
    return Filled(tables=(table,), notes=missing_splits(shipped))


def agreement(request: TargetRequest) -> Filled:
    """Compare automatic with corrected labels, overall and by data map group (Table 12).

    Deviates: the paper has Fleiss' kappa of three annotators, whose labels were never released;
    this is Cohen's kappa of automatic and corrected labels.
    """
    by_guid = _corrected_labels(request)
    estimates = _agreement("automatic and manual", list(by_guid.values()), request.seed)

    notes = []
    file = request.data_dir / FIRST_FILE
    if file.is_file():
        first = []
        for row in json.loads(file.read_text("utf-8")):
            labels = str(row["label"]), str(row["corrected_label"])
            first.append(labels)
        estimates |= _agreement(f"first {len(first):,} pairs", first, request.seed)
    else:
        notes.append(f"{file} is not there: the first 1,266 pairs are left out.")

    groups: dict[Names, Estimate] = {}
    if request.files:
        groups = _group_kappas(by_guid, request)
    return Filled({"agreement": estimates, "table12": groups}, notes=notes)


def _agreement(rows: str, labels: Sequence[LabelPair], seed: int) -> dict[Names, Estimate]:
    """Measure the agreement of rows by kappa, and by F1 of the automatic labels."""
    return {
        (f"{rows}, Cohen's kappa", "value"): _kappa(labels, seed),
        (f"{rows}, micro F1", "value"): _f1(labels, "micro"),
        (f"{rows}, macro F1", "value"): _f1(labels, "macro"),
    }


def _group_kappas(
    by_guid: Mapping[str, LabelPair], request: TargetRequest
) -> dict[Names, Estimate]:
    """Compute kappa of the easy, ambiguous and hard examples of a run."""
    mapped = read_mapped(_run(request, "ronli/siamese, trained on data=ronli_auto"))
    masks = group_examples(mapped, "allenai")
    mark = "Cohen's kappa of automatic and corrected labels"
    estimates: dict[Names, Estimate] = {}
    for group in GROUPS:
        labels = []
        for row in np.flatnonzero(masks[group]):
            guid = mapped.statistics.guids[row]
            if guid in by_guid:
                labels.append(by_guid[guid])

        if labels:
            estimates[group, "kappa"] = _kappa(labels, request.seed, mark)

    if not estimates:
        raise ConfigError(
            f"from={mapped.folder}: its examples are not those of data=ronli_auto; train on it"
        )
    return estimates


def _corrected_labels(request: TargetRequest) -> dict[str, LabelPair]:
    """Read the automatic and the corrected label of each validation pair, by guid."""
    shipped = request.read("ronli_auto")
    (examples,) = shipped.splits.values()
    labels = {}
    for example in examples:
        automatic = str(example.label)
        manual = str(example.side["truth"])
        labels[example.guid] = automatic, manual
    return labels


def _kappa(label_pairs: Sequence[LabelPair], seed: int, mark: str = "") -> Estimate:
    """Compute Cohen's kappa; NaN where one side has a single class.

    Its formula gives 0 for such rows, however many of them agree.
    """
    n = len(label_pairs)
    automatic, manual = zip(*label_pairs, strict=True)
    if len(set(automatic)) == 1 or len(set(manual)) == 1:
        return Estimate(math.nan, n=n, of="pairs", mark=mark)

    items = [str(row) for row in range(n)]
    labels = Labels(items, ("automatic", "manual"), label_pairs)
    by_measure = {measured.measure: measured for measured in agreements(labels, seed=seed)}
    kappa = by_measure["Cohen's kappa"]
    assert kappa.value is not None
    return Estimate(kappa.value, kappa.low, kappa.high, kappa.n, "pairs", mark=mark)


def _f1(label_pairs: Sequence[LabelPair], average: str) -> Estimate:
    """Score automatic labels as predictions of the manual ones."""
    automatic, manual = zip(*label_pairs, strict=True)
    value = f1_score(manual, automatic, average=average, zero_division=0)
    return Estimate(float(value), n=len(label_pairs), of="pairs")


def errors(request: TargetRequest) -> Filled:
    """Show the most confident errors of a run on test (Table 13)."""
    run = _run(request, "ronli/cart_stra")
    options = AnalyzeOptions(run=run, paths_data=request.data_dir, paths_cache=request.cache_dir)
    of_test = run / "predictions" / "test.parquet"
    if not of_test.is_file():
        options.split = VALIDATION

    slicer = open_slicer(options)
    split = slicer.split
    frame = split.frame
    guids = frame["guid"]
    probabilities = frame.probabilities

    wrong = []
    for row, is_right in enumerate(frame.right):
        if not is_right:
            confidence = probabilities[row] or 0.0
            wrong.append((-confidence, guids[row], row))

    wrong.sort()  # the most confident first; equal ones by guid

    golds = frame["gold"]
    predictions = frame["prediction"]
    rows = []
    for _, guid, row in wrong[:_SHOWN]:
        texts = cut_pair(split.examples[row], _LONGEST)
        rows.append((*texts, golds[row], predictions[row], probabilities[row], guid))

    columns = ("premise", "hypothesis", "gold", "prediction", "probability", "guid")
    counts = f"{len(wrong):,} of {len(split.examples):,} pairs are wrong"
    title = f"{counts}; the most confident errors first"
    table = Table(title, columns, rows)
    return Filled(tables=(table,), notes=_instead(run))


def _instead(run: Path) -> tuple[str, ...]:
    """Say how a run deviates from the paper's."""
    mark = run_mark(run, "ronli", ENCODER)
    if not mark:
        return ()
    return (f"In place of the paper's: {mark}.",)


def _run(request: TargetRequest, expected: str) -> Path:
    """Return the request's run folder; `expected` names its experiment."""
    return request.one_file(f"a run of {expected}", "DIR")
