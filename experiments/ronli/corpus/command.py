"""`heron build ronli`: options, counts and the YAML of the result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from heron.base.cells import Cell, Row, Table
from heron.base.errors import ConfigError, DataError
from heron.base.files import read_yaml
from heron.base.tables import as_columns, write_table
from heron.base.terminal import print_lines, print_tables, say
from heron.config.constraints import Count, Fraction, Natural, OneOf, Seed
from heron.config.parsing import parse_options
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language

from .building import BuildCounts, BuildSettings, Phrase, build, read_namespaces
from .texts import NEUTRAL, PairRules

ENGLISH = ("file", "image", "category")  # names of namespaces in every wiki


@dataclass
class BuildRonliOptions:
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
    options = parse_options(BuildRonliOptions, arguments)
    wording = _wording(options.language)
    if len(options.shares) != len(SPLITS) or abs(sum(options.shares) - 1) > 1e-9:
        raise ConfigError(f"shares={options.shares}: three that add up to 1")

    phrases = _read_phrases(options.phrases)
    if not options.dump.is_file():
        raise DataError(str(options.dump), "missing", "from dumps.wikimedia.org")

    wording["files"] = [*wording["files"], *ENGLISH, *read_namespaces(options.dump)]

    repo = options.protocol == "repo"
    rules = PairRules(
        phrases=phrases,
        wording=wording,
        anywhere=repo,
        lower=options.protocol != "fixed",
        characters=options.characters,
        short_links=repo,
    )
    plan = BuildSettings(
        dump=options.dump,
        rules=rules,
        neutral=options.neutral,
        most_neutral=options.most_neutral,
        shares=options.shares,
        seed=options.seed,
    )

    built = build(plan, options.out, options.workers, options.progress)
    if not any(built.pairs[f"found {label}"] for label in phrases):
        fix = "write phrases as in the sentences: case matters"
        raise DataError(str(options.phrases), "no pair of sentences has a phrase", fix)

    labels = [*phrases, NEUTRAL]
    by_phrase = _phrase_table(phrases, built)
    by_class = _pair_table(labels, built.pairs)
    print_tables([by_phrase, by_class])

    phrase_file = options.out / "phrases.csv"
    columns = as_columns(by_phrase.columns, by_phrase.rows)
    write_table(phrase_file, columns)
    print_lines(phrase_file)

    files = {}
    for split in SPLITS:
        path = options.out / f"{split}.jsonl"
        rows = sum(built.pairs[f"{split} {label}"] for label in labels)
        files[split] = path, rows
        print_lines(path)

    settings = _settings(options, labels)
    config = write_config(options.out, options.name, files, settings)
    print_lines(config)
    return 0


def _pair_table(labels: Sequence[str], counts: Counter[str]) -> Table:
    """Lay out the pairs of each class; other counts, such as of pages, are its note."""
    columns = ("found", *SPLITS)
    rows: list[Row] = []
    for label in labels:
        cells: list[Cell] = [label]
        for column in columns:
            cells.append(counts[f"{column} {label}"])
        rows.append(tuple(cells))

    others = []
    for name, count in counts.items():
        first_word, *_ = name.split()
        if first_word not in columns:
            others.append(f"{name}: {count:,}")
    note = "; ".join(others)

    return Table("Pairs", ("class", *columns), rows, note)


def _phrase_table(phrases: Mapping[str, Sequence[str]], built: BuildCounts) -> Table:
    """Count the sentences of each phrase, as Tables 7 to 9 do; the most frequent first."""
    rows: list[Row] = []
    for label, texts in phrases.items():
        phrases_of_class = [Phrase(label, text) for text in dict.fromkeys(texts)]
        phrases_of_class.sort(key=lambda phrase: -built.sentences[phrase])
        for phrase in phrases_of_class:
            rows.append((*phrase, built.sentences[phrase], built.kept[phrase]))
    columns = ("class", "phrase", "sentences", "pairs")
    note = (
        "sentences: that a phrase begins, as in Tables 7 to 9; pairs: those of them that are used"
    )
    return Table("Linking phrases", columns, rows, note)


def _wording(code: str) -> dict[str, Sequence[str]]:
    """Find names of skipped sections, and abbreviations: in wording.yaml or the language's YAML."""
    known = read_yaml(Path(__file__).parent / "wording.yaml")
    wording = known.get(code)
    path = get_language(code).wording
    if not wording and path:
        wording = read_yaml(path).get("wikipedia")
    if not wording:
        wording = {}
        say(
            f"language={code}: no names of sections and abbreviations are known, so no section is "
            "left out; `wikipedia:` in the language's YAML may name them, as "
            "experiments/ronli/corpus/wording.yaml does"
        )
    return {name: [] for name in known["en"]} | wording


def _read_phrases(path: Path) -> dict[str, list[str]]:
    """Read the linking phrases of each class."""
    phrases: dict[str, list[str]] = {}
    try:
        for label, texts in json.loads(path.read_text("utf-8")).items():
            assert isinstance(texts, list)
            phrases[label] = [text.strip() for text in texts]
            assert all(phrases[label])
    except (OSError, ValueError, AssertionError, AttributeError) as error:
        fix = 'JSON: {"contrastive": ["phrase", ...], "entailment": [...]}'
        raise DataError(str(path), f"no list of phrases: {error}", fix) from error
    return phrases


def _settings(options: BuildRonliOptions, labels: Sequence[str]) -> dict[str, Any]:
    """Lay out the YAML by which `heron train` reads the corpus."""
    return {
        "title": f"sentence pairs labelled by linking phrases ({options.protocol})",
        "licence": "that of the dump (Wikipedia, CC BY-SA 4.0)",
        "citation": "none yet",
        "language": options.language,
        "task": "nli",
        "format": "pair_table",
        "label_order": list(labels),
        "columns": {
            "text": "sentence1",
            "text_pair": "sentence2",
            "label": "label",
            "guid": "guid",
            "group": "article",
        },
    }
