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
# Of the oversampled model, appendix B.
EPOCHS = 10
BATCH = 256
QUARTERS = (1 / 4, 1 / 4, 1 / 2)  # of all steps: easy, ambiguous and hard (section 4, Cart-CL)
_HALF = 0.005  # half a unit of the last digit that is printed, the second decimal
SYSTEMS = (
    "CBOW + SVM",
    "CBOW + Softmax",
    "RoGPT2",
    "ChatGPT 3.5 Turbo",
    "Zero-shot multilingual BERT",
    "Fine-tuned multilingual BERT",
    "Ro-BERT",
    "Ro-BERT (spurious)",
    "Ro-BERT, oversampled",
    "Ro-BERT + E2L",
    "Ro-BERT + A",
    "Ro-BERT + H2L",
    "Ro-BERT + E2L + A",
    "Ro-BERT + Length-CL",
    "Ro-BERT + STS-CL",
    "Ro-BERT + Cart-CL",
    "Ro-BERT + Cart-CL++",
    "Ro-BERT + Cart-Stra-CL++",
)


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    published = Published("ronli")
    yield from _sizes(published)
    yield from _groups(published)
    yield from _equation_1()
    yield from _steps(published)
    yield from _class_scores(published)
    yield from _overall_scores(published)
    yield from _prose(published)


def _sizes(published: Published) -> Iterator[Claim]:
    sizes = []
    for split in SPLITS:
        parts = [published("table2", split, name, "pairs", printed=True) for name in CLASSES]
        total = sum(parts)
        stated = published("table2", split, "all", "pairs")
        sizes.append(stated)

        yield Claim(
            f"total-{split}",
            "Table 2",
            f"{stated:,.0f} pairs",
            total,
            f"{_addends(parts)} = {total:,.0f}",
            total == stated,
        )

    total = sum(sizes)

    yield Claim(
        "pairs",
        "section 3",
        "64K pairs",
        total,
        f"{_addends(sizes)} = {total:,.0f}",
        round(total / 1000) == 64,
    )


def _addends(counts: list[float]) -> str:
    return " + ".join(f"{count:,.0f}" for count in counts)


def _groups(published: Published) -> Iterator[Claim]:
    """Check the sizes of the data map's groups, and their classes (Table 3)."""
    train = published("table2", "train", "all", "pairs")
    size = int(SHARE * train) + 1
    in_groups = dict.fromkeys(CLASSES, 0.0)
    for group in GROUPS:
        parts = [published("table3", group, name) for name in CLASSES]
        for name, count in zip(CLASSES, parts, strict=True):
            in_groups[name] += count
        total = sum(parts)

        yield Claim(
            f"group-{group}",
            "Table 3",
            "groups of one size, as the released code makes them",
            total,
            f"{_addends(parts)} = {total:,.0f}; int({SHARE} x {train:,.0f}) + 1 = {size:,}",
            total == size,
        )

    surplus = {}
    for name, count in in_groups.items():
        surplus[name] = count - published("table2", "train", name, "pairs")
    listed = ", ".join(f"{name} {rows:+,.0f}" for name, rows in surplus.items())

    yield Claim(
        "groups-overlap",
        "section 4, Table 3",
        "some examples are in two groups, others in none",
        surplus["contrastive"],
        f"pairs in groups less pairs of train: {listed}",
        max(surplus.values()) > 0 > min(surplus.values()),
    )


def _equation_1() -> Iterator[Claim]:
    """Check the order of three typical examples: equation 1 as printed, as described, as coded."""
    confidence_G, variability_G = np.array([EXAMPLES[group] for group in GROUPS]).T
    scores_G = eq1(confidence_G, variability_G, swapped=False)
    easy, ambiguous, hard = map(float, scores_G)

    yield Claim(
        "equation-1",
        "section 4, equation 1",
        "easy examples come first, hard ones last",
        ambiguous,
        "as printed, confidence and variability (.97, .03), (.50, .45), (.03, .03) give "
        f"{easy:.2f}, {ambiguous:.2f}, {hard:.2f}",
        easy < ambiguous < hard,
    )

    scores_G = eq1(confidence_G, variability_G, swapped=True)
    easy, ambiguous, hard = map(float, scores_G)

    yield Claim(
        "equation-1-swapped",
        "section 4, equation 1",
        "easy examples come first, hard ones last",
        ambiguous,
        f"with its branches swapped: {easy:.2f}, {ambiguous:.2f}, {hard:.2f}",
        easy < ambiguous < hard,
    )

    # The code takes the number of right epochs for the confidence: 10, 5 and 0 of ten here.
    right_epochs = []
    scores = []
    for confidence, variability in EXAMPLES.values():
        count = round(EPOCHS * confidence)
        spread = 1 - variability if variability < 0.5 else variability
        right_epochs.append(str(count))
        scores.append(1 - count + spread)
    shown_scores = ", ".join(f"{score:.2f}" for score in scores)
    shown_epochs = ", ".join(right_epochs)
    lowest = min(scores)

    yield Claim(
        "equation-1-code",
        "section 4, equation 1",
        "scores lie between 0 and 2",
        lowest,
        f"the released code has 1 - right epochs + (1 - variability): {shown_scores} with "
        f"{shown_epochs} right epochs of {EPOCHS}",
        lowest >= 0 and max(scores) <= 2,
    )


def _steps(published: Published) -> Iterator[Claim]:
    """Compare the steps of curricula with those of the base model."""
    curriculum = sum(QUARTERS)
    left = 1 - curriculum

    yield Claim(
        "half-of-the-steps",
        "section 4, Length-CL and Cart-CL",
        "curricula take half of the steps, all data the other half",
        left,
        f"Cart-CL: N/4 + N/4 + N/2 = {curriculum:.0f} N; {left:.0f} N are left for all data",
        left == 0.5,
    )

    counts = [published("table2", "train", name, "pairs") for name in CLASSES]
    largest = max(counts)
    oversampled = sum(count * (largest // count) for count in counts)
    base = EPOCHS * int(oversampled // BATCH)

    same_steps = True
    listed = []
    for name, (stage_steps, size) in STAGES.items():
        steps = sum(stage_steps)
        same_steps = same_steps and steps == base
        listed.append(f"{name} {steps:,} of {size} = {steps * size:,}")
    curricula = "; ".join(listed)

    yield Claim(
        "equal-steps",
        "section 4, Length-CL",
        "curricula take as many steps as the base model",
        base,
        f"the released code: {EPOCHS} epochs of {oversampled:,.0f} oversampled rows are {base:,} "
        f"steps of {BATCH} = {base * BATCH:,} rows; {curricula}",
        same_steps,
    )


def _class_scores(published: Published) -> Iterator[Claim]:
    """Check whether the F1 of each class follows from its precision and recall (Table 4)."""
    for system in SYSTEMS:
        largest_gap = 0.0
        mistakes = []
        for name in CLASSES:
            precision = published("table4", system, name, "P")
            recall = published("table4", system, name, "R")
            stated = published("table4", system, name, "F1")
            low, high = f1_range(precision, recall, _HALF, TEST[name])
            if low > high:
                mistakes.append(f"{name} R {recall:.2f} is no whole number of {TEST[name]} rows")
            elif not low - _HALF <= stated <= high + _HALF:
                largest_gap = max(largest_gap, low - stated, stated - high)
                bounds = f"{low:.3f} to {high:.3f}"
                mistakes.append(f"{name} {stated:.2f}, but its P and R give {bounds}")

        yield Claim(
            f"classes-{_short_name(system)}",
            "section 5, Table 4",
            f"scores of {system} are those of one run, the best of five",
            largest_gap,
            "; ".join(mistakes) or "all F1s are among those that rounded P and R allow",
            not mistakes,
        )


def _overall_scores(published: Published) -> Iterator[Claim]:
    """Check micro and macro F1 (Table 5) by the scores of the classes (Table 4)."""
    rows = sum(TEST.values())
    for system in SYSTEMS:
        right = 0.0
        f1s = []
        for name in CLASSES:
            right += published("table4", system, name, "R") * TEST[name]
            f1s.append(published("table4", system, name, "F1"))

        micro = right / rows
        stated = published("table5", system, "micro F1")

        yield Claim(
            f"micro-{_short_name(system)}",
            "Tables 4 and 5",
            f"micro F1 {stated:.2f} of {system}",
            micro,
            f"recalls by 74, 96, 952, 1,878 rows: {micro:.3f}",
            abs(micro - stated) <= 0.0105,
        )

        macro = sum(f1s) / len(CLASSES)
        stated = published("table5", system, "macro F1")

        yield Claim(
            f"macro-{_short_name(system)}",
            "Tables 4 and 5",
            f"macro F1 {stated:.2f} of {system}",
            macro,
            f"mean of class F1s: {macro:.3f}",
            abs(macro - stated) <= 0.0101,
        )


def _prose(published: Published) -> Iterator[Claim]:
    vanilla_micro, vanilla_macro = _f1s(published, "Ro-BERT")
    base_micro, base_macro = _f1s(published, "Ro-BERT, oversampled")
    best_micro, best_macro = _f1s(published, "Ro-BERT + Cart-Stra-CL++")
    micro_gain = best_micro - base_micro
    macro_gain = best_macro - base_macro

    yield Claim(
        "gain",
        "section 7, Table 5",
        "2 % micro and 3 % macro F1 more than Ro-BERT",
        macro_gain,
        f"{best_micro:.2f} - {base_micro:.2f} = {micro_gain:.2f}, "
        f"{best_macro:.2f} - {base_macro:.2f} = {macro_gain:.2f}",
        round(micro_gain, 2) == 0.02 and round(macro_gain, 2) == 0.03,
    )

    micro, macro = _f1s(published, "Ro-BERT (spurious)")
    micro_drop = vanilla_micro - micro
    macro_drop = vanilla_macro - macro

    yield Claim(
        "spurious-drop",
        "section 5, Table 5",
        "3 % micro and 2 % macro F1 less by the hypothesis alone",
        micro_drop,
        f"{vanilla_micro:.2f} - {micro:.2f} = {micro_drop:.2f}, "
        f"{vanilla_macro:.2f} - {macro:.2f} = {macro_drop:.2f}",
        round(micro_drop, 2) == 0.03 and round(macro_drop, 2) == 0.02,
    )

    micro, macro = _f1s(published, "Ro-BERT + Length-CL")
    below_base = micro < base_micro and macro < base_macro
    below_vanilla = micro < vanilla_micro and macro < vanilla_macro

    yield Claim(
        "length-cl-below-base",
        "section 5, Table 5",
        "Length-CL is below the vanilla Ro-BERT",
        micro,
        f"micro and macro F1 {micro:.2f}, {macro:.2f} against "
        f"{base_micro:.2f}, {base_macro:.2f} of Ro-BERT, oversampled and "
        f"{vanilla_micro:.2f}, {vanilla_macro:.2f} of Ro-BERT",
        below_base or below_vanilla,
    )

    yield from _agreement(published)

    system = "Zero-shot multilingual BERT"
    precision = published("table4", system, "contrastive", "P")
    recall = published("table4", system, "contrastive", "R")
    rows = TEST["contrastive"]
    total = sum(TEST.values())
    predicted = recall * rows / precision
    micro, _ = _f1s(published, system)
    guess = 1 / len(CLASSES)

    yield Claim(
        "zero-shot",
        "section 5, Tables 4 and 5",
        "its low scores suggest that cross-lingual systems do not suit Romanian",
        predicted,
        f"{recall:.2f} x {rows} / {precision:.2f} = about {predicted:,.0f} of {total:,} pairs are "
        f"called contrastive, and micro F1 {micro:.2f} is below a guess, {guess:.2f}: the released "
        "code takes the rank of this class for the prediction",
        micro > guess,
    )


def _f1s(published: Published, system: str) -> tuple[float, float]:
    """Read micro and macro F1 of a system (Table 5)."""
    return published("table5", system, "micro F1"), published("table5", system, "macro F1")


def _agreement(published: Published) -> Iterator[Claim]:
    """Check the three measures of automatic against manual labels on both of the authors' files."""
    measures = ("Cohen's kappa", "micro F1", "macro F1")
    stated = [
        published("agreement", f"automatic and manual, {measure}", "value") for measure in measures
    ]
    recomputed = {name: _label_agreement(counts) for name, counts in LABELS.items()}
    listed = []
    holds = False
    for name, values in recomputed.items():
        pairs = sum(map(sum, LABELS[name]))
        shown = ", ".join(f"{value:.3f}" for value in values)
        listed.append(f"{name} ({pairs:,} pairs): {shown}")
        gaps = [abs(a - b) for a, b in zip(values, stated, strict=True)]
        holds = holds or max(gaps) <= _HALF
    files = "; ".join(listed)
    kappa, micro, macro = stated

    yield Claim(
        "label-agreement",
        "section 3 and appendix A",
        f"kappa {kappa:.2f}, micro F1 {micro:.2f}, macro F1 {macro:.2f} of automatic against "
        "manual labels",
        recomputed["the released file"][0],
        f"kappa, micro and macro F1 of {files}",
        holds,
    )


def _label_agreement(counts: list[list[int]]) -> tuple[float, float, float]:
    """Compute kappa, micro F1 and macro F1 of automatic (rows) against manual labels."""
    counts_CC = np.array(counts)
    label_pairs = [(automatic, manual) for automatic in CLASSES for manual in CLASSES]
    kappa = cohen(label_pairs, counts_CC.ravel())

    right_C = counts_CC.diagonal()
    labels_C = counts_CC.sum(axis=0) + counts_CC.sum(axis=1)
    f1_C = 2 * right_C / labels_C
    micro = right_C.sum() / counts_CC.sum()
    return kappa, float(micro), float(f1_C.mean())


def _short_name(system: str) -> str:
    """Name a system without spaces and signs: `ro-bert-cart-clpp`."""
    name = system.lower()
    for sign, letters in (
        ("++", "pp"),
        (" + ", "-"),
        (", ", "-"),
        (" ", "-"),
        ("(", ""),
        (")", ""),
    ):
        name = name.replace(sign, letters)
    return name
