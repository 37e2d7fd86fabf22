"""LCHAIM's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from heron.reproduction.claims import Claim, Published

CLASSES = ("entailment", "contradiction", "neutral")
# Rows of each class in the two test sets, as the released files have them.
LCHAIM_TEST = {"entailment": 327, "contradiction": 242, "neutral": 236}
HEBNLI_TEST = {"entailment": 304, "contradiction": 307, "neutral": 273}
BOTH = "HebNLI, then LCHAIM"
_HALF = 0.00005  # of the last printed digit of a percentage with two decimals


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("lchaim")
    yield from _sizes(n)
    yield from _table1(n)
    yield from _table2(n)
    yield from _table4(n)
    yield from _prose(n)
    yield from _shots(n)


def weighted(values: dict[str, float], rows: dict[str, int]) -> float:
    """Average scores of classes by their rows."""
    return sum(values[name] * rows[name] for name in rows) / sum(rows.values())


def _scores(n: Published, table: str, *row: str, score: str) -> dict[str, float]:
    return {name: n(f"{table}_classes", *row, name, score) for name in CLASSES}


def _sizes(n: Published) -> Iterator[Claim]:
    parts = [n("sizes", split, "rows") for split in ("train", "validation", "test")]
    total, said = sum(parts), n("sizes", "total", "rows")
    yield Claim(
        "total",
        "sections 2 and 3.1",
        "8,325 pairs, split 6,692:837:836",
        total,
        f"{' + '.join(f'{part:,.0f}' for part in parts)} = {total:,.0f}, not {said:,.0f}",
        total == said,
    )
    rows = sum(LCHAIM_TEST.values())
    yield Claim(
        "test-size",
        "section 3.1, Table 2",
        "836 pairs of test",
        rows,
        "Table 2's recalls and weighted F1 fit 327 + 242 + 236 = 805 rows, ConTRoL's test split",
        rows == n("sizes", "test", "rows"),
    )


def _table1(n: Published) -> Iterator[Claim]:
    printed = {"accuracy": 0.8557, "fluency": 0.8253, "culture": 0.7449}
    for name, share in printed.items():
        mean = n("table1", "Amazon Translate", name)
        yield Claim(
            f"translation-{name}",
            "section 2.2, Table 1",
            f"{share:.2%}",
            mean / 5,
            f"{mean} of 5 points = {mean / 5:.2%}",
            abs(mean / 5 - share) <= 0.0005,
        )
    low, high = (n("similarity", part, "unique") for part in ("premise", "hypothesis"))
    yield Claim(
        "unique-texts",
        "section 2.2",
        "1,928 unique premises and 1,928 unique hypotheses",
        None,
        f"{low:,.0f} = {high:,.0f}, though each premise has three hypotheses or more",
        False,
    )


def _table2(n: Published) -> Iterator[Claim]:
    for encoder in ("AlephBERT", "LongHero"):
        for row in ("nothing", "HebNLI", "LCHAIM", BOTH):
            found = weighted(_scores(n, "table2", encoder, row, score="F1"), LCHAIM_TEST)
            said = n("table2", encoder, row, "F1")
            mean = sum(_scores(n, "table2", encoder, row, score="F1").values()) / 3
            kind = "weighted by 327, 242, 236 rows"
            yield Claim(
                f"table2-{encoder}-{row}".lower().replace(", then ", "+"),
                "Table 2",
                f"F1 {said:.2%}",
                found,
                f"class F1s {kind}: {found:.2%}; their plain mean: {mean:.2%}",
                abs(found - said) <= 0.0005,
            )
    recalls = _scores(n, "table2", "human", "in English", score="R")
    least = min(recalls.values())
    said = n("table2", "human", "in English", "accuracy")
    yield Claim(
        "human-english",
        "Table 2",
        f"accuracy {said:.2%}",
        least,
        f"accuracy is a mean of recalls, and the lowest recall is {least:.2%}",
        said >= least - _HALF,
    )
    f1s = _scores(n, "table2", "human", "in English", score="F1")
    mean, said = sum(f1s.values()) / 3, n("table2", "human", "in English", "F1")
    yield Claim(
        "human-english-f1",
        "Table 2",
        f"F1 {said:.2%}",
        mean,
        f"mean of the class F1s: {mean:.2%}",
        abs(mean - said) <= 0.0005,
    )
    for name in ("R", "F1"):
        printed = n("table2_classes", "AlephBERT", "LCHAIM", "neutral", name, printed=True)
        found = n("table2_classes", "AlephBERT", "LCHAIM", "neutral", name)
        yield Claim(
            f"neutral-{name.lower()}",
            "Table 2, AlephBERT-LCHAIM",
            f"neutral {name} {printed} among percentages",
            found,
            f"3 of 236 rows are right: {found:.2%}; printed is the fraction"
            if name == "R"
            else f"2 x .25 x 3/236 / (.25 + 3/236) = {found:.2%}; printed is the fraction",
            False,
        )


def _table4(n: Published) -> Iterator[Claim]:
    for name in ("entailment", "contradiction"):
        row = ("LongHero", "HebNLI", name)
        p, r = n("table4_classes", *row, "P"), n("table4_classes", *row, "R")
        said = n("table4_classes", *row, "F1", printed=True)
        found = 2 * p * r / (p + r)
        yield Claim(
            f"table4-longhero-{name}",
            "Table 4, LongHero-HebNLI",
            f"{name} F1 {said:.2%}",
            found,
            f"2 x {p:.4f} x {r:.4f} / ({p:.4f} + {r:.4f}) = {found:.2%}",
            abs(found - said) <= 0.0005,
        )
    row = ("LongHero", "nothing", "contradiction")
    p, r = n("table4_classes", *row, "P"), n("table4_classes", *row, "R")
    said = n("table4_classes", *row, "F1", printed=True)
    found = 2 * p * r / (p + r)
    yield Claim(
        "table4-longhero-probe",
        "Table 4, LongHero",
        f"contradiction F1 {said:.2%}",
        found,
        f"2 x {p:.4f} x {r:.4f} / ({p:.4f} + {r:.4f}) = {found:.2%}",
        abs(found - said) <= 0.0005,
    )
    both = ("LongHero", "LCHAIM, then HebNLI")
    f1s = _scores(n, "table4", *both, score="F1")
    found, mean = weighted(f1s, HEBNLI_TEST), sum(f1s.values()) / 3
    said = n("table4", *both, "F1", printed=True)
    yield Claim(
        "table4-longhero-all",
        "Table 4, LongHero-ALL",
        f"F1 {said:.2%}, weighted as in the other rows",
        found,
        f"weighted by 304, 307, 273 rows: {found:.2%}; plain mean: {mean:.2%}",
        abs(found - said) <= 0.0005,
    )


def _prose(n: Published) -> Iterator[Claim]:
    human, best = (
        n("table2", "human", "in Hebrew", "accuracy"),
        n("table2", "LongHero", BOTH, "accuracy"),
    )
    english = n("table2", "human", "in English", "accuracy")
    yield Claim(
        "below-human",
        "abstract",
        "35 % below people's accuracy",
        human - best,
        f"{human:.2%} - {best:.2%} = {human - best:.2%} against people in Hebrew; in English "
        f"{english:.2%} - {best:.2%} = {english - best:.2%}",
        False,
    )
    base = n("table2", "LongHero", "nothing", "accuracy")
    yield Claim(
        "relative-gain",
        "section 4",
        "52 % accuracy is a relative increase of 35 %",
        best / base - 1,
        f"{best:.2%} / {base:.2%} - 1 = {best / base - 1:.0%}",
        abs(best / base - 1 - 0.35) <= 0.005,
    )
    for encoder, said in (("AlephBERT", 0.15), ("LongHero", 0.27)):
        after, before = (n("table4", encoder, row, "accuracy") for row in ("HebNLI", "nothing"))
        yield Claim(
            f"hebnli-gain-{encoder.lower()}",
            "section 4, Table 4",
            f"{said:.0%} gain in accuracy from HebNLI",
            after - before,
            f"{after:.2%} - {before:.2%} = {after - before:.2%}",
            abs(after - before - said) <= 0.005,
        )
    single, both = (
        n("table4", "LongHero", row, "accuracy") for row in ("HebNLI", "LCHAIM, then HebNLI")
    )
    yield Claim(
        "sequential-gain",
        "section 4, Table 4",
        "5.5 % more than with HebNLI alone",
        both - single,
        f"{both:.2%} - {single:.2%} = {both - single:.2%}",
        abs(both - single - 0.055) <= 0.0005,
    )
    yield Claim(
        "hebnli-over-lchaim",
        "section 4",
        "31.76 % more on HebNLI's test set than on LCHAIM's",
        both - best,
        f"{both:.2%} - {best:.2%} = {both - best:.2%}",
        abs(both - best - 0.3176) <= 0.00005 + 1e-9,
    )


def _shots(n: Published) -> Iterator[Claim]:
    human = n("table2", "human", "in Hebrew", "accuracy")
    zero = n("table3", "GPT-4o", "HebNLI", "0", "accuracy")
    top = max(
        n("table3", "GPT-4o", pool, k, "accuracy") for pool in ("HebNLI", "LCHAIM") for k in "0123"
    )
    yield Claim(
        "model-gap",
        "section 4",
        "people 27.29 % above the best language model",
        human - top,
        f"{human:.2%} - {top:.2%} = {human - top:.2%}; 27.29 is against 0 examples, {zero:.2%}",
        abs(human - top - 0.2729) <= _HALF,
    )
    zero = n("table3", "DictaLM-2.0-7B", "HebNLI", "0", "accuracy")
    gains = {
        (pool, k): n("table3", "DictaLM-2.0-7B", pool, k, "accuracy") - zero
        for pool in ("HebNLI", "LCHAIM")
        for k in "123"
    }
    (pool, k), gain = max(gains.items(), key=lambda each: each[1])
    yield Claim(
        "few-shot-dicta",
        "section 6",
        "DictaLM does not improve with examples",
        gain,
        f"{k} example of {pool}: {zero + gain:.2%} - {zero:.2%} = +{gain:.2%}",
        gain <= 0,
    )
    rows = sum(LCHAIM_TEST.values())
    for model in ("Gemma-9B", "DictaLM-2.0-7B", "GPT-4o"):
        cells = {
            n("table3", model, pool, k, "accuracy") for pool in ("HebNLI", "LCHAIM") for k in "0123"
        }
        fit = sum(_fits(value, rows) for value in cells)
        yield Claim(
            f"shots-{model.lower()}",
            "Table 3",
            f"accuracies of {rows} rows",
            fit,
            f"{fit} of {len(cells)} different accuracies are a whole number of {rows} rows",
            fit == len(cells),
        )


def _fits(share: float, rows: int) -> bool:
    """Tell whether some number of rows gives a share when rounded (or cut) to two decimals."""
    around = {math.floor(share * rows), math.ceil(share * rows)}
    return any(abs(round(count / rows, 4) - share) < 1e-9 for count in around)
