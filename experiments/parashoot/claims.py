"""ParaShoot's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heron_tools.reproduction.claims import Claim, Published

from .ceiling import best_f1, ceiling, needed_ratio

SPLITS = ("train", "validation", "test")
WORDS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
KINDS = ("equal", "inside", "contains", "overlaps", "disjoint")  # of Table 5
# Examples, section 2.3.
COLLECTED = 3106
DISCARDED = 68
# Section 3.1: length of answers that are not minimal, in minimal answers; their F1; the ceiling.
RATIO = 2.5
OTHERS_F1 = 0.57
CEILING = 0.84
QUESTIONS = 221  # of the validation split


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    number = Published("parashoot")
    yield from _sizes(number)
    yield from _ceiling(number)
    yield from _question_words(number)

    kinds = {kind: number("table5", kind, "share") for kind in KINDS}
    total = sum(kinds.values())

    yield Claim(
        "overlap-types",
        "Table 5",
        "five types of 50 answers",
        total,
        f"{_terms(kinds.values(), '.2f')} = {total:.2f}",
        abs(total - 1) <= 0.005,
    )
    yield from _shares_of_words(number)

    equal = kinds["equal"]
    disjoint = kinds["disjoint"]
    of_errors = disjoint / (1 - equal)

    yield Claim(
        "zero-overlap",
        "section 4.3, Table 5",
        "nearly half of the errors have no overlap",
        of_errors,
        f"{disjoint:.2f} / (1 - {equal:.2f}) = {of_errors:.1%}",
        0.45 <= of_errors < 0.5,
    )


def _terms(numbers: Iterable[float], spec: str) -> str:
    """Write the terms of a sum."""
    return " + ".join(format(number, spec) for number in numbers)


def _sizes(number: Published) -> Iterator[Claim]:
    """Recompute the numbers of articles, paragraphs and questions."""
    for column in ("articles", "paragraphs", "questions"):
        parts = [number("table1", split, column) for split in SPLITS]
        total = sum(parts)
        printed = number("table1", "total", column)

        yield Claim(
            f"total-{column}",
            "Table 1",
            f"{printed:,.0f} {column}",
            total,
            f"{_terms(parts, ',.0f')} = {total:,.0f}",
            total == printed,
        )

    left = COLLECTED - DISCARDED
    share = DISCARDED / COLLECTED

    yield Claim(
        "discarded",
        "section 2.3",
        "3,106 examples less 68 (2.2 %) are 3,038",
        left,
        f"3,106 - 68 = {left:,}; 68 / 3,106 = {share:.1%}",
        left == number("table1", "total", "questions") and round(share, 3) == 0.022,
    )


def _ceiling(number: Published) -> Iterator[Claim]:
    """Recompute the highest F1 that annotated answers allow."""
    others_f1 = best_f1(RATIO)

    yield Claim(
        "best-f1",
        "section 3.1",
        "answers 2.5 times as long as needed have F1 .57 at best",
        others_f1,
        f"2 / (1 + {RATIO}) = {others_f1:.3f}",
        round(others_f1, 2) == OTHERS_F1,
    )

    minimal = number("table2", "minimal", "share")
    highest = ceiling(minimal, RATIO)
    needed = needed_ratio(CEILING, minimal)

    yield Claim(
        "ceiling",
        "section 3.1",
        "a ceiling of about .84 F1",
        highest,
        f"{minimal:.2f} + {1 - minimal:.2f} x {others_f1:.2f} = {highest:.2f}; .84 needs "
        f"answers {needed:.1f} times as long",
        round(highest, 2) == CEILING,
    )


def _question_words(number: Published) -> Iterator[Claim]:
    """Recompute the shares of the eight question words."""
    shares = [number("table3", word, "share") for word in WORDS]
    total = sum(shares)

    yield Claim(
        "question-words",
        "Table 3",
        "eight question words",
        total,
        f"the shares sum to {total:.1%}: a row for other words is missing",
        abs(total - 1) <= 0.0005,
    )

    whole_shares = 0
    for share in shares:
        nearest = round(share * QUESTIONS) / QUESTIONS
        if abs(nearest - share) <= 0.00011:
            whole_shares += 1

    yield Claim(
        "question-words-of-validation",
        "Table 3",
        "shares of the questions",
        whole_shares,
        f"{whole_shares} of {len(shares)} shares are whole numbers of the {QUESTIONS} validation "
        "questions",
        whole_shares == len(shares),
    )


def _shares_of_words(number: Published) -> Iterator[Claim]:
    """Recompute the shares of questions that the text gives for two question words together."""
    for name, words, printed, low, high in (
        ("what-and-which", ("what", "which"), "a third", 0.32, 0.345),
        ("how-and-why", ("how", "why"), "about 11 %", 0.105, 0.115),
    ):
        shares = [number("table3", word, "share") for word in words]
        total = sum(shares)

        yield Claim(
            name,
            "section 3.2, Table 3",
            f"{printed} of the questions",
            total,
            f"{_terms(shares, '.2%')} = {total:.1%}",
            low <= total <= high,
        )
