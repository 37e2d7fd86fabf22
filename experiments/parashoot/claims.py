"""ParaShoot's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

from heron_tools.reproduction.claims import Claim, Published

from .ceiling import best_f1, ceiling, needed_ratio

SPLITS = ("train", "validation", "test")
WORDS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
COLLECTED, DISCARDED = 3106, 68  # section 2.3
RATIO, OTHERS_F1, CEILING = 2.5, 0.57, 0.84  # section 3.1
QUESTIONS = 221  # of validation


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("parashoot")
    for column in ("articles", "paragraphs", "questions"):
        parts = [n("table1", split, column) for split in SPLITS]
        said, total = n("table1", "total", column), sum(parts)
        listed = " + ".join(f"{part:,.0f}" for part in parts)
        yield Claim(
            f"total-{column}",
            "Table 1",
            f"{said:,.0f} {column}",
            total,
            f"{listed} = {total:,.0f}",
            total == said,
        )
    left = COLLECTED - DISCARDED
    yield Claim(
        "discarded",
        "section 2.3",
        "3,106 examples less 68 (2.2 %) are 3,038",
        left,
        f"3,106 - 68 = {left:,}; 68 / 3,106 = {DISCARDED / COLLECTED:.1%}",
        left == n("table1", "total", "questions") and round(DISCARDED / COLLECTED, 3) == 0.022,
    )
    minimal = n("table2", "minimal", "share")
    yield Claim(
        "best-f1",
        "section 3.1",
        "answers 2.5 times as long as needed have F1 .57 at best",
        best_f1(RATIO),
        f"2 / (1 + {RATIO}) = {best_f1(RATIO):.3f}",
        round(best_f1(RATIO), 2) == OTHERS_F1,
    )
    found, needed = ceiling(minimal, RATIO), needed_ratio(CEILING, minimal)
    yield Claim(
        "ceiling",
        "section 3.1",
        "a ceiling of about .84 F1",
        found,
        f"{minimal:.2f} + {1 - minimal:.2f} x {best_f1(RATIO):.2f} = {found:.2f}; .84 needs "
        f"answers {needed:.1f} times as long",
        round(found, 2) == CEILING,
    )
    shares = [n("table3", word, "share") for word in WORDS]
    yield Claim(
        "question-words",
        "Table 3",
        "eight question words",
        sum(shares),
        f"the shares sum to {sum(shares):.1%}: a row for other words is missing",
        abs(sum(shares) - 1) <= 0.0005,
    )
    whole = [round(share * QUESTIONS) / QUESTIONS for share in shares]
    fit = sum(abs(a - b) <= 0.00011 for a, b in zip(whole, shares, strict=True))
    yield Claim(
        "question-words-of-validation",
        "Table 3",
        "shares of the questions",
        fit,
        f"{fit} of {len(shares)} shares are whole numbers of the {QUESTIONS} validation questions",
        fit == len(shares),
    )
    kinds = {
        kind: n("table5", kind, "share")
        for kind in ("equal", "inside", "contains", "overlaps", "disjoint")
    }
    total = sum(kinds.values())
    yield Claim(
        "overlap-types",
        "Table 5",
        "five types of 50 answers",
        total,
        f"{' + '.join(f'{share:.2f}' for share in kinds.values())} = {total:.2f}",
        abs(total - 1) <= 0.005,
    )
    for name, words, how_many, low, high in (
        ("what-and-which", ("what", "which"), "a third", 0.32, 0.345),
        ("how-and-why", ("how", "why"), "about 11 %", 0.105, 0.115),
    ):
        shares = [n("table3", word, "share") for word in words]
        yield Claim(
            name,
            "section 3.2, Table 3",
            f"{how_many} of the questions",
            sum(shares),
            f"{' + '.join(f'{share:.2%}' for share in shares)} = {sum(shares):.1%}",
            low <= sum(shares) <= high,
        )
    zero = kinds["disjoint"] / (1 - kinds["equal"])
    yield Claim(
        "zero-overlap",
        "section 4.3, Table 5",
        "nearly half of the errors have no overlap",
        zero,
        f"{kinds['disjoint']:.2f} / (1 - {kinds['equal']:.2f}) = {zero:.1%}",
        0.45 <= zero < 0.5,
    )
