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
WINDOWS, MIXED = 817, 420  # of the first round's file; those with a sample of two labels
MATRES = {"BEFORE": 6886, "AFTER": 4576, "EQUAL": 471, "VAGUE": 1644}  # its three files together
SAID_WINDOWS = 1073, 3998  # section 3.4
ENCODERS = ("AlephBERTGimmel", "HeBERT", "mBERT", "AlephBERT")
HEADS = ("seq_cls", "ess", "emp")


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("trc")
    counts = {label: n("table2", label, "count") for label in LABELS}
    total = sum(counts.values())
    listed = " + ".join(f"{count:,.0f}" for count in counts.values())
    said = n("table2", "total", "count")
    yield Claim(
        "total", "Table 2", f"{said:,.0f} pairs", total, f"{listed} = {total:,.0f}", total == said
    )
    for label, count in counts.items():
        printed = n("table2", label, "share", printed=True)
        share = count / total
        yield Claim(
            f"share-{label.lower()}",
            "Table 2",
            f"{printed:.0%}",
            share,
            f"{count:,.0f} / {total:,.0f} = {share:.1%}",
            abs(share - printed) <= 0.005,
        )
    for table, kind in (("table4", "relaxed"), ("table5", "strict")):
        best = {
            encoder: max(n(table, encoder, head, "macro F1") for head in HEADS)
            for encoder in ENCODERS
        }
        top = max(best.values())
        leaders = [encoder for encoder, score in best.items() if score == top]
        ours = best["AlephBERTGimmel"]
        yield Claim(
            f"best-encoder-{kind}",
            "section 4.1",
            "AlephBERTGimmel is best",
            top,
            f"best {kind} macro F1: {', '.join(leaders)} {top:.2f}; AlephBERTGimmel {ours:.2f}",
            leaders == ["AlephBERTGimmel"],
        )
    yield from _agreement(n)
    yield from _windows(total)
    yield from _matres(n, {label: count / total for label, count in counts.items()})


def _agreement(n: Published) -> Iterator[Claim]:
    pairs = [(a, b) for a in LABELS for b in LABELS]
    # Without disagreements of VAGUE with BEFORE or AFTER.
    kept = np.array([not ("VAGUE" in pair and {*pair} & {"BEFORE", "AFTER"}) for pair in pairs])
    standard, recoded, excluded = [], [], []
    for counts in ROUNDS.values():
        of_pairs = np.array(counts).ravel()
        standard.append(cohen(pairs, of_pairs))
        recoded.append(cohen(relax(pairs, "VAGUE"), of_pairs))
        excluded.append(cohen(pairs, of_pairs * kept))
    for name, column, found in (
        ("agreement", "standard", standard),
        ("relaxed-agreement", "relaxed", excluded),
        ("recoded-agreement", "relaxed", recoded),
    ):
        said = [n("table3", each, column) for each in ROUNDS]
        what = {
            "agreement": "",
            "relaxed-agreement": " without disagreements of VAGUE with BEFORE or AFTER",
            "recoded-agreement": ", as in the released code: VAGUE counts as the other's label, "
            "EQUAL too",
        }[name]
        yield Claim(
            name,
            "section 3.4, Table 3",
            f"kappa {', '.join(f'{each:.2f}' for each in said)}{what}",
            found[0],
            f"kappa of the released labels{what}: {', '.join(f'{each:.3f}' for each in found)}",
            all(abs(x - y) <= 0.0055 for x, y in zip(found, said, strict=True)),
        )
    counts = ROUNDS["first round"]
    right = sum(row[index] for index, row in enumerate(counts[:-1]))
    vague, samples = sum(counts[-1]), sum(map(sum, counts))
    ignored, counted = right / (samples - vague), (right + vague) / samples
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
    counts = ROUNDS["first round"]
    samples = sum(map(sum, counts))
    mixed = samples - sum(row[index] for index, row in enumerate(counts))
    yield Claim(
        "windows",
        "section 3.4",
        f"{SAID_WINDOWS[0]:,} of {SAID_WINDOWS[1]:,} windows with disagreement",
        MIXED,
        f"the first round's file has {samples:,} samples, {mixed:,} with two labels, in {WINDOWS} "
        f"windows, {MIXED} of them with such a sample: the numbers count samples",
        (MIXED, WINDOWS) == SAID_WINDOWS,
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
    yield Claim(
        "labelled-twice",
        "section 3.4",
        "about 55 % labelled by both annotators",
        samples / total,
        f"{samples:,} / {total:,.0f} = {samples / total:.1%}",
        abs(samples / total - 0.55) <= 0.005,
    )


def _matres(n: Published, ours: dict[str, float]) -> Iterator[Claim]:
    total = sum(MATRES.values())
    said = {label: n("table2", label, "MATRES") for label in LABELS}
    found = {label: count / total for label, count in MATRES.items()}
    yield Claim(
        "matres-shares",
        "Table 2",
        f"MATRES: {', '.join(f'{share:.0%}' for share in said.values())}",
        found["BEFORE"],
        f"its released files ({total:,} relations): "
        + ", ".join(f"{count:,} = {found[label]:.1%}" for label, count in MATRES.items()),
        all(abs(found[label] - said[label]) <= 0.005 for label in LABELS),
    )
    yield Claim(
        "less-vague-than-matres",
        "section 3.2",
        "more EQUAL and fewer VAGUE than in MATRES",
        found["VAGUE"],
        f"EQUAL {ours['EQUAL']:.1%} against {found['EQUAL']:.1%}, VAGUE {ours['VAGUE']:.1%} "
        f"against {found['VAGUE']:.1%} in MATRES's released files",
        ours["EQUAL"] > found["EQUAL"] and ours["VAGUE"] < found["VAGUE"],
    )
