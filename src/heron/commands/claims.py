"""`heron claims`: what the papers say, recomputed from the numbers that they print."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heron.base.files import write_file, write_json
from heron.base.table_files import to_markdown
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import OneOf
from heron.config.options import parse_options
from heron.reproduction.claims import FAILS, HOLDS, OPEN, claims_table, record
from heron.reproduction.registries import CLAIMS

VERDICTS = {"holds": HOLDS, "failed": FAILS, "open": OPEN}


@dataclass
class ClaimsOptions:
    """Options of `heron claims`."""

    paper: str = ""  # empty: all
    only: Annotated[str, OneOf("", *VERDICTS)] = ""
    out: Path | None = None  # a folder for `claims.md` and `claims.json`


def run(arguments: Sequence[str]) -> int:
    """Print the claims of one paper or of all; returns the exit code."""
    words = [word if "=" in word else f"paper={word}" for word in arguments]
    options = parse_options(ClaimsOptions, words)
    papers = [options.paper] if options.paper else sorted(CLAIMS)
    found = {paper: list(CLAIMS[paper]()) for paper in papers}
    verdict = VERDICTS.get(options.only)
    chosen = {
        paper: [each for each in claims if verdict in (None, each.verdict)]
        for paper, claims in found.items()
    }
    tables = [claims_table(paper, claims) for paper, claims in chosen.items()]
    print_tables(tables)
    if options.out:
        text = "\n".join(map(to_markdown, tables))
        print_lines(write_file(options.out / "claims.md", text))
        path = options.out / "claims.json"
        write_json(path, {paper: list(map(record, claims)) for paper, claims in chosen.items()})
        print_lines(path)
    return 0
