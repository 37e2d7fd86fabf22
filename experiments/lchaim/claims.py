"""LCHAIM's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

from heron_tools.reproduction.claims import Claim, Published, f1_range, whole

CLASSES = ("entailment", "contradiction", "neutral")
ENCODERS = ("AlephBERT", "LongHero")
SCORES = ("accuracy", "F1")
POOLS = ("HebNLI", "LCHAIM")  # Table 3: the data sets that a prompt's examples are drawn from

# Rows of each class in the two test sets, as the released files have them.
LCHAIM_TEST = {"entailment": 327, "contradiction": 242, "neutral": 236}
HEBNLI_TEST = {"entailment": 304, "contradiction": 307, "neutral": 273}
CONTROL_SIZES = {"train": 6719, "validation": 799, "test": 805}  # released rows of the source
JUDGED = 200  # rows of the human baseline, in Hebrew (section 3.2)
BOTH = "HebNLI, then LCHAIM"
REVERSED = "LCHAIM, then HebNLI"
_HALF = 0.00005  # half a unit of the last printed digit of a percentage with two decimals

# Sections 4 and 6: the stated gain of an encoder by training on data sets, over the same encoder
# trained on nothing, by table. Columns: claim, encoder, data sets, score, gain (a fraction), and
# the unit to which the gain is rounded.
GAINS = {
    "table2": (
        ("alephbert-hebnli-accuracy", "AlephBERT", "HebNLI", "accuracy", -0.02, 0.01),
        ("alephbert-hebnli-f1", "AlephBERT", "HebNLI", "F1", -0.015, 0.001),
        ("alephbert-lchaim-accuracy", "AlephBERT", "LCHAIM", "accuracy", -0.01, 0.01),
        ("alephbert-lchaim-f1", "AlephBERT", "LCHAIM", "F1", -0.03, 0.01),
        ("alephbert-all-accuracy", "AlephBERT", BOTH, "accuracy", 0.03, 0.01),
        ("alephbert-all-f1", "AlephBERT", BOTH, "F1", 0.05, 0.01),
        ("longhero-hebnli-accuracy", "LongHero", "HebNLI", "accuracy", -0.02, 0.01),
        ("longhero-hebnli-f1", "LongHero", "HebNLI", "F1", -0.08, 0.01),
        ("longhero-lchaim-accuracy", "LongHero", "LCHAIM", "accuracy", 0.07, 0.01),
        ("longhero-lchaim-f1", "LongHero", "LCHAIM", "F1", 0.01, 0.01),
        ("longhero-all-accuracy", "LongHero", BOTH, "accuracy", 0.18, 0.01),
        ("longhero-all-f1", "LongHero", BOTH, "F1", 0.19, 0.01),
    ),
    "table4": (
        ("hebnli-gain-alephbert", "AlephBERT", "HebNLI", "accuracy", 0.15, 0.01),
        ("hebnli-gain-longhero", "LongHero", "HebNLI", "accuracy", 0.27, 0.01),
        ("lchaim-loss-alephbert", "AlephBERT", "LCHAIM", "accuracy", -0.17, 0.01),
        ("lchaim-loss-longhero", "LongHero", "LCHAIM", "accuracy", -0.10, 0.01),
    ),
}


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    published = Published("lchaim")
    yield from _sizes(published)
    yield from _translation(published)
    yield from _totals(published, "table2", ("nothing", *POOLS, BOTH), LCHAIM_TEST)
    yield from _totals(published, "table4", ("nothing", *POOLS, REVERSED), HEBNLI_TEST)
    yield from _units(published)
    yield from _people(published)
    yield from _differences(published)
    yield from _prose(published)
    yield from _shots(published)


def weighted(scores: dict[str, float], rows: dict[str, int]) -> float:
    """Average scores of classes, weighted by the rows of each class.

    Args:
        scores: a fraction for each class.
        rows: the number of rows of each class.
    """
    total = sum(scores[name] * rows[name] for name in rows)
    return total / sum(rows.values())


def _scores(published: Published, table: str, *row: str, score: str) -> dict[str, float]:
    """Read a score of each class in one row of a table."""
    return {name: published(f"{table}_classes", *row, name, score) for name in CLASSES}


def _mean(scores: dict[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _sizes(published: Published) -> Iterator[Claim]:
    parts = [published("sizes", split, "rows") for split in ("train", "validation", "test")]
    total = sum(parts)
    stated = published("sizes", "total", "rows")
    addends = " + ".join(f"{part:,.0f}" for part in parts)

    yield Claim(
        "total",
        "sections 2 and 3.1",
        "8,325 pairs, split 6,692:837:836",
        total,
        f"{addends} = {total:,.0f}, not {stated:,.0f}",
        total == stated,
    )

    sizes = list(CONTROL_SIZES.values())
    released = sum(sizes)
    addends = " + ".join(f"{rows:,}" for rows in sizes)
    shares = " : ".join(f"{rows / released:.1%}" for rows in sizes)

    yield Claim(
        "same-split",
        "section 3.1",
        "the split of the source, 8:1:1, of 8,325 pairs",
        released,
        f"the source's files have {addends} = {released:,} rows, {shares}",
        released == stated and sizes == parts,
    )

    recalls = 0
    whole_recalls = 0
    for encoder in ENCODERS:
        for training in ("nothing", *POOLS, BOTH):
            recall_of = _scores(published, "table2", encoder, training, score="R")
            for name, recall in recall_of.items():
                recalls += 1
                whole_recalls += whole(recall, LCHAIM_TEST[name], 4)
    rows_of_test = sum(LCHAIM_TEST.values())
    stated = parts[2]

    yield Claim(
        "test-size",
        "section 3.1, Table 2",
        f"{stated:,.0f} pairs of test",
        rows_of_test,
        f"{whole_recalls} of {recalls} recalls of Table 2 are whole numbers of 327, 242 and 236 "
        f"rows: {rows_of_test} in all, the source's test split",
        rows_of_test == stated,
    )


def _translation(published: Published) -> Iterator[Claim]:
    stated_shares = {"accuracy": 0.8557, "fluency": 0.8253, "culture": 0.7449}
    for name, stated in stated_shares.items():
        points = published("table1", "Amazon Translate", name)
        share = points / 5

        yield Claim(
            f"translation-{name}",
            "section 2.2, Table 1",
            f"{stated:.2%}",
            share,
            f"{points} of 5 points = {share:.2%}",
            abs(share - stated) <= 0.0005,
        )

    pairs = published("sizes", "total", "rows")
    unique = published("similarity", "hypothesis", "unique")
    repetitions = pairs / unique

    yield Claim(
        "unique-texts",
        "section 2.2",
        "1,928 unique premises and 1,928 unique hypotheses of 8,325 pairs",
        repetitions,
        f"{pairs:,.0f} / {unique:,.0f} = {repetitions:.1f} pairs of each: right for a premise "
        "with three hypotheses or more, but each hypothesis would stand in four pairs as well",
        repetitions < 2,
    )

    dissimilar = published("similarity", "hypothesis", "below .75")
    remaining = pairs - dissimilar

    yield Claim(
        "similarity-filter",
        "section 2.2",
        "pairs under .75 are removed from the 8,325",
        remaining,
        f"at least the {dissimilar:.0f} hypotheses under .75: {pairs:,.0f} - {dissimilar:.0f} = "
        f"{remaining:,.0f} at most are left, a number that the paper never gives; every other "
        "place has 8,325",
        None,
    )

    same = published("semantics", "test", "same label")
    released = sum(LCHAIM_TEST.values())
    stated_rows = round(published("sizes", "test", "rows"))
    shares = []
    for rows in (released, stated_rows):
        equal = round(same * rows)
        shares.append(f"{equal} of {rows} are {equal / rows:.2%}")
    nearest_shares = "; ".join(shares)

    yield Claim(
        "semantic-check",
        "section 2.2",
        f"{same:.2%} of the test rows get the same label after back-translation",
        same,
        f"the released test split has {released} rows, section 3.1 has {stated_rows}: "
        f"{nearest_shares}. How many rows the filter of .75 left is not said",
        None,
    )


def _totals(
    published: Published, table: str, trainings: tuple[str, ...], support: dict[str, int]
) -> Iterator[Claim]:
    """Check accuracy and F1 of each system by its class scores, and class F1s by P and R."""
    sizes = ", ".join(map(str, support.values()))
    for encoder in ENCODERS:
        for training in trainings:
            row = (encoder, training)
            system = "-".join(row).lower().replace(", then ", "+")
            place = f"Table {table[-1]}, {encoder}, {training}"

            stated = published(table, *row, "accuracy")
            recalls = _scores(published, table, *row, score="R")
            accuracy = weighted(recalls, support)

            yield Claim(
                f"{table}-accuracy-{system}",
                place,
                f"accuracy {stated:.2%}",
                accuracy,
                f"recalls weighted by {sizes} rows: {accuracy:.2%}",
                abs(accuracy - stated) <= 0.0005,
            )

            f1s = _scores(published, table, *row, score="F1")
            weighted_f1 = weighted(f1s, support)
            mean = _mean(f1s)
            stated = published(table, *row, "F1", printed=True)

            yield Claim(
                f"{table}-f1-{system}",
                place,
                f"F1 {stated:.2%}, weighted by rows",
                weighted_f1,
                f"class F1s, corrected where they can be, weighted by {sizes} rows: "
                f"{weighted_f1:.2%}; their plain mean: {mean:.2%}",
                abs(weighted_f1 - stated) <= 0.0005,
            )

            yield _class_f1s(published, table, row, f"{table}-classes-{system}", place)


def _class_f1s(
    published: Published, table: str, row: tuple[str, str], claim: str, place: str
) -> Claim:
    """Check whether the F1 of each class is that of its precision and recall, as rounded."""
    largest_gap = 0.0
    mistakes = []
    for name in CLASSES:
        cell = (f"{table}_classes", *row, name)
        precision = published(*cell, "P")
        recall = published(*cell, "R")
        # A score in another unit has its own claim.
        other_unit = published(*cell, "R", printed=True) != recall
        stated = published(*cell, "F1", printed=not other_unit)

        total = precision + recall
        f1 = 2 * precision * recall / total
        largest_gap = max(largest_gap, abs(f1 - stated))
        low, high = f1_range(precision, recall, _HALF)
        if not low - _HALF <= stated <= high + _HALF:
            formula = f"2 x {precision:.4f} x {recall:.4f} / {total:.4f}"
            mistakes.append(f"{name} {stated:.2%}: {formula} = {f1:.2%}")

    calculation = "; ".join(mistakes) or f"all are 2 P R / (P + R), to {largest_gap:.2%}"
    return Claim(
        claim,
        place,
        "class F1s follow from P and R",
        largest_gap,
        calculation,
        not mistakes,
    )


def _units(published: Published) -> Iterator[Claim]:
    """Recompute the scores that are printed as fractions among percentages."""
    for table, support in (("table2", LCHAIM_TEST), ("table4", HEBNLI_TEST)):
        cell = (f"{table}_classes", "AlephBERT", "LCHAIM", "neutral")
        place = f"Table {table[-1]}, AlephBERT-LCHAIM"
        rows = support["neutral"]
        right = round(published(*cell, "R") * rows)

        recall = right / rows
        printed = published(*cell, "R", printed=True)

        yield Claim(
            f"{table}-neutral-r",
            place,
            f"neutral R {printed} among percentages",
            recall,
            f"{right} of {rows} rows are right: {recall:.2%}; {printed} is the fraction",
            abs(printed - 100 * recall) <= 0.005,
        )

        precision = published(*cell, "P")
        f1 = 2 * precision * recall / (precision + recall)
        printed = published(*cell, "F1", printed=True)

        yield Claim(
            f"{table}-neutral-f1",
            place,
            f"neutral F1 {printed} among percentages",
            f1,
            f"2 x {precision:.2f} x {right}/{rows} / ({precision:.2f} + {right}/{rows}) = "
            f"{f1:.2%}; {printed} is the fraction",
            abs(printed - 100 * f1) <= 0.005,
        )


def _people(published: Published) -> Iterator[Claim]:
    recalls = _scores(published, "table2", "human", "in English", score="R")
    lowest = min(recalls.values())
    stated = published("table2", "human", "in English", "accuracy")

    yield Claim(
        "human-english",
        "Table 2",
        f"accuracy {stated:.2%}",
        lowest,
        f"accuracy is a mean of recalls, and the lowest recall is {lowest:.2%}",
        stated >= lowest - _HALF,
    )

    for language in ("English", "Hebrew"):
        row = ("human", f"in {language}")
        mean = _mean(_scores(published, "table2", *row, score="F1"))
        stated = published("table2", *row, "F1")

        yield Claim(
            f"human-{language.lower()}-f1",
            "Table 2",
            f"F1 {stated:.2%}",
            mean,
            f"plain mean of the class F1s: {mean:.2%}; other rows are weighted by rows",
            abs(mean - stated) <= 0.0005,
        )

    row = ("human", "in English")
    place = "Table 2, people in English"
    yield _class_f1s(published, "table2", row, "human-english-classes", place)

    right, rows = _people_in_hebrew(published)
    stated = published("table2", "human", "in Hebrew", "accuracy")
    fractions = ", ".join(f"{right[name]}/{rows[name]}" for name in CLASSES)
    total = sum(rows.values())

    yield Claim(
        "human-hebrew-rows",
        "section 3.2, Table 2",
        f"{JUDGED} rows answered in Hebrew",
        total,
        f"the recalls are {fractions} at least, {total} rows; {stated:.2%} of {JUDGED} is no "
        "whole number",
        total == JUDGED and whole(stated, JUDGED, 4),
    )

    accuracy = sum(right.values()) / total
    addends = " + ".join(str(right[name]) for name in CLASSES)
    stated_right = round(stated * total)

    yield Claim(
        "human-hebrew",
        "Table 2",
        f"accuracy {stated:.2%} in Hebrew",
        accuracy,
        f"({addends}) / {total} = {accuracy:.2%}; {stated:.2%} is {stated_right} of {total}",
        abs(accuracy - stated) <= _HALF,
    )


def _people_in_hebrew(published: Published) -> tuple[dict[str, int], dict[str, int]]:
    """Find the minimum of right answers and rows of each class that give its printed R and P."""
    right = {}
    rows = {}
    for name in CLASSES:
        cell = ("table2_classes", "human", "in Hebrew", name)
        recall = published(*cell, "R")
        precision = published(*cell, "P")
        for count in range(1, JUDGED):
            if not whole(recall, count, 4):
                continue
            hits = round(recall * count)
            precisions = [round(hits / answers, 4) for answers in range(1, JUDGED)]
            if precision in precisions:
                right[name] = hits
                rows[name] = count
                break
    return right, rows


def _differences(published: Published) -> Iterator[Claim]:
    """Compare the stated difference of two systems with that of their scores."""
    yield from _gains(published, "table2")
    for score in SCORES:
        claim = f"people-over-longhero-{score}".lower()
        systems = ("human", "in Hebrew"), ("LongHero", BOTH)
        yield _difference(published, claim, "table2", *systems, score, 0.33, 0.01)
    yield from _gains(published, "table4")
    systems = ("LongHero", REVERSED), ("LongHero", "HebNLI")
    yield _difference(published, "sequential-gain", "table4", *systems, "accuracy", 0.055, 0.001)


def _gains(published: Published, table: str) -> Iterator[Claim]:
    for claim, encoder, data, score, stated, unit in GAINS[table]:
        systems = (encoder, data), (encoder, "nothing")
        yield _difference(published, claim, table, *systems, score, stated, unit)


def _difference(
    published: Published,
    claim: str,
    table: str,
    system: tuple[str, str],
    reference: tuple[str, str],
    score: str,
    stated: float,
    unit: float,
) -> Claim:
    """Compare a stated difference of two systems with that of their scores, as rounded.

    Args:
        published: the paper's numbers.
        claim: name of the claim.
        table: name of the table with both scores.
        system: the row of the system that is compared.
        reference: the row of the other system.
        score: the column of both scores.
        stated: the difference in the text, a fraction.
        unit: to which the stated difference is rounded.
    """
    system_score = published(table, *system, score)
    reference_score = published(table, *reference, score)
    difference = system_score - reference_score
    names = ", ".join(system)
    reference_names = ", ".join(reference)
    return Claim(
        claim,
        f"section 4, Table {table[-1]}",
        f"{score} {100 * stated:+.3g} points, {names} against {reference_names}",
        difference,
        f"{system_score:.2%} - {reference_score:.2%} = {100 * difference:+.2f} points",
        abs(difference - stated) <= unit / 2 + 1e-9,
    )


def _prose(published: Published) -> Iterator[Claim]:
    best = published("table2", "LongHero", BOTH, "accuracy")
    hebrew = published("table2", "human", "in Hebrew", "accuracy")
    english = published("table2", "human", "in English", "accuracy")
    gap = hebrew - best
    english_gap = english - best

    yield Claim(
        "below-human",
        "abstract",
        "35 % below people's accuracy",
        gap,
        f"{hebrew:.2%} - {best:.2%} = {gap:.2%} against people in Hebrew; in English "
        f"{english:.2%} - {best:.2%} = {english_gap:.2%}",
        abs(gap - 0.35) <= 0.005,
    )

    base = published("table2", "LongHero", "nothing", "accuracy")
    increase = best / base - 1

    yield Claim(
        "relative-gain",
        "section 4",
        "52 % accuracy is a relative increase of 35 %",
        increase,
        f"{best:.2%} / {base:.2%} - 1 = {increase:.0%}",
        abs(increase - 0.35) <= 0.005,
    )

    gaps = {}
    for encoder in ENCODERS:
        for score in SCORES:
            on_hebnli = published("table4", encoder, REVERSED, score, printed=True)
            on_lchaim = published("table2", encoder, BOTH, score)
            gaps[f"{encoder} {score}"] = on_hebnli - on_lchaim
    gap = gaps["LongHero accuracy"]

    yield Claim(
        "hebnli-over-lchaim",
        "section 4",
        "accuracy 31.76 % higher on HebNLI's test set than on LCHAIM's",
        gap,
        f"{best + gap:.2%} - {best:.2%} = {gap:.2%}",
        abs(gap - 0.3176) <= _HALF,
    )

    smallest = min(gaps.values())

    yield Claim(
        "hebnli-range",
        "section 6",
        "after both data sets 25 to 30 % higher accuracy and F1 on HebNLI's test set",
        smallest,
        ", ".join(f"{name} {gap:.1%}" for name, gap in gaps.items()),
        smallest >= 0.25 and max(gaps.values()) <= 0.30,
    )

    all_of_table2 = published.names("table2", "LongHero")[-1]
    all_of_table4 = published.names("table4", "LongHero")[-1]

    yield Claim(
        "all-is-one-system",
        "Tables 2 and 4, captions",
        "-ALL names one way of training",
        None,
        f"Table 2: {all_of_table2}; Table 4: {all_of_table4}",
        all_of_table2 == all_of_table4,
    )


def _shots(published: Published) -> Iterator[Claim]:
    """Recompute the claims about language models with 0 to 3 examples (Table 3)."""
    human = published("table2", "human", "in Hebrew", "accuracy")
    accuracies = _shot_accuracies(published, "GPT-4o")
    best = max(accuracies.values())
    zero = accuracies["HebNLI", "0"]
    gap = human - best
    zero_gap = human - zero

    yield Claim(
        "model-gap",
        "section 4",
        "people 27.29 % above the best language model",
        gap,
        f"{human:.2%} - {best:.2%} = {gap:.2%}; without examples {human:.2%} - {zero:.2%} = "
        f"{zero_gap:.2%}",
        abs(gap - 0.2729) <= _HALF,
    )

    for name, model in (("gemma", "Gemma-9B"), ("dicta", "DictaLM-2.0-7B")):
        accuracies = _shot_accuracies(published, model)
        zero = accuracies["HebNLI", "0"]
        with_examples = [key for key in accuracies if key[1] != "0"]
        best_shots = max(with_examples, key=accuracies.__getitem__)
        pool, shots = best_shots
        best = accuracies[best_shots]
        gain = best - zero

        yield Claim(
            f"few-shot-{name}",
            "section 6, Table 3",
            f"{model} does not improve with examples",
            gain,
            f"best: {shots} of {pool}, {best:.2%} - {zero:.2%} = {100 * gain:+.2f} points",
            gain <= 0,
        )

    rows = sum(LCHAIM_TEST.values())
    for model in ("Gemma-9B", "DictaLM-2.0-7B", "GPT-4o"):
        different = set(_shot_accuracies(published, model).values())
        fit = sum(whole(accuracy, rows, 4) for accuracy in different)

        yield Claim(
            f"shots-{model.lower()}",
            "Table 3",
            f"accuracies of {rows} rows",
            fit,
            f"{fit} of {len(different)} different accuracies are a whole number of {rows} rows",
            fit == len(different),
        )


def _shot_accuracies(published: Published, model: str) -> dict[tuple[str, str], float]:
    """Read a model's accuracies by the pool of the examples and their number, 0 to 3."""
    accuracies = {}
    for pool in POOLS:
        for shots in "0123":
            accuracies[pool, shots] = published("table3", model, pool, shots, "accuracy")
    return accuracies
