"""HeSum's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import stats

from heron.reproduction.claims import Claim, Published

SPLITS = ("train", "validation", "test")
PEARSON, P_VALUE, SUMMARIES = -0.16, 2.39e-5, 186  # section 4.1
VALIDATED = 62  # articles, with three summaries each


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("hesum")
    rows = {split: n("table1", split, "rows") for split in SPLITS}
    total = sum(rows.values())
    yield Claim(
        "rows", "section 2", "10,000 pairs", total, f"8,000 + 1,000 + 1,000 = {total:,.0f}",
        total == 10_000,
    )  # fmt: skip
    yield from _statistics(n, rows)
    yield from _correlation()
    yield from _languages(n)
    yield from _runs(n)


def _statistics(n: Published, rows: dict[str, float]) -> Iterator[Claim]:
    of_means = {
        split: 1 - n("table1", split, "summary_length") / n("table1", split, "article_length")
        for split in SPLITS
    }
    found = sum(of_means[split] * rows[split] for split in SPLITS) / sum(rows.values())
    said = n("table5", "HeSum", "compression")
    yield Claim(
        "compression",
        "section 3, Tables 1 and 2",
        f"CMP {said:.2%}",
        found,
        f"1 - summary / article of Table 1's mean lengths: {found:.2%}; {said:.2%} can only be a "
        "mean over documents, which Table 1 does not give",
        None,
    )
    yield Claim(
        "compression-formula",
        "section 3",
        "CMP is |S| / |A| in the text, 1 - |S| / |A| in the formula",
        said,
        f"{said:.2%} is 1 - |S| / |A|: summaries have {1 - said:.1%} of the words",
        False,
    )
    printed = 0.9040, 0.9090  # Tables 2 and 5
    yield Claim(
        "compression-xsum",
        "Tables 2 and 5",
        "XSum's CMP",
        printed[0],
        f"{printed[0]:.2%} in Table 2, {printed[1]:.2%} in Table 5",
        False,
    )
    novel = n("table5", "HeSum", "novel_1")
    yield Claim(
        "novel-words",
        "section 3",
        "about half of the unique vocabulary is new",
        novel,
        f"Table 2: {novel:.0%} of the words",
        abs(novel - 0.5) <= 0.05,
    )
    bigrams = n("table5", "HeSum", "novel_2")
    yield Claim(
        "novel-bigrams",
        "section 3",
        "over 73 % of bigrams are new",
        bigrams,
        f"Table 2: {bigrams:.1%}",
        bigrams > 0.73,
    )
    yield Claim(
        "shortest-summary",
        "section 2 and appendix",
        "summaries of fewer than 10 tokens are dropped; or of 10 or fewer",
        None,
        "the two sentences differ by the summaries of 10 tokens",
        False,
    )


def _correlation() -> Iterator[Claim]:
    t = PEARSON * ((SUMMARIES - 2) / (1 - PEARSON**2)) ** 0.5
    p = float(2 * stats.t.sf(abs(t), SUMMARIES - 2))
    needed = next(
        rows
        for rows in range(SUMMARIES, 10_000)
        if 2 * stats.t.sf(abs(PEARSON) * ((rows - 2) / (1 - PEARSON**2)) ** 0.5, rows - 2) < P_VALUE
    )
    yield Claim(
        "correlation",
        "section 4.1",
        "r = -.16 with p < 2.39e-5",
        p,
        f"{SUMMARIES} summaries ({VALIDATED} articles, three systems) give p = {p:.3f}; "
        f"p < 2.39e-5 needs about {needed} values, such as every rating on its own",
        p < P_VALUE,
    )


def _languages(n: Published) -> Iterator[Claim]:
    cells = {
        "E E E": n("table8", "E", "E", "E", "ROUGE-1"),
        "E E H": n("table8", "E", "E", "H", "ROUGE-1"),
        "E H H": n("table8", "E", "H", "H", "ROUGE-1"),
        "E H E": n("table8", "E", "H", "E", "ROUGE-1"),
        "H H H": n("table8", "H", "H", "H", "ROUGE-1"),
        "H H E": n("table8", "H", "H", "E", "ROUGE-1"),
        "H E H": n("table8", "H", "E", "H", "ROUGE-1"),
    }
    best = max(cells, key=lambda name: cells[name])
    yield Claim(
        "best-languages",
        "appendix, Table 8",
        "English prompt, article and summary are best",
        cells[best],
        f"ROUGE-1 {cells[best]:.4f} of {best} (prompt, article, summary) is highest; E E E has "
        f"{cells['E E E']:.4f}",
        best == "E E E",
    )
    yield Claim(
        "languages-combinations",
        "appendix, Table 8",
        "all combinations of two languages in three places",
        len(cells),
        f"{len(cells)} of 8; H E E is missing",
        len(cells) == 8,
    )
    used = cells["E E H"]
    yield Claim(
        "used-languages",
        "section 4, Table 8",
        "instruction and article in English, summaries strictly in Hebrew, the best on validation",
        used,
        f"E E H has ROUGE-1 {used:.4f}, the lowest of the {len(cells)} combinations",
        used == max(cells.values()),
    )


def _runs(n: Published) -> Iterator[Claim]:
    test = n("table3", "mLongT5 base", "ROUGE-1")
    validation = n("table6", "mLongT5 base", "ROUGE-1")
    yield Claim(
        "mlongt5-validation",
        "Table 8",
        "mLongT5's row is of validation",
        test,
        f"its ROUGE-1 {test:.4f} is Table 3's, of test; validation has {validation:.4f} (Table 6)",
        False,
    )
    gpt = max(n("table3", name, "ROUGE-1") for name in ("GPT-4", "GPT-3.5"))
    yield Claim(
        "rouge-against-people",
        "section 4.1",
        "mLongT5 leads in ROUGE and trails in people's ratings",
        test - gpt,
        f"ROUGE-1 {test:.4f} against {gpt:.4f}; coherence "
        f"{n('table3_people', 'mLongT5 base', 'coherence')} against "
        f"{n('table3_people', 'GPT-4', 'coherence')}",
        test > gpt
        and n("table3_people", "mLongT5 base", "coherence")
        < n("table3_people", "GPT-3.5", "coherence"),
    )
