"""TRC's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from heron_tools.annotation.measures import cohen, relax
from heron_tools.reproduction.claims import Claim, Published

LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
# Samples by the labels of the two annotators, in the order of LABELS: of the released files.
ROUNDS = {
    "first round": [
        [1290, 37, 53, 136], [52, 1050, 27, 136], [141, 100, 228, 43], [168, 148, 32, 357],
    ],
    "second round": [[330, 20, 42, 26], [20, 297, 53, 28], [31, 41, 175, 14], [68, 87, 25, 66]],
    "combined": [
        [1465, 23, 44, 33], [24, 1232, 54, 30], [43, 45, 386, 20], [86, 107, 29, 377],
    ],
}  # fmt: skip
WINDOWS = 817  # of the first round's file
MIXED = 420  # windows with a sample of two labels
MATRES = {"BEFORE": 6886, "AFTER": 4576, "EQUAL": 471, "VAGUE": 1644}  # its three files together
STATED_WINDOWS = 1073, 3998  # section 3.4
ENCODERS = ("AlephBERTGimmel", "HeBERT", "mBERT", "AlephBERT")
HEADS = ("seq_cls", "ess", "emp")


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    published = Published("trc")
    counts = {label: published("table2", label, "count") for label in LABELS}
    total = sum(counts.values())
    stated = published("table2", "total", "count")
    addends = " + ".join(f"{count:,.0f}" for count in counts.values())

    yield Claim(
        "total",
        "Table 2",
        f"{stated:,.0f} pairs",
        total,
        f"{addends} = {total:,.0f}",
        total == stated,
    )

    shares = {label: count / total for label, count in counts.items()}
    for label, share in shares.items():
        printed = published("table2", label, "share", printed=True)

        yield Claim(
            f"share-{label.lower()}",
            "Table 2",
            f"{printed:.0%}",
            share,
            f"{counts[label]:,.0f} / {total:,.0f} = {share:.1%}",
            abs(share - printed) <= 0.005,
        )

    for table, kind in (("table4", "relaxed"), ("table5", "strict")):
        best = {}
        for encoder in ENCODERS:
            best[encoder] = max(published(table, encoder, head, "macro F1") for head in HEADS)
        top = max(best.values())
        leaders = [encoder for encoder, score in best.items() if score == top]
        stated_best = best["AlephBERTGimmel"]
        names = ", ".join(leaders)

        yield Claim(
            f"best-encoder-{kind}",
            "section 4.1",
            "AlephBERTGimmel is best",
            top,
            f"best {kind} macro F1: {names} {top:.2f}; AlephBERTGimmel {stated_best:.2f}",
            leaders == ["AlephBERTGimmel"],
        )

    yield from _agreement(published)
    yield from _relaxed_score()
    yield from _windows(total)
    yield from _matres(published, shares)


def _agreement(published: Published) -> Iterator[Claim]:
    """Recompute kappa of both annotators, standard and by two definitions of relaxed."""
    label_pairs = [(first, second) for first in LABELS for second in LABELS]
    relaxed_pairs = relax(label_pairs, "VAGUE")

    # Without disagreements of VAGUE with BEFORE or AFTER.
    left_out = []
    for label in ("BEFORE", "AFTER"):
        left_out += [("VAGUE", label), (label, "VAGUE")]
    is_kept = np.array([pair not in left_out for pair in label_pairs])

    standard = []
    recoded = []
    excluded = []
    for counts in ROUNDS.values():
        pair_counts = np.array(counts).ravel()
        standard.append(cohen(label_pairs, pair_counts))
        recoded.append(cohen(relaxed_pairs, pair_counts))
        excluded.append(cohen(label_pairs, pair_counts * is_kept))

    by_exclusion = " without disagreements of VAGUE with BEFORE or AFTER"
    by_code = ", as in the released code: VAGUE counts as the other's label, EQUAL too"
    for name, column, rule, kappas in (
        ("agreement", "standard", "", standard),
        ("relaxed-agreement", "relaxed", by_exclusion, excluded),
        ("recoded-agreement", "relaxed", by_code, recoded),
    ):
        stated = [published("table3", round_name, column) for round_name in ROUNDS]
        shown_stated = ", ".join(f"{kappa:.2f}" for kappa in stated)
        shown = ", ".join(f"{kappa:.3f}" for kappa in kappas)
        gap = float(np.abs(np.subtract(kappas, stated)).max())

        yield Claim(
            name,
            "section 3.4, Table 3",
            f"kappa {shown_stated}{rule}",
            kappas[0],
            f"kappa of the released labels{rule}: {shown}",
            gap <= 0.0055,
        )


def _relaxed_score() -> Iterator[Claim]:
    """Compare two ways to score mistakes on VAGUE, the last of the labels."""
    counts = np.array(ROUNDS["first round"])
    samples = int(counts.sum())
    vague = int(counts[-1].sum())
    right = int(np.trace(counts[:-1, :-1]))
    ignored = right / (samples - vague)
    counted = (right + vague) / samples

    yield Claim(
        "relaxed-score",
        "section 4.1 and limitations",
        "mistakes on VAGUE are ignored; or count as true positives",
        counted - ignored,
        "accuracy of the second annotator by the first: "
        f"{right:,} / ({samples:,} - {vague}) = {ignored:.1%} ignored, "
        f"({right:,} + {vague}) / {samples:,} = {counted:.1%} counted as right",
        abs(counted - ignored) <= 0.005,
    )


def _windows(total: float) -> Iterator[Claim]:
    """Compare the stated numbers of windows and of pairs labelled twice with the files."""
    counts = np.array(ROUNDS["first round"])
    samples = int(counts.sum())
    mixed = samples - int(np.trace(counts))
    stated_mixed, stated_windows = STATED_WINDOWS

    yield Claim(
        "windows",
        "section 3.4",
        f"{stated_mixed:,} of {stated_windows:,} windows with disagreement",
        MIXED,
        f"the first round's file has {samples:,} samples, {mixed:,} with two labels, in {WINDOWS} "
        f"windows, {MIXED} of them with such a sample: the numbers count samples",
        (MIXED, WINDOWS) == STATED_WINDOWS,
    )

    second = sum(map(sum, ROUNDS["second round"]))

    yield Claim(
        "second-round",
        "section 3.4",
        "the second round has the samples with disagreement",
        second,
        f"its file has {second:,} samples of two annotators; {mixed:,} had disagreement",
        second == mixed,
    )

    share = samples / total

    yield Claim(
        "labelled-twice",
        "section 3.4",
        "about 55 % labelled by both annotators",
        share,
        f"{samples:,} / {total:,.0f} = {share:.1%}",
        abs(share - 0.55) <= 0.005,
    )


def _matres(published: Published, trc: dict[str, float]) -> Iterator[Claim]:
    """Recompute MATRES's shares of labels, and compare them with TRC's."""
    total = sum(MATRES.values())
    matres = {}
    stated = []
    listed = []
    gaps = []
    for label, count in MATRES.items():
        share = count / total
        printed = published("table2", label, "MATRES")
        matres[label] = share
        stated.append(f"{printed:.0%}")
        listed.append(f"{count:,} = {share:.1%}")
        gaps.append(abs(share - printed))
    stated_shares = ", ".join(stated)
    shares = ", ".join(listed)

    yield Claim(
        "matres-shares",
        "Table 2",
        f"MATRES: {stated_shares}",
        matres["BEFORE"],
        f"its released files ({total:,} relations): {shares}",
        max(gaps) <= 0.005,
    )

    equal = trc["EQUAL"]
    vague = trc["VAGUE"]
    matres_equal = matres["EQUAL"]
    matres_vague = matres["VAGUE"]

    yield Claim(
        "less-vague-than-matres",
        "section 3.2",
        "more EQUAL and fewer VAGUE than in MATRES",
        matres_vague,
        f"EQUAL {equal:.1%} against {matres_equal:.1%}, VAGUE {vague:.1%} "
        f"against {matres_vague:.1%} in MATRES's released files",
        equal > matres_equal and vague < matres_vague,
    )
