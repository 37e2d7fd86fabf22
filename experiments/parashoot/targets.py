"""ParaShoot's tables and figures without a sweep: `heron reproduce parashoot:T1`.

Sizes, question words and lengths come from `heron analyze data=parashoot`, quality from
`heron analyze sheet=FILE`, overlap from `heron analyze run=DIR by=overlap_class`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Interval, Table
from heron.base.errors import ConfigError
from heron.base.run_folder import open_run
from heron.data.config import SPLITS, VALIDATION
from heron.data.examples import Example
from heron.data.overrides import configure
from heron.languages import get_language
from heron.reports.pages import render
from heron.results.shipped import Shipped, read_shipped
from heron.training.stored import read_stored
from heron_tools.analysis.command import open_slicer
from heron_tools.analysis.slicing import Slicer
from heron_tools.reproduction.targets import Estimate, Filled, Names, Request
from heron_tools.statistics.options import AnalyzeOptions
from heron_tools.statistics.rates import group_ids, share

from .answer_kinds import OVERLAPS
from .answer_sheet import MINIMAL, TOO_LONG, TOO_SHORT, measure_ceiling, quality_table, read_sheet
from .answers import TEMPLATES, overlap_table
from .ceiling import ceiling_table
from .corpus.label_studio import labelling_config, wording
from .question_words import CLUSTERS, OTHER
from .questions import (
    ALL,
    SplitStatistics,
    length_table,
    lengths_figure,
    question_statistics,
    size_table,
    word_tables,
)

DATA = "parashoot"
# The split with the paper's validation questions, by a run's data set.
PAPER_SPLITS = {DATA: VALIDATION, "parashoot_dev": "test"}
ENCODER = "onlplab/alephbert-base"  # of Table 5 and Figure A.1
SAMPLED = 50  # questions of Tables 2 and 5
# Ids of the validation questions of Figure 3, and of those of Figure A.1.
FIGURE_3 = ("fc23fb88-4758-4a56-96e1-3b94315b7214", "a2c3c1e2-e847-4338-b15d-b02fa35ea202")
FIGURE_A1 = (
    "3f4698e1-6766-407a-97e1-163d35033425",
    "17e60685-2e58-4558-ad29-9ba863e7ad65",
    "babd1484-62c5-41e1-8de1-94a18e560a37",
)
# Kinds of Figure A.1's three answers, in order: an error, a shorter and a longer answer.
_KINDS_A1 = ("disjoint", "inside", "contains")


def sizes(request: Request) -> Filled:
    """Count articles, paragraphs and questions (Table 1)."""
    shipped = _shipped(request)
    described = _described(shipped)
    values: dict[Names, Estimate] = {}
    for name, one in described.items():
        row = "total" if name == ALL else name
        if name == ALL and shipped.missing:
            continue  # a total over some files only is not comparable
        for column in ("articles", "paragraphs", "questions"):
            values[row, column] = Estimate(getattr(one, column), n=one.questions, of="questions")
    return Filled({"table1": values}, (size_table(described),), notes=_missing(shipped))


def span_quality(request: Request) -> Filled:
    """Evaluate a filled sheet: sizes of annotated answers, and the ceiling (Table 2)."""
    judged, empty = read_sheet(_one_file(request, "a filled sheet, see `heron analyze sheet=`"))
    groups = group_ids([one.group for one in judged])
    values: dict[Names, Estimate] = {}
    for size in (MINIMAL, TOO_LONG, TOO_SHORT):
        found = share([one.size == size for one in judged], groups)
        values[size, "share"] = _estimate(found, len(judged), "judged answers")
    ceiling = ceiling_table(measure_ceiling(judged, request.seed))
    return Filled({"table2": values}, (quality_table(judged, empty), ceiling))


def question_words(request: Request) -> Filled:
    """Count the first words of validation questions (Table 3)."""
    described = _described(_shipped(request, VALIDATION))
    found = described[VALIDATION]
    total = found.questions
    values: dict[Names, Estimate] = {
        (cluster, "share"): Estimate(found.first_words[cluster] / total, n=total, of="questions")
        for cluster in (*CLUSTERS, OTHER)
    }
    notes = (
        f"The {total} questions by their first word; {OTHER}: another word. The paper's rows sum "
        "to 87.3 %. Its what and which count one question less each: without ממה and מאיזו.",
    )
    return Filled({"table3": values}, tuple(word_tables(described)), notes=notes)


def overlaps(request: Request) -> Filled:
    """Compare a run's answers with the annotated ones by position (Table 5).

    Deviates: all questions of the split are used, with intervals, because the paper's 50 are not
    known; a second table has 50 drawn questions.
    """
    slicer, mark = _open_run(request)
    classes, groups = slicer.split.frame["overlap_class"], slicer.groups
    numbers, wrong = group_ids(groups), np.array([name != "equal" for name in classes])
    values: dict[Names, Estimate] = {}
    for name in OVERLAPS:
        hits = np.array([each == name for each in classes])
        values[name, "share"] = _estimate(share(hits, numbers), len(classes), "questions", mark)
        if name != "equal" and wrong.any():
            errors = share(hits[wrong], numbers[wrong])
            estimate = _estimate(errors, int(wrong.sum()), "errors", mark)
            values[name, "share of errors"] = estimate
    drawn = _draw(slicer, request.seed)
    sampled = overlap_table([classes[n] for n in drawn], [groups[n] for n in drawn])
    title = f"{len(drawn)} drawn questions, seed {request.seed}"
    tables = (
        overlap_table(classes, groups),
        Table(title, sampled.columns, sampled.rows, sampled.note),
    )
    return Filled({"table5": values}, tables, notes=_others(classes))


def interface(request: Request) -> Filled:
    """Write heron's annotation interface, and the instructions (Figure 1)."""
    rows = (
        ("the article's title", "header"),
        ("the paragraph", "text, marked with the mouse character by character"),
        ("a slot for the question", "a field of each marked span"),
        ("a slot for the answer, filled by marking", "the marked span itself"),
        ("alerts: answer too long, not in the paragraph", "heron build parashoot collect"),
    )
    table = Table("Annotation interface", ("in the paper's Figure 1", "in Label Studio"), rows)
    files: dict[str, str] = {}
    for code in ("he", "en"):
        files[f"labelling-{code}.xml"] = labelling_config(code)
        files[f"instructions-{code}.txt"] = "\n".join(wording(code)["instructions"]) + "\n"
    notes = ("The paper's figure is an image. `heron build parashoot sample` writes the tasks.",)
    return Filled(tables=(table,), files=files, notes=notes)


def statistics(request: Request) -> Filled:
    """Count articles, paragraphs, questions and question words (Tables 1 and 3)."""
    parts = [sizes(request)]
    if VALIDATION in _shipped(request).splits:
        parts.append(question_words(request))
    values = {name: found for part in parts for name, found in part.values.items()}
    return Filled(values, notes=[note for part in parts for note in part.notes])


def lengths(request: Request) -> Filled:
    """Draw lengths of questions and answers of all files (Figure 2)."""
    shipped = _shipped(request)
    described = _described(shipped)
    shown = described.get(ALL) or next(iter(described.values()))
    # The paper's share is over all three files.
    mark = "" if len(shipped.splits) == len(SPLITS) else ", ".join(shipped.splits)
    values: dict[Names, Estimate] = {}
    if shown.complex is not None:
        values["all", "complex"] = Estimate(
            shown.complex, n=shown.questions, of="questions", mark=mark
        )
    figure = lengths_figure(shown, f"{DATA}: {', '.join(shipped.splits)}")
    tables = (length_table(described),)
    return Filled({"figure2": values}, tables, {"lengths.png": figure}, notes=_missing(shipped))


def annotated_examples(request: Request) -> Filled:
    """Show Figure 3's two validation questions with their answers, from the user's file."""
    shipped = _shipped(request, VALIDATION)
    minimal: dict[str, str | None] = {}
    for path in request.files:
        minimal |= {one.guid: one.corrected for one in read_sheet(path)[0] if one.corrected}
    examples = _find(shipped.splits[VALIDATION], FIGURE_3)
    cards = [
        _card(example, [("annotated", example.spans[0])], minimal.get(example.guid))
        for example in examples
    ]
    said = "Bold: the annotated answer. Underlined: the minimal answer of a sheet (from=FILE)."
    return Filled(
        tables=(_cards_table("Annotated answers", cards, ("annotated", "minimal")),),
        files={"figure3.html": _page("Figure 3: annotated answers", cards, said)},
        notes=(f"{len(cards)} of {len(FIGURE_3)} questions are in the file. {said}",),
    )


def answered_examples(request: Request) -> Filled:
    """Show a run's answers to the questions of Figure A.1 beside the annotated ones.

    A question without an answer of the run is replaced by the first question whose answer is of
    the same kind: wrong, shorter, longer.
    """
    slicer, mark = _open_run(request)
    frame, examples = slicer.split.frame, slicer.split.examples
    classes = frame["overlap_class"]
    chosen = [frame.rows[guid] for guid in FIGURE_A1 if guid in frame.rows]
    if len(chosen) < len(FIGURE_A1):
        chosen = [classes.index(kind) for kind in _KINDS_A1 if kind in classes]
    cards = []
    for number in chosen:
        example, place = examples[number], frame["place"][number]
        spans = [("annotated", example.spans[0])] if example.spans else []
        spans += [("predicted", place)] if place else []
        cards.append(_card(example, spans, None, OVERLAPS.get(classes[number], "")))
    said = "Bold: the annotated answer. Underlined: the run's answer."
    page = _page("Figure A.1: predicted answers", cards, said)
    notes = (f"Answers of {slicer.split.run}{f' ({mark})' if mark else ''}. {said}",)
    table = _cards_table("Predicted answers", cards, ("annotated", "predicted", "relation"))
    return Filled(tables=(table,), files={"figureA1.html": page}, notes=notes)


def _shipped(request: Request, *needed: str) -> Shipped:
    """Read the existing files.

    Raises:
        DataError: none exists, or a `needed` one is missing.
    """
    config = configure(DATA, [])
    if needed:
        config.files = {name: file for name, file in config.files.items() if name in needed}
    return read_shipped(config, request.data_dir, request.cache_dir)


def _described(shipped: Shipped) -> dict[str, SplitStatistics]:
    return question_statistics(shipped.splits, shipped.config.language)


def _missing(shipped: Shipped) -> tuple[str, ...]:
    missing = [name for name in SPLITS if name in shipped.missing]
    return (f"Left out, since the file is missing: {', '.join(missing)}.",) if missing else ()


def _one_file(request: Request, what: str) -> Path:
    if len(request.files) != 1:
        raise ConfigError(f"from=FILE: {len(request.files)} given, expected {what}")
    return request.files[0]


def _estimate(found: Interval | None, n: int, of: str, mark: str = "") -> Estimate:
    assert found is not None
    return Estimate(found.value, found.low, found.high, n, of, mark=mark)


def _open_run(request: Request) -> tuple[Slicer, str]:
    """Open a run's answers to the paper's validation questions, or else to test questions.

    Returns:
        Its slicer, and its deviations from the paper: data set, split, encoder.
    """
    run = _one_file(request, "a run folder, of experiment=parashoot/alephbert")
    config = read_stored(open_run(run).path / "config.yaml")
    # The paper's validation file is the test file of parashoot_dev.
    split = PAPER_SPLITS.get(config.data.name, VALIDATION)
    if not (run / "predictions" / f"{split}.parquet").is_file():
        split = "test"
    options = AnalyzeOptions(
        run=run,
        split=split,
        seed=request.seed,
        paths_data=request.data_dir,
        paths_cache=request.cache_dir,
    )
    slicer = open_slicer(options)
    if "overlap_class" not in slicer.split.frame:
        raise ConfigError(f"from={run}: a run of question answering is expected")
    name, encoder = config.data.name, config.encoder.name
    marks = [] if PAPER_SPLITS.get(name) == split else [f"{name}, {split}"]
    marks += [] if encoder == ENCODER else [encoder.rpartition("/")[2]]
    return slicer, ", ".join(marks)


def _draw(slicer: Slicer, seed: int) -> list[int]:
    """Draw as many questions as in the paper's table, by guid, independent of file order."""
    guids = sorted((example.guid, n) for n, example in enumerate(slicer.split.examples))
    size = min(SAMPLED, len(guids))
    drawn = np.random.default_rng(seed).choice(len(guids), size, replace=False)
    return sorted(guids[n][1] for n in drawn.tolist())


def _others(classes: Sequence[str]) -> tuple[str, ...]:
    others = sum(name not in OVERLAPS for name in classes)
    return (f"{others} questions without a gold or a predicted answer.",) if others else ()


def _find(examples: Sequence[Example], guids: Sequence[str]) -> list[Example]:
    """Find the questions of a figure; for a file of other rows, take its first questions."""
    by_guid = {example.guid: example for example in examples}
    found = [by_guid[guid] for guid in guids if guid in by_guid]
    return found or [example for example in examples if example.spans][: len(guids)]


def _card(
    example: Example,
    spans: Sequence[tuple[str, tuple[int, int]]],
    minimal: str | None,
    said: str = "",
) -> dict[str, Any]:
    """Lay out one example: its context in pieces, each with the names of its spans."""
    marks = list(spans)
    if minimal and minimal in example.text:
        low = example.spans[0][0]
        start = example.text.find(minimal, low)
        start = example.text.index(minimal) if start < 0 else start
        marks.append(("minimal", (start, start + len(minimal))))
    ends = sorted({0, len(example.text), *(place for _, span in marks for place in span)})
    pieces = [
        {
            "text": example.text[start:end],
            "marks": [name for name, (low, high) in marks if low <= start and end <= high],
        }
        for start, end in pairwise(ends)
    ]
    answers = [(name, example.text[slice(*span)]) for name, span in marks]
    return {
        "guid": example.guid,
        "title": "" if example.group == example.text else example.group,
        "question": example.text_pair or "",
        "pieces": pieces,
        "answers": answers,
        "said": said,
    }


def _cards_table(title: str, cards: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """List examples: the question, and its answers by name."""
    known = [{**dict(card["answers"]), "relation": card["said"]} for card in cards]
    rows = tuple(
        (card["question"], *(cells.get(name) for name in columns), card["guid"])
        for card, cells in zip(cards, known, strict=True)
    )
    return Table(title, ("question", *columns, "guid"), rows)


def _page(title: str, cards: Sequence[Mapping[str, Any]], said: str) -> str:
    language = get_language(configure(DATA, []).language)
    return render(
        "examples.html.j2",
        TEMPLATES,
        title=title,
        synthetic="",
        said=said,
        cards=cards,
        language=language.code,
        direction=language.direction,
    )
