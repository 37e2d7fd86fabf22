"""LCHAIM's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

from heron_tools.reproduction.claims import Claim, Published, f1_range, whole

CLASSES = ("entailment", "contradiction", "neutral")
# Rows of each class in the two test sets, as the released files have them.
LCHAIM_TEST = {"entailment": 327, "contradiction": 242, "neutral": 236}
HEBNLI_TEST = {"entailment": 304, "contradiction": 307, "neutral": 273}
CONTROL = {"train": 6719, "validation": 799, "test": 805}  # released rows of the source
JUDGED = 200  # rows of the human baseline, in Hebrew (section 3.2)
BOTH = "HebNLI, then LCHAIM"
REVERSED = "LCHAIM, then HebNLI"
_HALF = 0.00005  # half a unit of the last printed digit of a percentage with two decimals

# Sections 4 and 6: the stated difference of two rows, and its rounding unit, as fractions.
Differences = tuple[tuple[str, str, tuple[str, ...], tuple[str, ...], str, float, float], ...]
DIFFERENCES: Differences = (
    *(
        (f"{encoder}-{name}-{score}".lower(), "table2", (encoder, row), (encoder, "nothing"), score,
         said, step)
        for encoder, name, row, score, said, step in (
            ("AlephBERT", "hebnli", "HebNLI", "accuracy", -0.02, 0.01),
            ("AlephBERT", "hebnli", "HebNLI", "F1", -0.015, 0.001),
            ("AlephBERT", "lchaim", "LCHAIM", "accuracy", -0.01, 0.01),
            ("AlephBERT", "lchaim", "LCHAIM", "F1", -0.03, 0.01),
            ("AlephBERT", "all", BOTH, "accuracy", 0.03, 0.01),
            ("AlephBERT", "all", BOTH, "F1", 0.05, 0.01),
            ("LongHero", "hebnli", "HebNLI", "accuracy", -0.02, 0.01),
            ("LongHero", "hebnli", "HebNLI", "F1", -0.08, 0.01),
            ("LongHero", "lchaim", "LCHAIM", "accuracy", 0.07, 0.01),
            ("LongHero", "lchaim", "LCHAIM", "F1", 0.01, 0.01),
            ("LongHero", "all", BOTH, "accuracy", 0.18, 0.01),
            ("LongHero", "all", BOTH, "F1", 0.19, 0.01),
        )
    ),
    *(
        (f"people-over-longhero-{score}".lower(), "table2", ("human", "in Hebrew"),
         ("LongHero", BOTH), score, 0.33, 0.01)
        for score in ("accuracy", "F1")
    ),
    *(
        (f"{name}-{encoder}".lower(), "table4", (encoder, row), (encoder, "nothing"), "accuracy",
         said, 0.01)
        for encoder, name, row, said in (
            ("AlephBERT", "hebnli-gain", "HebNLI", 0.15),
            ("LongHero", "hebnli-gain", "HebNLI", 0.27),
            ("AlephBERT", "lchaim-loss", "LCHAIM", -0.17),
            ("LongHero", "lchaim-loss", "LCHAIM", -0.10),
        )
    ),
    ("sequential-gain", "table4", ("LongHero", REVERSED), ("LongHero", "HebNLI"), "accuracy",
     0.055, 0.001),
)  # fmt: skip


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("lchaim")
    yield from _sizes(n)
    yield from _translation(n)
    yield from _totals(n, "table2", ("nothing", "HebNLI", "LCHAIM", BOTH), LCHAIM_TEST)
    yield from _totals(n, "table4", ("nothing", "HebNLI", "LCHAIM", REVERSED), HEBNLI_TEST)
    yield from _units(n)
    yield from _people(n)
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
    released = sum(CONTROL.values())
    shares = " : ".join(f"{rows / released:.1%}" for rows in CONTROL.values())
    yield Claim(
        "same-split",
        "section 3.1",
        "the split of the source, 8:1:1, of 8,325 pairs",
        released,
        f"the source's files have {' + '.join(f'{rows:,}' for rows in CONTROL.values())} = "
        f"{released:,} rows, {shares}",
        released == said and list(CONTROL.values()) == parts,
    )
    recalls = [
        (n("table2_classes", encoder, row, name, "R"), LCHAIM_TEST[name])
        for encoder in ("AlephBERT", "LongHero")
        for row in ("nothing", "HebNLI", "LCHAIM", BOTH)
        for name in CLASSES
    ]
    fit = sum(whole(share, rows, 4) for share, rows in recalls)
    rows = sum(LCHAIM_TEST.values())
    yield Claim(
        "test-size",
        "section 3.1, Table 2",
        f"{parts[2]:,.0f} pairs of test",
        rows,
        f"{fit} of {len(recalls)} recalls of Table 2 are whole numbers of 327, 242 and 236 rows: "
        f"{rows} in all, the source's test split",
        rows == parts[2],
    )


def _translation(n: Published) -> Iterator[Claim]:
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
    pairs = n("sizes", "total", "rows")
    unique = n("similarity", "hypothesis", "unique")
    yield Claim(
        "unique-texts",
        "section 2.2",
        "1,928 unique premises and 1,928 unique hypotheses of 8,325 pairs",
        pairs / unique,
        f"{pairs:,.0f} / {unique:,.0f} = {pairs / unique:.1f} pairs of each: right for a premise "
        "with three hypotheses or more, but each hypothesis would stand in four pairs as well",
        pairs / unique < 2,
    )
    low = n("similarity", "hypothesis", "below .75")
    yield Claim(
        "similarity-filter",
        "section 2.2",
        "pairs under .75 are removed from the 8,325",
        pairs - low,
        f"at least the {low:.0f} hypotheses under .75: {pairs:,.0f} - {low:.0f} = "
        f"{pairs - low:,.0f} at most are left, a number that the paper never gives; every other "
        "place has 8,325",
        None,
    )

    same = n("semantics", "test", "same label")
    sizes = sum(LCHAIM_TEST.values()), round(n("sizes", "test", "rows"))
    counts = [
        f"{round(same * rows)} of {rows} are {round(same * rows) / rows:.2%}" for rows in sizes
    ]
    yield Claim(
        "semantic-check",
        "section 2.2",
        f"{same:.2%} of the test rows get the same label after back-translation",
        same,
        f"the released test split has {sizes[0]} rows, section 3.1 has {sizes[1]}: "
        f"{'; '.join(counts)}. How many rows the filter of .75 left is not said",
        None,
    )


def _totals(
    n: Published, table: str, rows: tuple[str, ...], support: dict[str, int]
) -> Iterator[Claim]:
    """Check accuracy and F1 of each system by its class scores, and class F1s by P and R."""
    title = f"Table {table[-1]}"
    listed = ", ".join(map(str, support.values()))
    for encoder in ("AlephBERT", "LongHero"):
        for row in rows:
            name = f"{encoder}-{row}".lower().replace(", then ", "+")
            place = f"{title}, {encoder}, {row}"
            said = n(table, encoder, row, "accuracy")
            found = weighted(_scores(n, table, encoder, row, score="R"), support)
            yield Claim(
                f"{table}-accuracy-{name}",
                place,
                f"accuracy {said:.2%}",
                found,
                f"recalls weighted by {listed} rows: {found:.2%}",
                abs(found - said) <= 0.0005,
            )
            f1s = _scores(n, table, encoder, row, score="F1")
            found, mean = weighted(f1s, support), sum(f1s.values()) / len(f1s)
            said = n(table, encoder, row, "F1", printed=True)
            yield Claim(
                f"{table}-f1-{name}",
                place,
                f"F1 {said:.2%}, weighted by rows",
                found,
                f"class F1s, corrected where they can be, weighted by {listed} rows: "
                f"{found:.2%}; their plain mean: {mean:.2%}",
                abs(found - said) <= 0.0005,
            )
            yield _classes(n, table, (encoder, row), f"{table}-classes-{name}", place)


def _classes(n: Published, table: str, row: tuple[str, str], name: str, place: str) -> Claim:
    worst, wrong = 0.0, []
    for each in CLASSES:
        p, r = (n(f"{table}_classes", *row, each, score) for score in ("P", "R"))
        # A score in another unit has its own claim.
        slip = n(f"{table}_classes", *row, each, "R", printed=True) != r
        said = n(f"{table}_classes", *row, each, "F1", printed=not slip)
        low, high = f1_range(p, r, _HALF)
        found = 2 * p * r / (p + r)
        worst = max(worst, abs(found - said))
        if not low - _HALF <= said <= high + _HALF:
            wrong.append(f"{each} {said:.2%}: 2 x {p:.4f} x {r:.4f} / {p + r:.4f} = {found:.2%}")
    how = "; ".join(wrong) or f"all are 2 P R / (P + R), to {worst:.2%}"
    return Claim(name, place, "class F1s follow from P and R", worst, how, not wrong)


def _units(n: Published) -> Iterator[Claim]:
    for table, support in (("table2", LCHAIM_TEST), ("table4", HEBNLI_TEST)):
        cell = f"{table}_classes", "AlephBERT", "LCHAIM", "neutral"
        rows, p = support["neutral"], n(*cell, "P")
        right = round(n(*cell, "R") * rows)
        r = right / rows
        found = {"R": r, "F1": 2 * p * r / (p + r)}
        how = {
            "R": f"{right} of {rows} rows are right: {r:.2%}",
            "F1": f"2 x {p:.2f} x {right}/{rows} / ({p:.2f} + {right}/{rows}) = {found['F1']:.2%}",
        }
        for score, value in found.items():
            printed = n(*cell, score, printed=True)
            yield Claim(
                f"{table}-neutral-{score}".lower(),
                f"Table {table[-1]}, AlephBERT-LCHAIM",
                f"neutral {score} {printed} among percentages",
                value,
                f"{how[score]}; {printed} is the fraction",
                abs(printed - 100 * value) <= 0.005,
            )


def _people(n: Published) -> Iterator[Claim]:
    recalls = _scores(n, "table2", "human", "in English", score="R")
    least, said = min(recalls.values()), n("table2", "human", "in English", "accuracy")
    yield Claim(
        "human-english",
        "Table 2",
        f"accuracy {said:.2%}",
        least,
        f"accuracy is a mean of recalls, and the lowest recall is {least:.2%}",
        said >= least - _HALF,
    )
    for language in ("English", "Hebrew"):
        f1s = _scores(n, "table2", "human", f"in {language}", score="F1")
        mean, said = sum(f1s.values()) / len(f1s), n("table2", "human", f"in {language}", "F1")
        yield Claim(
            f"human-{language.lower()}-f1",
            "Table 2",
            f"F1 {said:.2%}",
            mean,
            f"plain mean of the class F1s: {mean:.2%}; other rows are weighted by rows",
            abs(mean - said) <= 0.0005,
        )
    name, place = "human-english-classes", "Table 2, people in English"
    yield _classes(n, "table2", ("human", "in English"), name, place)
    right, rows = _people_in_hebrew(n)
    said = n("table2", "human", "in Hebrew", "accuracy")
    listed = ", ".join(f"{right[name]}/{rows[name]}" for name in CLASSES)
    total, correct = sum(rows.values()), sum(right.values())
    yield Claim(
        "human-hebrew-rows",
        "section 3.2, Table 2",
        f"{JUDGED} rows answered in Hebrew",
        total,
        f"the recalls are {listed} at least, {total} rows; {said:.2%} of {JUDGED} is no whole "
        "number",
        total == JUDGED and whole(said, JUDGED, 4),
    )
    yield Claim(
        "human-hebrew",
        "Table 2",
        f"accuracy {said:.2%} in Hebrew",
        correct / total,
        f"({' + '.join(str(right[name]) for name in CLASSES)}) / {total} = {correct / total:.2%}; "
        f"{said:.2%} is {round(said * total)} of {total}",
        abs(correct / total - said) <= _HALF,
    )


def _people_in_hebrew(n: Published) -> tuple[dict[str, int], dict[str, int]]:
    """Find the minimum of right answers and rows of each class that give its printed R and P."""
    right, rows = {}, {}
    for name, r in _scores(n, "table2", "human", "in Hebrew", score="R").items():
        p = n("table2_classes", "human", "in Hebrew", name, "P")
        counts = (count for count in range(1, JUDGED) if whole(r, count, 4))
        rows[name] = next(
            count
            for count in counts
            if any(round(round(r * count) / given, 4) == p for given in range(1, JUDGED))
        )
        right[name] = round(r * rows[name])
    return right, rows


def _prose(n: Published) -> Iterator[Claim]:
    for name, table, after, before, score, said, step in DIFFERENCES:
        high, low = n(table, *after, score), n(table, *before, score)
        yield Claim(
            name,
            f"section 4, Table {table[-1]}",
            f"{score} {100 * said:+.3g} points, {', '.join(after)} against {', '.join(before)}",
            high - low,
            f"{high:.2%} - {low:.2%} = {100 * (high - low):+.2f} points",
            abs(high - low - said) <= step / 2 + 1e-9,
        )
    best = n("table2", "LongHero", BOTH, "accuracy")
    human, english = (
        n("table2", "human", f"in {language}", "accuracy") for language in ("Hebrew", "English")
    )
    yield Claim(
        "below-human",
        "abstract",
        "35 % below people's accuracy",
        human - best,
        f"{human:.2%} - {best:.2%} = {human - best:.2%} against people in Hebrew; in English "
        f"{english:.2%} - {best:.2%} = {english - best:.2%}",
        abs(human - best - 0.35) <= 0.005,
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
    over = {
        (encoder, score): n("table4", encoder, REVERSED, score, printed=True)
        - n("table2", encoder, BOTH, score)
        for encoder in ("AlephBERT", "LongHero")
        for score in ("accuracy", "F1")
    }
    found = over["LongHero", "accuracy"]
    yield Claim(
        "hebnli-over-lchaim",
        "section 4",
        "accuracy 31.76 % higher on HebNLI's test set than on LCHAIM's",
        found,
        f"{best + found:.2%} - {best:.2%} = {found:.2%}",
        abs(found - 0.3176) <= _HALF,
    )
    listed = ", ".join(f"{encoder} {score} {gap:.1%}" for (encoder, score), gap in over.items())
    yield Claim(
        "hebnli-range",
        "section 6",
        "after both data sets 25 to 30 % higher accuracy and F1 on HebNLI's test set",
        min(over.values()),
        f"{listed}",
        all(0.25 <= gap <= 0.30 for gap in over.values()),
    )
    names = {table: n.names(table, "LongHero")[-1] for table in ("table2", "table4")}
    yield Claim(
        "all-is-one-system",
        "Tables 2 and 4, captions",
        "-ALL names one way of training",
        None,
        f"Table 2: {names['table2']}; Table 4: {names['table4']}",
        names["table2"] == names["table4"],
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
        f"{human:.2%} - {top:.2%} = {human - top:.2%}; without examples {human:.2%} - {zero:.2%} = "
        f"{human - zero:.2%}",
        abs(human - top - 0.2729) <= _HALF,
    )
    for name, model in (("gemma", "Gemma-9B"), ("dicta", "DictaLM-2.0-7B")):
        zero = n("table3", model, "HebNLI", "0", "accuracy")
        gains = {
            (pool, k): n("table3", model, pool, k, "accuracy") - zero
            for pool in ("HebNLI", "LCHAIM")
            for k in "123"
        }
        (pool, k), gain = max(gains.items(), key=lambda each: each[1])
        yield Claim(
            f"few-shot-{name}",
            "section 6, Table 3",
            f"{model} does not improve with examples",
            gain,
            f"best: {k} of {pool}, {zero + gain:.2%} - {zero:.2%} = {100 * gain:+.2f} points",
            gain <= 0,
        )
    rows = sum(LCHAIM_TEST.values())
    for model in ("Gemma-9B", "DictaLM-2.0-7B", "GPT-4o"):
        cells = {
            n("table3", model, pool, k, "accuracy") for pool in ("HebNLI", "LCHAIM") for k in "0123"
        }
        fit = sum(whole(value, rows, 4) for value in cells)
        yield Claim(
            f"shots-{model.lower()}",
            "Table 3",
            f"accuracies of {rows} rows",
            fit,
            f"{fit} of {len(cells)} different accuracies are a whole number of {rows} rows",
            fit == len(cells),
        )
