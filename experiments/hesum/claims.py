"""HeSum's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scipy import stats

from heron_tools.reproduction.claims import Claim, Published

SPLITS = ("train", "validation", "test")
# Section 4.2: correlation of ROUGE and human ratings, over three summaries of each article.
PEARSON = -0.16
P_VALUE = 2.39e-5
RATED = 62  # articles
SUMMARIES = 186
SHARES = {"repetition": 0.0333, "copy from article": 0.1333}  # errors among 30 summaries of mLongT5

XSUM = {"Table 2": 0.9040, "Table 5": 0.9090}  # compression (CMP) of XSum
TABLE8 = {"ROUGE-1": 0.1747, "ROUGE-2": 0.0756, "ROUGE-L": 0.1468}  # the row of mLongT5
DROPPED = {"section 3.1": 9, "limitations": 10}  # tokens of the longest summary left out
NOVEL = ("novel_1", "novel_2", "novel_3", "novel_4")  # columns of Table 2: new n-grams
GPT = ("GPT-4", "GPT-3.5")
# Rows of Table 8: languages of prompt, article and summary, English or Hebrew.
LANGUAGES = ("E E E", "E E H", "E H H", "E H E", "H H H", "H H E", "H E H")


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    number = Published("hesum")
    rows = {split: number("table1", split, "rows") for split in SPLITS}
    total = sum(rows.values())
    counts = " + ".join(f"{count:,.0f}" for count in rows.values())

    yield Claim(
        "rows",
        "section 1, Table 1",
        "10,000 pairs",
        total,
        f"{counts} = {total:,.0f}",
        total == 10_000,
    )
    yield from _compression(number, rows)
    yield from _abstractness(number)
    yield from _shortest_summary()
    yield from _correlation()
    yield from _languages(number)
    yield from _runs(number)


def _compression(number: Published, rows: Mapping[str, float]) -> Iterator[Claim]:
    """Recompute compression (CMP) and redundancy (RED)."""
    weighted = 0.0
    for split in SPLITS:
        summary = number("table1", split, "summary_length")
        article = number("table1", split, "article_length")
        weighted += (1 - summary / article) * rows[split]
    compression = weighted / sum(rows.values())
    ratio = 1 - compression
    printed = number("table5", "HeSum", "compression")

    yield Claim(
        "compression",
        "section 3.3, Tables 1 and 2",
        f"CMP {printed:.2%}",
        compression,
        f"1 - summary / article of Table 1's mean lengths: {compression:.2%}; {printed:.2%} can "
        "only be a mean over documents, which Table 1 does not give",
        None,
    )

    yield Claim(
        "compression-formula",
        "section 3.3",
        f"CMP is |S| / |A| in the text, 1 - |S| / |A| in the formula; HeSum has {printed:.2%}",
        ratio,
        f"by Table 1's mean lengths |S| / |A| = {ratio:.2%} and 1 - |S| / |A| = "
        f"{compression:.2%}: printed is the formula's",
        abs(ratio - printed) < abs(compression - printed),
    )

    shares = "; ".join(f"{share:.2%} in {table}" for table, share in XSUM.items())
    other = number("table5", "CNN/Daily Mail", "compression")

    yield Claim(
        "compression-xsum",
        "Tables 2 and 5",
        "XSum's CMP",
        XSUM["Table 5"] - XSUM["Table 2"],
        f"{shares}; CNN/Daily Mail has {other:.2%} in both",
        XSUM["Table 5"] == XSUM["Table 2"],
    )

    length = 1 - printed
    redundancy = number("table5", "HeSum", "redundancy_1")
    larger = max(length, redundancy)

    yield Claim(
        "less-than-5-percent",
        "section 3.3, Table 2",
        "summaries of less than 5 % of the article, less than 5 % repeated n-grams",
        larger,
        f"1 - {printed:.2%} = {length:.2%}; RED {redundancy:.2%}",
        larger < 0.05,
    )


def _abstractness(number: Published) -> Iterator[Claim]:
    """Recompute the shares of new n-grams."""
    hesum = [number("table5", "HeSum", column) for column in NOVEL]
    shares = {"HeSum": hesum}
    highest = list(hesum)  # of the three data sets
    for name in ("XSum", "CNN/Daily Mail"):
        shares[name] = [number("table5", name, column) for column in NOVEL]
        highest = list(map(max, highest, shares[name]))

    wins = 0
    for share, best in zip(hesum, highest, strict=True):
        if share == best:
            wins += 1

    rows = []
    for name, novel in shares.items():
        percents = ", ".join(f"{share:.1%}" for share in novel)
        rows.append(f"{name} {percents}")
    listed = "; ".join(rows)

    yield Claim(
        "most-abstractive",
        "sections 1 and 3.3, Table 2",
        "more abstractive than the English benchmarks",
        wins,
        f"new 1- to 4-grams: {listed}; HeSum has most in {wins} of {len(NOVEL)} columns",
        wins == len(NOVEL),
    )

    words, bigrams = hesum[:2]

    yield Claim(
        "novel-words",
        "section 3.3, Table 2",
        "about half of the unique vocabulary is new",
        words,
        f"Table 2: {words:.0%} of the words",
        abs(words - 0.5) <= 0.05,
    )

    yield Claim(
        "novel-bigrams",
        "section 3.3, Table 2",
        "over 73 % of bigrams are new",
        bigrams,
        f"Table 2: {bigrams:.1%}",
        bigrams > 0.73,
    )


def _shortest_summary() -> Iterator[Claim]:
    """Compare the two sentences on the length below which summaries are dropped."""
    shortest = {section: longest + 1 for section, longest in DROPPED.items()}
    lengths = ", ".join(f"{tokens} tokens by {section}" for section, tokens in shortest.items())
    difference = max(shortest.values()) - min(shortest.values())

    yield Claim(
        "shortest-summary",
        "section 3.1, appendix A and limitations",
        "summaries of fewer than 10 tokens are dropped; or of 10 or fewer",
        difference,
        f"the shortest summary has {lengths}",
        difference == 0,
    )


def _p_value(n: int) -> float:
    """Compute the two-sided p of the published Pearson's r over n values."""
    t = PEARSON * ((n - 2) / (1 - PEARSON**2)) ** 0.5
    return float(2 * stats.t.sf(abs(t), n - 2))


def _correlation() -> Iterator[Claim]:
    """Recompute the p-value of the correlation of ROUGE and human scores."""
    p = _p_value(SUMMARIES)
    needed = SUMMARIES
    while _p_value(needed) >= P_VALUE:
        needed += 1

    yield Claim(
        "correlation",
        "section 4.2",
        "r = -.16 with p < 2.39e-5",
        p,
        f"{SUMMARIES} summaries ({RATED} articles, three systems) give p = {p:.3f}; "
        f"p < 2.39e-5 needs about {needed} values, such as every rating on its own",
        p < P_VALUE,
    )


def _languages(number: Published) -> Iterator[Claim]:
    """Recompute which languages of prompt, article and summary are best."""
    cells = {name: number("table8", *name.split(), "ROUGE-1") for name in LANGUAGES}
    best = max(LANGUAGES, key=cells.__getitem__)

    yield Claim(
        "best-languages",
        "appendix B, Table 8",
        "English prompt, article and summary are best",
        cells[best],
        f"ROUGE-1 {cells[best]:.4f} of {best} (prompt, article, summary) is highest; E E E has "
        f"{cells['E E E']:.4f}",
        best == "E E E",
    )

    yield Claim(
        "languages-combinations",
        "appendix B, Table 8",
        "all combinations of two languages in three places",
        len(cells),
        f"{len(cells)} of 8; H E E is missing",
        len(cells) == 8,
    )

    used = cells["E E H"]

    yield Claim(
        "used-languages",
        "section 4.1, Table 8",
        "instruction and article in English, summaries strictly in Hebrew, the best on validation",
        used,
        f"E E H has ROUGE-1 {used:.4f}, the lowest of the {len(cells)} combinations",
        used == cells[best],
    )


def _runs(number: Published) -> Iterator[Claim]:
    """Recompute the scores and error counts of systems."""
    printed = list(TABLE8.values())
    test = [number("table3", "mLongT5 base", score) for score in TABLE8]
    validation = [number("table6", "mLongT5 base", score) for score in TABLE8]

    yield Claim(
        "mlongt5-validation",
        "appendix B, Table 8",
        "mLongT5's row is of validation",
        validation[0] - printed[0],
        f"ROUGE-1, -2, -L: {_four_digits(printed)}; Table 3, of test, {_four_digits(test)}; "
        f"Table 6, of validation, {_four_digits(validation)}",
        printed == validation,
    )

    others = 0.0
    are_shares = True
    quotients = []
    for kind, share in SHARES.items():
        others += sum(number("table4", name, kind) for name in GPT)
        count = number("table4", "mLongT5 base", kind)
        quotient = count / 30
        quotients.append(f"{count:.0f} / 30 = {quotient:.2%}")
        are_shares = are_shares and abs(quotient - share) <= 0.00005
    copied = number("table4", "mLongT5 base", "copy from article") / 30

    yield Claim(
        "error-shares",
        "section 4.2, Table 4",
        "mLongT5: repetition 3.33 %, copying 13.33 %; none of GPT's summaries",
        copied,
        f"{', '.join(quotients)}; {others:.0f} of GPT's",
        others == 0 and are_shares,
    )

    gpt = max(number("table3", name, "ROUGE-1") for name in GPT)
    coherence = {}
    for name in ("mLongT5 base", *GPT):
        coherence[name] = number("table3_people", name, "coherence")

    yield Claim(
        "rouge-against-people",
        "section 4.2, Table 3",
        "mLongT5 leads in ROUGE and trails in people's ratings",
        test[0] - gpt,
        f"ROUGE-1 {test[0]:.4f} against {gpt:.4f}; coherence {coherence['mLongT5 base']} against "
        f"{coherence['GPT-4']}",
        test[0] > gpt and coherence["mLongT5 base"] < coherence["GPT-3.5"],
    )


def _four_digits(scores: Iterable[float]) -> str:
    return ", ".join(f"{score:.4f}" for score in scores)
