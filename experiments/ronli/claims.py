"""RoNLI's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heron.dynamics.difficulty import eq1
from heron_tools.annotation.measures import cohen
from heron_tools.reproduction.claims import Claim, Published, f1_range

SPLITS = ("train", "validation", "test")
CLASSES = ("contrastive", "entailment", "reasoning", "neutral")
GROUPS = ("easy", "ambiguous", "hard")
# The released test file's rows of each class.
TEST = {"contrastive": 74, "entailment": 96, "reasoning": 952, "neutral": 1878}
SHARE = 0.3319  # of train in each group, in the released code, which takes one row more
# Confidence and variability of an easy, an ambiguous and a hard example.
EXAMPLES = {"easy": (0.97, 0.03), "ambiguous": (0.50, 0.45), "hard": (0.03, 0.03)}
# Pairs of validation by automatic label (rows) and manual label, in the order of CLASSES: of the
# authors' file of 1,266 pairs, and of their released one.
LABELS = {
    "an earlier file": [[13, 2, 15, 17], [0, 13, 5, 4], [1, 25, 343, 169], [1, 0, 13, 645]],
    "the released file": [[69, 5, 38, 25], [0, 41, 17, 10], [2, 25, 1078, 249], [3, 1, 2, 1494]],
}
# Optimizer steps of each stage, and rows of a step, in the released code.
STAGES = {
    "Cart-CL": ((350, 700, 3150), 256),
    "Cart-CL++": ((100, 200, 1000), 512),
    "Cart-Stra-CL++": ((100, 200, 300, 400, 1500), 256),
}
EPOCHS, BATCH = 10, 256  # of the oversampled model (appendix B)
QUARTERS = (1 / 4, 1 / 4, 1 / 2)  # of all steps: easy, ambiguous and hard (section 4, Cart-CL)
_HALF = 0.005  # of the last printed digit


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("ronli")
    yield from _sizes(n)
    yield from _groups(n)
    yield from _score()
    yield from _steps(n)
    yield from _table4(n)
    yield from _table5(n)
    yield from _prose(n)


def _sizes(n: Published) -> Iterator[Claim]:
    for split in SPLITS:
        parts = [n("table2", split, name, "pairs", printed=True) for name in CLASSES]
        total, said = sum(parts), n("table2", split, "all", "pairs")
        yield Claim(
            f"total-{split}",
            "Table 2",
            f"{said:,.0f} pairs",
            total,
            f"{' + '.join(f'{part:,.0f}' for part in parts)} = {total:,.0f}",
            total == said,
        )
    total = sum(n("table2", split, "all", "pairs") for split in SPLITS)
    yield Claim(
        "pairs",
        "section 3",
        "64K pairs",
        total,
        " + ".join(f"{n('table2', split, 'all', 'pairs'):,.0f}" for split in SPLITS)
        + f" = {total:,.0f}",
        round(total / 1000) == 64,
    )


def _groups(n: Published) -> Iterator[Claim]:
    train = n("table2", "train", "all", "pairs")
    for group in GROUPS:
        parts = [n("table3", group, name) for name in CLASSES]
        expected = int(SHARE * train) + 1
        yield Claim(
            f"group-{group}",
            "Table 3",
            "groups of one size, as the released code makes them",
            sum(parts),
            f"{' + '.join(f'{part:,.0f}' for part in parts)} = {sum(parts):,.0f}; int({SHARE} x "
            f"{train:,.0f}) + 1 = {expected:,}",
            sum(parts) == expected,
        )
    over = {
        name: sum(n("table3", group, name) for group in GROUPS)
        - n("table2", "train", name, "pairs")
        for name in CLASSES
    }
    listed = ", ".join(f"{name} {rows:+,.0f}" for name, rows in over.items())
    yield Claim(
        "groups-overlap",
        "section 4, Table 3",
        "some examples are in two groups, others in none",
        over["contrastive"],
        f"pairs in groups less pairs of train: {listed}",
        max(over.values()) > 0 > min(over.values()),
    )


def _score() -> Iterator[Claim]:
    pairs = np.array([EXAMPLES[group] for group in GROUPS])
    easy, ambiguous, hard = map(float, eq1(pairs[:, 0], pairs[:, 1], swapped=False))
    yield Claim(
        "equation-1",
        "section 4, equation 1",
        "easy examples come first, hard ones last",
        ambiguous,
        "as printed, confidence and variability (.97, .03), (.50, .45), (.03, .03) give "
        f"{easy:.2f}, {ambiguous:.2f}, {hard:.2f}",
        easy < ambiguous < hard,
    )
    easy, ambiguous, hard = map(float, eq1(pairs[:, 0], pairs[:, 1], swapped=True))
    yield Claim(
        "equation-1-swapped",
        "section 4, equation 1",
        "easy examples come first, hard ones last",
        ambiguous,
        f"with its branches swapped: {easy:.2f}, {ambiguous:.2f}, {hard:.2f}",
        easy < ambiguous < hard,
    )

    # The code takes the number of right epochs for the confidence: 10, 5 and 0 of ten here.
    counts = [round(EPOCHS * confidence) for confidence, _ in pairs.tolist()]
    found = [
        1 - count + (1 - v if v < 0.5 else v)
        for count, (_, v) in zip(counts, pairs.tolist(), strict=True)
    ]
    listed = ", ".join(f"{score:.2f}" for score in found)
    yield Claim(
        "equation-1-code",
        "section 4, equation 1",
        "scores lie between 0 and 2",
        min(found),
        f"the released code has 1 - right epochs + (1 - variability): {listed} with "
        f"{', '.join(map(str, counts))} right epochs of {EPOCHS}",
        min(found) >= 0 and max(found) <= 2,
    )


def _steps(n: Published) -> Iterator[Claim]:
    left = 1 - sum(QUARTERS)
    yield Claim(
        "half-of-the-steps",
        "section 4, Length-CL and Cart-CL",
        "curricula take half of the steps, all data the other half",
        left,
        f"Cart-CL: N/4 + N/4 + N/2 = {sum(QUARTERS):.0f} N; {left:.0f} N are left for all data",
        left == 0.5,
    )
    pairs = {name: n("table2", "train", name, "pairs") for name in CLASSES}
    most = max(pairs.values())
    oversampled = sum(count * (most // count) for count in pairs.values())
    base = EPOCHS * int(oversampled // BATCH)
    rows = {name: sum(steps) * size for name, (steps, size) in STAGES.items()}
    listed = "; ".join(
        f"{name} {sum(steps):,} of {size} = {rows[name]:,}"
        for name, (steps, size) in STAGES.items()
    )
    yield Claim(
        "equal-steps",
        "section 4, Length-CL",
        "curricula take as many steps as the base model",
        base,
        f"the released code: {EPOCHS} epochs of {oversampled:,.0f} oversampled rows are {base:,} "
        f"steps of {BATCH} = {base * BATCH:,} rows; {listed}",
        all(sum(steps) == base for steps, _ in STAGES.values()),
    )


def _table4(n: Published) -> Iterator[Claim]:
    for row in _rows():
        worst, wrong = 0.0, []
        for name in CLASSES:
            p, r, said = (n("table4", row, name, score) for score in ("P", "R", "F1"))
            low, high = f1_range(p, r, _HALF, TEST[name])
            if low > high:
                wrong.append(f"{name} R {r:.2f} is no whole number of {TEST[name]} rows")
            elif not low - _HALF <= said <= high + _HALF:
                worst = max(worst, low - said, said - high)
                wrong.append(f"{name} {said:.2f}, but its P and R give {low:.3f} to {high:.3f}")
        yield Claim(
            f"classes-{_short(row)}",
            "section 5, Table 4",
            f"scores of {row} are those of one run, the best of five",
            worst,
            "; ".join(wrong) or "all F1s are among those that rounded P and R allow",
            not wrong,
        )


def _table5(n: Published) -> Iterator[Claim]:
    for row in _rows():
        right = sum(n("table4", row, name, "R") * TEST[name] for name in CLASSES)
        micro = right / sum(TEST.values())
        macro = sum(n("table4", row, name, "F1") for name in CLASSES) / len(CLASSES)
        for kind, found in (("micro", micro), ("macro", macro)):
            said = n("table5", row, f"{kind} F1")
            how = "recalls by 74, 96, 952, 1,878 rows" if kind == "micro" else "mean of class F1s"
            yield Claim(
                f"{kind}-{_short(row)}",
                "Tables 4 and 5",
                f"{kind} F1 {said:.2f} of {row}",
                found,
                f"{how}: {found:.3f}",
                abs(found - said) <= (0.0105 if kind == "micro" else 0.0101),
            )


def _prose(n: Published) -> Iterator[Claim]:
    base, best = "Ro-BERT, oversampled", "Ro-BERT + Cart-Stra-CL++"
    scores = ("micro F1", "macro F1")
    gains = [n("table5", best, score) - n("table5", base, score) for score in scores]
    yield Claim(
        "gain",
        "section 7, Table 5",
        "2 % micro and 3 % macro F1 more than Ro-BERT",
        gains[1],
        ", ".join(
            f"{n('table5', best, score):.2f} - {n('table5', base, score):.2f} = {gain:.2f}"
            for score, gain in zip(scores, gains, strict=True)
        ),
        [round(gain, 2) for gain in gains] == [0.02, 0.03],
    )
    pairs = [
        (n("table5", "Ro-BERT", each), n("table5", "Ro-BERT (spurious)", each)) for each in scores
    ]
    yield Claim(
        "spurious-drop",
        "section 5, Table 5",
        "3 % micro and 2 % macro F1 less by the hypothesis alone",
        pairs[0][0] - pairs[0][1],
        ", ".join(f"{whole:.2f} - {part:.2f} = {whole - part:.2f}" for whole, part in pairs),
        [round(whole - part, 2) for whole, part in pairs] == [0.03, 0.02],
    )
    length = [n("table5", "Ro-BERT + Length-CL", score) for score in scores]
    others = {row: [n("table5", row, score) for score in scores] for row in (base, "Ro-BERT")}
    yield Claim(
        "length-cl-below-base",
        "section 5, Table 5",
        "Length-CL is below the vanilla Ro-BERT",
        length[0],
        f"micro and macro F1 {length[0]:.2f}, {length[1]:.2f} against "
        + " and ".join(f"{x:.2f}, {y:.2f} of {row}" for row, (x, y) in others.items()),
        any(length[0] < micro and length[1] < macro for micro, macro in others.values()),
    )
    yield from _agreement(n)
    p, r = (
        n("table4", "Zero-shot multilingual BERT", "contrastive", score) for score in ("P", "R")
    )
    rows, total = TEST["contrastive"], sum(TEST.values())
    predicted = r * rows / p
    micro, guess = n("table5", "Zero-shot multilingual BERT", "micro F1"), 1 / len(CLASSES)
    yield Claim(
        "zero-shot",
        "section 5, Tables 4 and 5",
        "its low scores suggest that cross-lingual systems do not suit Romanian",
        predicted,
        f"{r:.2f} x {rows} / {p:.2f} = about {predicted:,.0f} of {total:,} pairs are called "
        f"contrastive, and micro F1 {micro:.2f} is below a guess, {guess:.2f}: the released code "
        "takes the rank of this class for the prediction",
        micro > guess,
    )


def _agreement(n: Published) -> Iterator[Claim]:
    """Check the three measures of automatic against manual labels on both of the authors' files."""
    said = [
        n("agreement", f"automatic and manual, {name}", "value")
        for name in ("Cohen's kappa", "micro F1", "macro F1")
    ]
    found = {name: _against(LABELS[name]) for name in LABELS}
    shown = "; ".join(
        f"{name} ({sum(map(sum, LABELS[name])):,} pairs): "
        + ", ".join(f"{value:.3f}" for value in values)
        for name, values in found.items()
    )
    yield Claim(
        "label-agreement",
        "section 3 and appendix A",
        f"kappa {said[0]:.2f}, micro F1 {said[1]:.2f}, macro F1 {said[2]:.2f} of automatic against "
        "manual labels",
        found["the released file"][0],
        f"kappa, micro and macro F1 of {shown}",
        any(
            all(abs(x - y) <= _HALF for x, y in zip(values, said, strict=True))
            for values in found.values()
        ),
    )


def _against(counts: list[list[int]]) -> tuple[float, float, float]:
    """Compute kappa, micro F1 and macro F1 of automatic (rows) against manual labels."""
    counts_CC = np.array(counts)
    cells = [(a, b) for a in CLASSES for b in CLASSES]
    right_C = counts_CC.diagonal()
    f1_C = 2 * right_C / (counts_CC.sum(axis=0) + counts_CC.sum(axis=1))
    micro = right_C.sum() / counts_CC.sum()
    return cohen(cells, counts_CC.ravel()), float(micro), float(f1_C.mean())


def _short(row: str) -> str:
    """Name a system without spaces and signs: `ro-bert-cart-clpp`."""
    plain = row.lower().replace("++", "pp").replace(" + ", "-").replace(", ", "-")
    return plain.replace(" ", "-").replace("(", "").replace(")", "")


def _rows() -> list[str]:
    return [
        *("CBOW + SVM", "CBOW + Softmax", "RoGPT2", "ChatGPT 3.5 Turbo"),
        *("Zero-shot multilingual BERT", "Fine-tuned multilingual BERT", "Ro-BERT"),
        *("Ro-BERT (spurious)", "Ro-BERT, oversampled", "Ro-BERT + E2L", "Ro-BERT + A"),
        *("Ro-BERT + H2L", "Ro-BERT + E2L + A", "Ro-BERT + Length-CL", "Ro-BERT + STS-CL"),
        *("Ro-BERT + Cart-CL", "Ro-BERT + Cart-CL++", "Ro-BERT + Cart-Stra-CL++"),
    ]
