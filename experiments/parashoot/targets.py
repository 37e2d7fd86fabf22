"""ParaShoot's tables and figures without a sweep: `heron reproduce parashoot:T1`.

Sizes, question words and lengths come from `heron analyze data=parashoot`, quality from
`heron analyze sheet=FILE`, overlap from `heron analyze run=DIR by=overlap_class`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
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
from heron.results.shipped import Shipped
from heron.training.stored import read_stored
from heron_tools.analysis.command import open_slicer
from heron_tools.analysis.slicing import Slicer
from heron_tools.reproduction.examples import missing_splits
from heron_tools.reproduction.targets import Estimate, Filled, Names, TargetRequest
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
    whole,
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

Values = dict[Names, Estimate]  # by row and column of a table of the paper


def sizes(request: TargetRequest) -> Filled:
    """Count articles, paragraphs and questions (Table 1)."""
    shipped = _shipped(request)
    described = _described(shipped)
    values: Values = {}
    for name, split in described.items():
        if name == ALL and shipped.missing:
            continue  # a total over some files only is not comparable

        row = "total" if name == ALL else name
        for column in ("articles", "paragraphs", "questions"):
            count = getattr(split, column)
            values[row, column] = Estimate(count, n=split.questions, of="questions")
    return Filled({"table1": values}, (size_table(described),), notes=missing_splits(shipped))


def span_quality(request: TargetRequest) -> Filled:
    """Evaluate a filled sheet: sizes of annotated answers, and the ceiling (Table 2)."""
    sheet = request.one_file("a filled sheet, see `heron analyze sheet=`")
    judged, empty = read_sheet(sheet)
    groups = group_ids([answer.group for answer in judged])

    values: Values = {}
    for size in (MINIMAL, TOO_LONG, TOO_SHORT):
        hits = [answer.size == size for answer in judged]
        of_judged = share(hits, groups)
        values[size, "share"] = _estimate(of_judged, len(judged), "judged answers")

    quality = quality_table(judged, empty)
    ceiling = ceiling_table(measure_ceiling(judged, request.seed))
    return Filled({"table2": values}, (quality, ceiling))


def question_words(request: TargetRequest) -> Filled:
    """Count the first words of validation questions (Table 3)."""
    described = _described(_shipped(request, VALIDATION))
    validation = described[VALIDATION]
    total = validation.questions

    values: Values = {}
    for cluster in (*CLUSTERS, OTHER):
        count = validation.first_words[cluster]
        values[cluster, "share"] = Estimate(count / total, n=total, of="questions")

    notes = (
        f"The {total} questions by their first word; {OTHER}: another word. The paper's rows sum "
        "to 87.3 %. Its what and which count one question less each: without ממה and מאיזו.",
    )
    return Filled({"table3": values}, tuple(word_tables(described)), notes=notes)


def overlaps(request: TargetRequest) -> Filled:
    """Compare a run's answers with the annotated ones by position (Table 5).

    Deviates: all questions of the split are used, with intervals, because the paper's 50 are not
    known; a second table has 50 drawn questions.
    """
    slicer, mark = _open_run(request)
    classes = slicer.split.frame["overlap_class"]
    groups = slicer.groups
    classes_N = np.asarray(classes, dtype=object)
    group_N = group_ids(groups)

    wrong_N = classes_N != "equal"
    errors = int(wrong_N.sum())

    values: Values = {}
    for name in OVERLAPS:
        hit_N = classes_N == name
        of_all = share(hit_N, group_N)
        values[name, "share"] = _estimate(of_all, len(classes), "questions", mark)
        if errors and name != "equal":
            of_errors = share(hit_N[wrong_N], group_N[wrong_N])
            values[name, "share of errors"] = _estimate(of_errors, errors, "errors", mark)

    drawn = _draw(slicer, request.seed)
    drawn_classes = [classes[row] for row in drawn]
    drawn_groups = [groups[row] for row in drawn]
    title = f"{len(drawn)} drawn questions, seed {request.seed}"
    of_drawn = replace(overlap_table(drawn_classes, drawn_groups), title=title)

    tables = (overlap_table(classes, groups), of_drawn)
    return Filled({"table5": values}, tables, notes=_others(classes))


def interface(request: TargetRequest) -> Filled:
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
        instructions = "\n".join(wording(code)["instructions"])
        files[f"labelling-{code}.xml"] = labelling_config(code)
        files[f"instructions-{code}.txt"] = f"{instructions}\n"

    notes = ("The paper's figure is an image. `heron build parashoot sample` writes the tasks.",)
    return Filled(tables=(table,), files=files, notes=notes)


def statistics(request: TargetRequest) -> Filled:
    """Count articles, paragraphs, questions and question words (Tables 1 and 3)."""
    counted = sizes(request)
    values = dict(counted.values)
    notes = list(counted.notes)
    if VALIDATION in _shipped(request).splits:
        of_words = question_words(request)
        values.update(of_words.values)
        notes += of_words.notes
    return Filled(values, notes=notes)


def lengths(request: TargetRequest) -> Filled:
    """Draw lengths of questions and answers of all files (Figure 2)."""
    shipped = _shipped(request)
    splits = ", ".join(shipped.splits)
    described = _described(shipped)
    shown = whole(described)

    values: Values = {}
    if shown.complex is not None:
        # The paper's share is over all three files.
        mark = ""
        if len(shipped.splits) != len(SPLITS):
            mark = splits
        share_of_complex = Estimate(shown.complex, n=shown.questions, of="questions", mark=mark)
        values["all", "complex"] = share_of_complex

    figure = lengths_figure(shown, f"{DATA}: {splits}")
    tables = (length_table(described),)
    return Filled(
        {"figure2": values}, tables, {"lengths.png": figure}, notes=missing_splits(shipped)
    )


def annotated_examples(request: TargetRequest) -> Filled:
    """Show Figure 3's two validation questions with their answers, from the user's file.

    Sheets among the request's files (`from=FILE`) give the minimal answers.
    """
    minimal: dict[str, str] = {}  # by guid
    for path in request.files:
        judged, _ = read_sheet(path)
        for answer in judged:
            if answer.corrected:
                minimal[answer.guid] = answer.corrected

    shipped = _shipped(request, VALIDATION)
    cards = []
    for example in _find(shipped.splits[VALIDATION], FIGURE_3):
        spans = [("annotated", example.spans[0])]
        cards.append(_card(example, spans, minimal.get(example.guid)))

    legend = "Bold: the annotated answer. Underlined: the minimal answer of a sheet (from=FILE)."
    table = _cards_table("Annotated answers", cards, ("annotated", "minimal"))
    page = _page("Figure 3: annotated answers", cards, legend)
    note = f"{len(cards)} of {len(FIGURE_3)} questions are in the file. {legend}"
    return Filled(tables=(table,), files={"figure3.html": page}, notes=(note,))


def answered_examples(request: TargetRequest) -> Filled:
    """Show a run's answers to the questions of Figure A.1 beside the annotated ones.

    If the run has not answered all of them, the first questions whose answers are of the same
    kinds are shown: wrong, shorter, longer.
    """
    slicer, mark = _open_run(request)
    frame = slicer.split.frame
    classes = frame["overlap_class"]
    rows = [frame.rows[guid] for guid in FIGURE_A1 if guid in frame.rows]
    if len(rows) < len(FIGURE_A1):
        rows = [classes.index(kind) for kind in _KINDS_A1 if kind in classes]

    cards = []
    for row in rows:
        example = slicer.split.examples[row]
        predicted = frame["place"][row]
        spans = []
        if example.spans:
            spans.append(("annotated", example.spans[0]))
        if predicted:
            spans.append(("predicted", predicted))

        relation = OVERLAPS.get(classes[row], "")
        cards.append(_card(example, spans, relation=relation))

    legend = "Bold: the annotated answer. Underlined: the run's answer."
    table = _cards_table("Predicted answers", cards, ("annotated", "predicted", "relation"))
    page = _page("Figure A.1: predicted answers", cards, legend)
    run = str(slicer.split.run)
    if mark:
        run = f"{run} ({mark})"
    note = f"Answers of {run}. {legend}"
    return Filled(tables=(table,), files={"figureA1.html": page}, notes=(note,))


def _shipped(request: TargetRequest, *needed: str) -> Shipped:
    """Read the existing files.

    Raises:
        DataError: none exists, or a `needed` one is missing.
    """
    config = configure(DATA, [])
    if needed:
        config.files = {name: file for name, file in config.files.items() if name in needed}
    return request.read(config)


def _described(shipped: Shipped) -> dict[str, SplitStatistics]:
    return question_statistics(shipped.splits, shipped.config.language)


def _estimate(interval: Interval | None, n: int, of: str, mark: str = "") -> Estimate:
    assert interval is not None
    return Estimate(*interval, n=n, of=of, mark=mark)


def _open_run(request: TargetRequest) -> tuple[Slicer, str]:
    """Open a run's answers to the paper's validation questions, or else to test questions.

    Returns:
        Its slicer, and its deviations from the paper: data set, split, encoder.
    """
    run = request.one_file("a run folder, of experiment=parashoot/alephbert")
    config = read_stored(open_run(run).path / "config.yaml")
    data = config.data.name
    encoder = config.encoder.name

    # The paper's validation file is the test file of parashoot_dev.
    paper_split = PAPER_SPLITS.get(data)
    split = paper_split or VALIDATION
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

    marks = []
    if split != paper_split:
        marks.append(f"{data}, {split}")
    if encoder != ENCODER:
        marks.append(encoder.rpartition("/")[2])
    return slicer, ", ".join(marks)


def _draw(slicer: Slicer, seed: int) -> list[int]:
    """Draw as many questions as in the paper's table, by guid, independent of file order.

    Returns:
        Rows, ascending.
    """
    guids = [example.guid for example in slicer.split.examples]
    order = sorted(range(len(guids)), key=guids.__getitem__)
    size = min(SAMPLED, len(guids))
    drawn = np.random.default_rng(seed).choice(len(guids), size, replace=False)
    return sorted(order[index] for index in drawn)


def _others(classes: Sequence[str]) -> tuple[str, ...]:
    """Note the questions of no class of the paper."""
    others = [name for name in classes if name not in OVERLAPS]
    if not others:
        return ()
    return (f"{len(others)} questions without a gold or a predicted answer.",)


def _find(examples: Sequence[Example], guids: Sequence[str]) -> list[Example]:
    """Find the questions of a figure.

    Args:
        examples: of a split.
        guids: of the figure's questions.

    Returns:
        The questions that the file has; if it has none of them, its first answered questions.
    """
    by_guid = {example.guid: example for example in examples}
    of_figure = [by_guid[guid] for guid in guids if guid in by_guid]
    if of_figure:
        return of_figure

    answered = [example for example in examples if example.spans]
    return answered[: len(guids)]


def _card(
    example: Example,
    spans: Sequence[tuple[str, tuple[int, int]]],
    minimal: str | None = None,
    relation: str = "",
) -> dict[str, Any]:
    """Lay out one example.

    Args:
        example: with context and question.
        spans: names and offsets of the answers.
        minimal: the minimal answer, shown too if it is in the context.
        relation: of the predicted to the annotated answer.

    Returns:
        The card; its context is cut into pieces, each with the names of the spans around it.
    """
    context = example.text
    answers = list(spans)
    if minimal and minimal in context:
        # Of several occurrences, the first from the annotated answer on counts.
        start = context.find(minimal, example.spans[0][0])
        if start < 0:
            start = context.index(minimal)
        answers.append(("minimal", (start, start + len(minimal))))

    cuts = {0, len(context)}
    for _, span in answers:
        cuts.update(span)

    pieces = []
    for start, end in pairwise(sorted(cuts)):
        names = [name for name, (low, high) in answers if low <= start and end <= high]
        pieces.append({"text": context[start:end], "marks": names})

    named_texts = [(name, context[low:high]) for name, (low, high) in answers]
    return {
        "guid": example.guid,
        "title": "" if example.group == context else example.group,
        "question": example.text_pair or "",
        "pieces": pieces,
        "answers": named_texts,
        "relation": relation,
    }


def _cards_table(title: str, cards: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """List examples: the question, and its answers by name."""
    rows = []
    for card in cards:
        by_column = dict(card["answers"])
        by_column["relation"] = card["relation"]
        cells = [by_column.get(name) for name in columns]
        rows.append((card["question"], *cells, card["guid"]))
    return Table(title, ("question", *columns, "guid"), rows)


def _page(title: str, cards: Sequence[Mapping[str, Any]], legend: str) -> str:
    language = get_language(configure(DATA, []).language)
    return render(
        "examples.html.j2",
        TEMPLATES,
        title=title,
        synthetic="",
        legend=legend,
        cards=cards,
        language=language.code,
        direction=language.direction,
    )
