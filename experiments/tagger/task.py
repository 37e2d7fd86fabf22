"""The task and its scores, without torch; `module` has the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from heron.base.registry import Registry, load, on_demand
from heron.tasks.task import About, Task, TextScores

from .reader import OUTSIDE, open_sentences


def entities(tags: Sequence[str], closed: bool) -> set[tuple[str, int, int]]:
    """Find the entities of a sentence: type, first word, last word + 1.

    In `closed` schemes (IOBES, BMES), entities count only if they end with E or S.
    Source: seqeval 1.2.2, `mode="strict"`, schemes IOB2 and IOBES.
    """
    found, end = set(), 0
    while end < len(tags):
        start, (last, _, kind) = end, tags[end].partition("-")
        end += 1
        if last in ("B", "S"):
            while last in "BIM" and end < len(tags) and tags[end] in {f"{p}-{kind}" for p in "IME"}:
                last, end = tags[end][0], end + 1
            if last in "ES" or not closed:
                found.add((kind, start, end))
    return found


def entity_scores(
    label_order: Sequence[str], golds: Iterable[str], predictions: Iterable[str]
) -> dict[str, float]:
    """Score tags joined by spaces: entities, `macro_f1` over types that occur, word accuracy."""
    closed, counts = any(tag[0] in "ES" for tag in label_order), Counter[tuple[str, str]]()
    for gold, tags in zip(map(str.split, golds), map(str.split, predictions), strict=True):
        ours, theirs = entities(tags, closed), entities(gold, closed)
        for what, group in (("right", ours & theirs), ("ours", ours), ("gold", theirs)):
            counts.update((what, kind) for found, *_ in group for kind in ("", found))
        counts["gold", OUTSIDE] += len(gold)  # words
        counts["right", OUTSIDE] += sum(one == other for one, other in zip(gold, tags, strict=True))

    def share(kind: str, *of: str) -> float:
        whole = sum(counts[what, kind] for what in of)
        return len(of) * counts["right", kind] / whole if whole else 0.0

    types = dict.fromkeys(tag.partition("-")[2] for tag in label_order if tag != OUTSIDE)
    f1 = {kind: share(kind, "ours", "gold") for kind in types}
    seen = [value for kind, value in f1.items() if counts["ours", kind] + counts["gold", kind]]
    return {
        "f1": share("", "ours", "gold"),
        "precision": share("", "ours"),
        "recall": share("", "gold"),
        "macro_f1": sum(seen) / max(len(seen), 1),
        "accuracy": share(OUTSIDE, "gold"),
        **{f"f1/{kind}": value for kind, value in f1.items()},
    }


def text_scores() -> TextScores:
    """Describe how tags are scored outside a run: sentences one by one, entities together."""
    return TextScores(
        items=lambda tags, golds, *_: {
            "exact_match": np.array([a == b for a, (b,) in zip(tags, golds, strict=True)], float)
        },
        metric="exact_match",
        right="exact_match",
        predicts="tags",
        data="nemo",
        columns=("prediction", "tags"),
        group="guid",
        read=lambda path, config: open_sentences(config, {})(path, "required", "", {}),
        golds=lambda example: [str(example.target)],
        rest=lambda examples, tags, config: entity_scores(
            config.label_order, (str(example.target) for example in examples), tags
        ),
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
