"""The corpus on disk: rows, labels, splits and deliberate label noise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import IO, Any

from chronicle.answering import ASKERS, COUNTED, MORE, Selection, asked
from chronicle.entailment import Inference, inferences
from chronicle.linking import links
from chronicle.passage import passages
from chronicle.plot import Story, draw_story
from chronicle.relation import pairs
from chronicle.settings import NLI, QA, SUMMARIZATION, TELLERS, ChronicleConfig
from chronicle.summarising import SUMMARISERS
from chronicle.summary import summarise
from chronicle.telling import Told

_Row = tuple[dict[str, Any], Mapping[str, Any]]  # columns of every row, and columns of some

__all__ = ["TELLERS", "ChronicleConfig", "document", "write"]


def _open(path: Path) -> IO[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", newline="")


def write(
    config: ChronicleConfig,
    folder: Path,
    open_file: Callable[[Path], AbstractContextManager[IO[str]]] = _open,
) -> dict[str, Path]:
    """Write train.jsonl, validation.jsonl and test.jsonl (70, 10 and 20 percent of the rows).

    A document is in one split only; noise is in train only.

    Args:
        config: what to generate.
        folder: output folder; files of these names are replaced.
        open_file: opens one file for writing UTF-8 text; the default creates its folder.

    Returns:
        The path of each split's file. A row holds `guid`, the text (`text` with markers, or
        `premise` and `hypothesis`), `label`, and the side columns `document`, `flipped`,
        `true_label`; for `nli` also `reasoning` (see `Claim.reasoning`) or `phrase`. A row of
        `qa` holds `guid`, `document`, `context`, `question`, `answer` and `answer_start` (in
        characters; both null where there is no answer), `kind` (who, when, where, how_many, why)
        and `candidates` (how many answers of this type the context holds). A row of
        `summarization` holds `guid`, `document`, `article` and `summary`.
    """
    train, validation = round(config.size * 0.7), round(config.size * 0.1)
    sizes = {
        "train": train,
        "validation": validation,
        "test": config.size - train - validation,
    }
    paths = {split: Path(folder) / f"{split}.jsonl" for split in sizes}
    flips = _flips(config, train)
    labels = config.labels
    documents = count()
    with ExitStack() as stack:
        for split, size in sizes.items():
            file = stack.enter_context(open_file(paths[split]))
            for number, row in enumerate(islice(_rows(config, documents), size)):
                if split == "train" and number in flips:
                    other = (labels.index(row["label"]) + flips[number]) % len(labels)
                    row |= {"label": labels[other], "flipped": True}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return paths


def _rows(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield rows of new documents without end."""
    if config.task in (QA, SUMMARIZATION):
        yield from (_questions if config.task == QA else _articles)(config, documents)
        return
    wanted = _Mix(config)
    for row, side in (_inferences if config.task == NLI else _relations)(config, documents):
        if wanted.takes(row["label"]):
            yield {**row, "flipped": False, "true_label": row["label"], **side}


def _relations(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[_Row]:
    for number in documents:
        name = _name(config, number)
        for pair in pairs(*document(config, number), config.language):
            yield (
                {
                    "guid": f"{name}.{pair.window}.{pair.number}",
                    "text": pair.text,
                    "label": pair.label,
                    "document": name,
                },
                {},
            )


def _inferences(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[_Row]:
    """Yield pairs; a document may hold several stories, and a row uses those of one document."""
    for number in documents:
        name = _name(config, number)
        for index, row in enumerate(_inferences_from(config, number, documents)):
            yield (
                {
                    "guid": f"{name}.{index}",
                    "premise": row.premise,
                    "hypothesis": row.hypothesis,
                    "label": row.label,
                    "document": name,
                },
                row.side,
            )


def _inferences_from(
    config: ChronicleConfig, number: int, following: Iterator[int]
) -> Iterator[Inference]:
    plan = Random(f"{config.seed}/{config.label_set}/{number}")
    teller, wording = TELLERS[config.language], _wording(config, number)
    stories = [_story(config, number)]
    if config.label_set == "four":
        both = stories[0], _story(config, next(following))
        phrases = config.keep_phrases, config.casing_artefact
        return links(both, teller, plan, wording, *phrases)
    while sum(len(story.sentences) for story in stories) < config.premise_sentences[1]:
        stories.append(_story(config, next(following)))
    return inferences(stories, teller, plan, wording, config.sentences)


def _questions(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield questions; as in `_inferences`, a document may hold several stories."""
    selection = Selection(config.rivals, config.unanswerable, config.premise_sentences[1])
    asker = ASKERS[config.language]
    for number in documents:
        name = _name(config, number)
        plan, wording = Random(f"{config.seed}/qa/{number}"), _wording(config, number)
        stories = [_story(config, number)]
        while sum(len(story.sentences) for story in stories) < config.premise_sentences[1]:
            stories.append(_story(config, next(documents)))
        rows = (
            row
            for passage in passages(stories, asker, plan, wording, config.sentences)
            for row in asked(passage, selection, asker, plan, wording)
        )
        for index, row in enumerate(rows):
            yield {
                "guid": f"{name}.{index}",
                "document": name,
                "context": row.context,
                "question": row.question,
                "answer": row.answer,
                "answer_start": row.start,
                "kind": row.kind,
                "candidates": row.candidates,
            }


def _articles(config: ChronicleConfig, documents: Iterator[int]) -> Iterator[dict[str, Any]]:
    """Yield articles, one for each document; stories that cannot be summarized are skipped."""
    for number in documents:
        name = _name(config, number)
        plan = Random(f"{config.seed}/article/{number}")
        story = draw_story(plan, sentences=config.sentences)
        row = summarise(story, SUMMARISERS[config.language], plan, _wording(config, number))
        if row:
            yield {"guid": name, "document": name, "article": row.article, "summary": row.summary}


def document(config: ChronicleConfig, number: int) -> tuple[Story, list[Told]]:
    """Generate one document: the story, and its sentences in the configured language."""
    story = _story(config, number)
    return story, TELLERS[config.language](story, _wording(config, number)).tell()


def _story(config: ChronicleConfig, number: int) -> Story:
    # `random` hashes string seeds itself, in the same way on every machine.
    rng = Random(f"{config.seed}/story/{number}")
    return draw_story(rng, MORE, COUNTED) if config.task == QA else draw_story(rng)


def _wording(config: ChronicleConfig, number: int) -> Random:
    return Random(f"{config.seed}/{config.language}/{number}")


def _name(config: ChronicleConfig, number: int) -> str:
    return f"chronicle-{config.language}-{config.seed}-{number:06d}"


def _flips(config: ChronicleConfig, rows: int) -> dict[int, int]:
    """Choose the configured fraction of rows; returns {row: shift to another label}."""
    rng = Random(f"{config.seed}/noise")
    chosen = rng.sample(range(rows), round(rows * config.label_noise))
    return {row: rng.randrange(1, len(config.labels)) for row in chosen}


class _Mix:
    """Takes rows so that each class keeps its share, within one or two rows at any length."""

    def __init__(self, config: ChronicleConfig):
        weights, labels = config.class_weights, config.labels
        self.shares = (
            {label: weight / sum(weights) for label, weight in zip(labels, weights, strict=True)}
            if weights
            else None
        )
        self.taken = dict.fromkeys(labels, 0)

    def takes(self, label: str) -> bool:
        """Take the row unless its class is above its share (at least one class never is)."""
        if self.shares:
            share = self.shares[label]
            if not share or self.taken[label] > share * sum(self.taken.values()):
                return False
        self.taken[label] += 1
        return True
