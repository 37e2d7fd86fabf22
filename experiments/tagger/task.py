"""The task and its scores, without torch; `module` has the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from heron.base.registry import Registry, load, on_demand
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.tasks.scoring import TextScores
from heron.tasks.task import About, Task

from .reader import OUTSIDE, open_sentences


def entities(tags: Sequence[str], closed: bool) -> set[tuple[str, int, int]]:
    """Find the entities of a sentence: type, first word, last word + 1.

    In `closed` schemes (IOBES, BMES), entities count only if they end with E or S.
    Source: seqeval 1.2.2, `mode="strict"`, schemes IOB2 and IOBES.
    """
    spans = set()
    end = 0
    while end < len(tags):
        start = end
        prefix, _, kind = tags[start].partition("-")
        end += 1
        if prefix not in ("B", "S"):
            continue

        while prefix in "BIM" and end < len(tags) and continues(tags[end], kind):
            prefix = tags[end][0]
            end += 1

        if prefix in "ES" or not closed:
            spans.add((kind, start, end))
    return spans


def continues(tag: str, kind: str) -> bool:
    """Tell whether a tag goes on with an entity of this type."""
    return tag in (f"I-{kind}", f"M-{kind}", f"E-{kind}")


def entity_scores(
    label_order: Sequence[str], golds: Iterable[str], predictions: Iterable[str]
) -> dict[str, float]:
    """Score tags joined by spaces: entities, `macro_f1` over types that occur, word accuracy.

    Args:
        label_order: the tags of the data set.
        golds: the gold tags of each text.
        predictions: the predicted tags, one for each word as well.

    Returns:
        Fractions; `f1/<type>` for each type of entity.
    """
    closed = any(tag[0] in "ES" for tag in label_order)
    predicted = Counter[str]()  # entities by type
    gold = Counter[str]()
    right = Counter[str]()
    words = 0
    right_words = 0

    for gold_text, predicted_text in zip(golds, predictions, strict=True):
        gold_tags = gold_text.split()
        predicted_tags = predicted_text.split()
        words += len(gold_tags)
        for gold_tag, predicted_tag in zip(gold_tags, predicted_tags, strict=True):
            if gold_tag == predicted_tag:
                right_words += 1

        gold_spans = entities(gold_tags, closed)
        predicted_spans = entities(predicted_tags, closed)
        right_spans = gold_spans & predicted_spans
        gold.update(kind for kind, *_ in gold_spans)
        predicted.update(kind for kind, *_ in predicted_spans)
        right.update(kind for kind, *_ in right_spans)

    f1_of_types = {}
    occurring = {}
    for tag in label_order:
        if tag == OUTSIDE:
            continue

        _, _, kind = tag.partition("-")
        spans = predicted[kind] + gold[kind]
        f1 = share(2 * right[kind], spans)
        f1_of_types[f"f1/{kind}"] = f1
        if spans:
            occurring[kind] = f1

    predicted_total = predicted.total()
    gold_total = gold.total()
    right_total = right.total()

    scores = {
        "f1": share(2 * right_total, predicted_total + gold_total),
        "precision": share(right_total, predicted_total),
        "recall": share(right_total, gold_total),
        "macro_f1": share(sum(occurring.values()), len(occurring)),
        "accuracy": share(right_words, words),
    }
    return scores | f1_of_types


def share(part: float, whole: float) -> float:
    """Divide; a share of nothing is 0."""
    return part / whole if whole else 0.0


def text_scores() -> TextScores:
    """Describe how tags are scored outside a run: sentences one by one, entities together."""

    def exact_matches(
        tags: Sequence[str], golds: Sequence[Sequence[str]], *_: Any
    ) -> dict[str, Any]:
        matches = []
        for predicted, (gold,) in zip(tags, golds, strict=True):
            matches.append(predicted == gold)
        return {"exact_match": np.array(matches, float)}

    def entities_together(
        examples: Sequence[Example], tags: Sequence[str], config: DataConfig
    ) -> dict[str, float]:
        golds = [str(example.target) for example in examples]
        return entity_scores(config.label_order, golds, tags)

    return TextScores(
        items=exact_matches,
        metric="exact_match",
        right="exact_match",
        predicts="tags",
        data="nemo",
        columns=("prediction", "tags"),
        group="guid",
        read=lambda path, config: open_sentences(config, {})(path, "required", "", {}),
        golds=lambda example: [str(example.target)],
        rest=entities_together,
    )


TASK = Task(
    forms=("sentence",),
    formats=Registry("data format", {"tagged_words": "heron_forks.tagger.reader:TAGGED_WORDS"}),
    head="tagger",
    has_classes=False,  # classes are of words; a sentence's label is the tag of its first entity
    features=on_demand("heron_forks.tagger.module:tag_features"),
    model=lambda: load("heron_forks.tagger.module:MODEL"),
    score_names=lambda config: list(entity_scores(config.data.label_order, [], [])),
    scores=text_scores,
    about=About(hub_name="token-classification", does="finds the named entities of a sentence"),
)
