"""HeSum's arithmetic and prose, recomputed from its published numbers."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import stats

from heron_tools.reproduction.claims import Claim, Published

SPLITS = ("train", "validation", "test")
PEARSON, P_VALUE, SUMMARIES = -0.16, 2.39e-5, 186  # section 4.2
RATED = 62  # articles, with three summaries each
XSUM = {"Table 2": 0.9040, "Table 5": 0.9090}  # its CMP
TABLE8 = {"ROUGE-1": 0.1747, "ROUGE-2": 0.0756, "ROUGE-L": 0.1468}  # its row of mLongT5
DROPPED = {"section 3.1": 9, "limitations": 10}  # tokens of the longest summary left out
SHARES = {"repetition": 0.0333, "copy from article": 0.1333}  # of 30, section 4.2


def claims() -> Iterator[Claim]:
    """Yield the claims, recomputed."""
    n = Published("hesum")
    rows = {split: n("table1", split, "rows") for split in SPLITS}
    total = sum(rows.values())
    yield Claim(
        "rows",
        "section 1, Table 1",
        "10,000 pairs",
        total,
        f"{' + '.join(f'{count:,.0f}' for count in rows.values())} = {total:,.0f}",
        total == 10_000,
    )
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
        "section 3.3, Tables 1 and 2",
        f"CMP {said:.2%}",
        found,
        f"1 - summary / article of Table 1's mean lengths: {found:.2%}; {said:.2%} can only be a "
        "mean over documents, which Table 1 does not give",
        None,
    )
    left = 1 - found
    yield Claim(
        "compression-formula",
        "section 3.3",
        f"CMP is |S| / |A| in the text, 1 - |S| / |A| in the formula; HeSum has {said:.2%}",
        left,
        f"by Table 1's mean lengths |S| / |A| = {left:.2%} and 1 - |S| / |A| = {found:.2%}: "
        "printed is the formula's",
        abs(left - said) < abs(found - said),
    )
    listed = "; ".join(f"{share:.2%} in {table}" for table, share in XSUM.items())
    other = n("table5", "CNN/Daily Mail", "compression")
    yield Claim(
        "compression-xsum",
        "Tables 2 and 5",
        "XSum's CMP",
        XSUM["Table 5"] - XSUM["Table 2"],
        f"{listed}; CNN/Daily Mail has {other:.2%} in both",
        len({*XSUM.values()}) == 1,
    )
    redundancy = n("table5", "HeSum", "redundancy_1")
    yield Claim(
        "less-than-5-percent",
        "section 3.3, Table 2",
        "summaries of less than 5 % of the article, less than 5 % repeated n-grams",
        max(1 - said, redundancy),
        f"1 - {said:.2%} = {1 - said:.2%}; RED {redundancy:.2%}",
        max(1 - said, redundancy) < 0.05,
    )
    columns = [f"novel_{size}" for size in range(1, 5)]
    shares = {
        name: [n("table5", name, column) for column in columns]
        for name in ("HeSum", "XSum", "CNN/Daily Mail")
    }
    most = sum(
        share == max(of) for share, *of in zip(shares["HeSum"], *shares.values(), strict=True)
    )
    listed = "; ".join(
        f"{name} {', '.join(f'{share:.1%}' for share in of)}" for name, of in shares.items()
    )
    yield Claim(
        "most-abstractive",
        "sections 1 and 3.3, Table 2",
        "more abstractive than the English benchmarks",
        most,
        f"new 1- to 4-grams: {listed}; HeSum has most in {most} of {len(columns)} columns",
        most == len(columns),
    )
    novel = n("table5", "HeSum", "novel_1")
    yield Claim(
        "novel-words",
        "section 3.3, Table 2",
        "about half of the unique vocabulary is new",
        novel,
        f"Table 2: {novel:.0%} of the words",
        abs(novel - 0.5) <= 0.05,
    )
    bigrams = n("table5", "HeSum", "novel_2")
    yield Claim(
        "novel-bigrams",
        "section 3.3, Table 2",
        "over 73 % of bigrams are new",
        bigrams,
        f"Table 2: {bigrams:.1%}",
        bigrams > 0.73,
    )
    kept = {place: longest + 1 for place, longest in DROPPED.items()}
    yield Claim(
        "shortest-summary",
        "section 3.1, appendix A and limitations",
        "summaries of fewer than 10 tokens are dropped; or of 10 or fewer",
        max(kept.values()) - min(kept.values()),
        "the shortest summary has "
        + ", ".join(f"{tokens} tokens by {place}" for place, tokens in kept.items()),
        len({*kept.values()}) == 1,
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
        "section 4.2",
        "r = -.16 with p < 2.39e-5",
        p,
        f"{SUMMARIES} summaries ({RATED} articles, three systems) give p = {p:.3f}; "
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
        used == max(cells.values()),
    )


def _runs(n: Published) -> Iterator[Claim]:
    test, validation = (
        [n(table, "mLongT5 base", score) for score in TABLE8] for table in ("table3", "table6")
    )
    printed = list(TABLE8.values())
    listed = [", ".join(f"{share:.4f}" for share in of) for of in (printed, test, validation)]
    yield Claim(
        "mlongt5-validation",
        "appendix B, Table 8",
        "mLongT5's row is of validation",
        validation[0] - printed[0],
        f"ROUGE-1, -2, -L: {listed[0]}; Table 3, of test, {listed[1]}; Table 6, of validation, "
        f"{listed[2]}",
        printed == validation,
    )
    errors = {kind: n("table4", "mLongT5 base", kind) for kind in SHARES}
    others = sum(n("table4", name, kind) for name in ("GPT-4", "GPT-3.5") for kind in SHARES)
    yield Claim(
        "error-shares",
        "section 4.2, Table 4",
        "mLongT5: repetition 3.33 %, copying 13.33 %; none of GPT's summaries",
        errors["copy from article"] / 30,
        ", ".join(f"{count:.0f} / 30 = {count / 30:.2%}" for count in errors.values())
        + f"; {others:.0f} of GPT's",
        others == 0 and all(abs(errors[kind] / 30 - SHARES[kind]) <= 0.00005 for kind in SHARES),
    )
    gpt = max(n("table3", name, "ROUGE-1") for name in ("GPT-4", "GPT-3.5"))
    yield Claim(
        "rouge-against-people",
        "section 4.2, Table 3",
        "mLongT5 leads in ROUGE and trails in people's ratings",
        test[0] - gpt,
        f"ROUGE-1 {test[0]:.4f} against {gpt:.4f}; coherence "
        f"{n('table3_people', 'mLongT5 base', 'coherence')} against "
        f"{n('table3_people', 'GPT-4', 'coherence')}",
        test[0] > gpt
        and n("table3_people", "mLongT5 base", "coherence")
        < n("table3_people", "GPT-3.5", "coherence"),
    )
