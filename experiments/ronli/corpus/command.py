"""`heron build ronli`: options, counts and the YAML of the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError
from heron.base.files import read_yaml
from heron.base.tables import write_table
from heron.base.terminal import print_lines, print_tables, say
from heron.config.constraints import Count, Fraction, Natural, OneOf, Seed
from heron.config.parsing import parse_options
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language

from .building import BuildCounts, Phrase, Plan, build, read_namespaces
from .texts import NEUTRAL, Rules

ENGLISH = ("file", "image", "category")  # names of namespaces in every wiki


@dataclass
class BuildOptions:
    """Options of `heron build ronli`."""

    dump: Path  # pages-articles.xml, also .bz2 or .gz
    phrases: Path  # JSON: phrases by class
    out: Path
    language: str = "ro"  # `wording.yaml` has its names of sections and its abbreviations
    # fixed: as paper, but only the first letter after a phrase is changed; repo: the released code
    protocol: Annotated[str, OneOf("fixed", "paper", "repo")] = "fixed"
    # whether the sentences of a neutral pair come from one article or two
    neutral: Annotated[str, OneOf("other_article", "same_article")] = "other_article"
    most_neutral: Natural = 0  # neutral pairs; 0: as many as linked ones
    characters: Natural = 50  # minimum per sentence
    shares: list[Fraction] = field(default_factory=lambda: [0.9, 0.05, 0.05])  # of the articles
    name: str = "pairs"  # of the data set
    workers: Count = 2
    seed: Seed = 0
    progress: bool | None = None  # none: on terminals


def run(arguments: Sequence[str]) -> int:
    """Build a corpus; returns the exit code."""
    options = parse_options(BuildOptions, arguments)
    wording = _wording(options.language)
    if len(options.shares) != len(SPLITS) or abs(sum(options.shares) - 1) > 1e-9:
        raise ConfigError(f"shares={options.shares}: three that add up to 1")
    phrases = _read_phrases(options.phrases)
    repo = options.protocol == "repo"
    if not options.dump.is_file():
        raise DataError(str(options.dump), "missing", "from dumps.wikimedia.org")
    wording["files"] = [*wording["files"], *ENGLISH, *read_namespaces(options.dump)]
    rules = Rules(phrases, wording, repo, options.protocol != "fixed", options.characters, repo)
    plan = Plan(
        options.dump, rules, options.neutral, options.most_neutral, options.shares, options.seed
    )
    built = build(plan, options.out, options.workers, options.progress)
    counts = built.pairs
    if not any(counts[f"found {label}"] for label in phrases):
        fix = "write phrases as in the sentences: case matters"
        raise DataError(str(options.phrases), "no pair of sentences has a phrase", fix)
    labels = [*phrases, NEUTRAL]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, counts[f"found {label}"], *(counts[f"{split} {label}"] for split in SPLITS))
        for label in labels
    )
    others = [(name, n) for name, n in counts.items() if name.split()[0] not in ("found", *SPLITS)]
    note = "; ".join(f"{name}: {n:,}" for name, n in others)
    by_phrase = _phrase_table(phrases, built)
    print_tables([by_phrase, Table("Pairs", ("class", "found", *SPLITS), rows, note)])
    columns = zip(by_phrase.columns, zip(*by_phrase.rows, strict=True), strict=True)
    write_table(options.out / "phrases.csv", {name: [*cells] for name, cells in columns})
    files = {
        split: (options.out / f"{split}.jsonl", sum(counts[f"{split} {label}"] for label in labels))
        for split in SPLITS
    }
    print_lines(options.out / "phrases.csv", *(path for path, _ in files.values()))
    print_lines(write_config(options.out, options.name, files, _settings(options, labels)))
    return 0


def _phrase_table(phrases: Mapping[str, Sequence[str]], built: BuildCounts) -> Table:
    """Count the sentences of each phrase, as Tables 7 to 9 do; the most frequent first."""
    rows: list[tuple[Cell, ...]] = []
    for label, texts in phrases.items():
        listed = [Phrase(label, text) for text in dict.fromkeys(texts)]
        for phrase in sorted(listed, key=lambda phrase: -built.sentences[phrase]):
            rows.append((*phrase, built.sentences[phrase], built.kept[phrase]))
    note = (
        "sentences: that a phrase begins, as in Tables 7 to 9; pairs: those of them that are used"
    )
    return Table("Linking phrases", ("class", "phrase", "sentences", "pairs"), tuple(rows), note)


def _wording(code: str) -> dict[str, Sequence[str]]:
    """Find names of skipped sections, and abbreviations: in wording.yaml or the language's YAML."""
    known = read_yaml(Path(__file__).parent / "wording.yaml")
    path = get_language(code).wording
    found = known.get(code) or (read_yaml(path) if path else {}).get("wikipedia")
    if not found:
        say(
            f"language={code}: no names of sections and abbreviations are known, so no section is "
            "left out; `wikipedia:` in the language's YAML may name them, as "
            "experiments/ronli/corpus/wording.yaml does"
        )
    return {name: [] for name in known["en"]} | (found or {})


def _read_phrases(path: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(path.read_text("utf-8"))
        assert isinstance(found, dict)
        assert all(isinstance(listed, list) for listed in found.values())
        assert all(isinstance(p, str) and p.strip() for of in found.values() for p in of)
    except (OSError, ValueError, AssertionError, TypeError) as error:
        fix = 'JSON: {"contrastive": ["phrase", ...], "entailment": [...]}'
        raise DataError(str(path), f"no list of phrases: {error}", fix) from error
    return {label: [p.strip() for p in listed] for label, listed in found.items()}


def _settings(options: BuildOptions, labels: Sequence[str]) -> dict[str, Any]:
    columns = {"text": "sentence1", "text_pair": "sentence2", "label": "label"}
    return {
        "title": f"sentence pairs labelled by linking phrases ({options.protocol})",
        "licence": "that of the dump (Wikipedia, CC BY-SA 4.0)",
        "citation": "none yet",
        "language": options.language,
        "task": "nli",
        "format": "pair_table",
        "label_order": list(labels),
        "columns": {**columns, "guid": "guid", "group": "article"},
    }
