"""`heron build translate`: machine-translates and checks a corpus of sentence pairs.

Source: LCHAIM, sections 2.1 and 2.2: translate, back-translate, compare originals with their
back-translations by a sentence encoder, drop rows below .75, compare a classifier's predictions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Interval as Bounds
from statsmodels.stats.proportion import proportion_confint

from heron.base.cells import Cell, Interval, Table, summarize, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file
from heron.base.libraries import silence_libraries
from heron.base.tables import write_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Seed, field_types
from heron.config.parsing import parse_options
from heron.data.config import TEST, TRAIN
from heron.data.examples import Example
from heron.data.overrides import write_config
from heron.data.readers import load_with_report
from heron.dynamics.difficulty import cosine
from heron.languages import LANGUAGES
from heron.models.feature_cache import APART, pool_texts
from heron.tasks.config import Config
from heron.training.compose import compose
from heron_tools.prompting.command import spelt_out
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.translation import Translator
from heron_tools.reproduction.claims import Published

from .semantics import HIDDEN, label_both

MINIMUM = 0.75
SIMILARITY = "sentence-transformers/all-MiniLM-L6-v2"  # the paper's
_SIMILARITY = ("mean", "sd", "below .75", "unique")  # columns in published.yaml
PAPER_NOTE = "In the paper: all of ConTRoL, Amazon Translate, all-MiniLM-L6-v2, below .75."
PAPERS_DATA = ("control", "control_dev")  # the paper's numbers are shown beside theirs
_TEXTS = ("text", "text_pair")
_NAMES = {"text": "premise", "text_pair": "hypothesis"}


@dataclass
class TranslateOptions:
    """Options of `heron build translate`; `translation.*` chooses the translator."""

    data: str
    to: str  # code of the language to translate to; `heron options data.language` lists them
    out: Path
    name: str = "translated"  # of the new data set
    splits: list[str] = field(default_factory=list)  # empty: all
    # minimum cosine of each text; -1: keep all
    minimum: Annotated[float, Bounds(ge=-1, le=1)] = MINIMUM
    similarity: str = SIMILARITY  # the encoder that compares texts, in the original language
    check: str | None = None  # the encoder of the semantic check; null: no check
    hidden: list[int] = field(default_factory=lambda: [*HIDDEN])  # layer sizes of its classifier
    seed: Seed = 0  # of the check's classifier


@dataclass(frozen=True, slots=True)
class Translated:
    """A row, its translation, and its back-translation."""

    original: Example
    there: Example
    back: Example
    similarity: Mapping[str, float]  # cosine of original and back-translation, by text

    def keeps(self, minimum: float) -> bool:
        """Tell whether both back-translations are similar enough."""
        return min(self.similarity.values()) >= minimum


def run(arguments: Sequence[str]) -> int:
    """Translate, check and write a data set; returns the exit code."""
    begin()
    silence_libraries()
    options, more = _options(arguments)
    if options.to not in LANGUAGES:
        raise ConfigError(f"to={options.to}: no such language.{nearest(options.to, LANGUAGES)}")
    words = [f"data={options.data}", *more]
    # `model` is a placeholder: prompting needs one, but nothing is prompted here.
    asked = [f"translation.{side}={options.to}" for side in ("input", "output")]
    prompting = compose(spelt_out([*words, *asked, "model=gpt-4o"]))
    if prompting.task.name != "nli":
        raise ConfigError(f"data={options.data}: no sentence pairs (task=nli) to translate")
    translator = Translator(prompting, prompting.prompting)
    parts = field_types(PromptingConfig)  # keys of the translator
    words = [word for word in words if re.split("[.=]", word)[0] not in parts]
    words += ["head=mlp3", "trainer.select=last", "trainer.patience=null"]  # nothing is trained
    reading = compose([*words, f"encoder={options.similarity}"])
    checking = compose([*words, f"encoder={options.check}"]) if options.check else None
    source = reading.data.language
    if source == options.to:
        raise ConfigError(f"to={options.to}: {options.data} is in this language")

    data, cache = Path(reading.paths.data), Path(reading.paths.cache)
    splits = load_with_report(reading.data, data, cache).examples
    if wrong := [name for name in options.splits if name not in splits]:
        raise ConfigError(f"splits={wrong[0]}: no such split.{nearest(wrong[0], splits)}")
    splits = {name: splits[name] for name in options.splits or splits}
    if checking and (TRAIN not in splits or len(splits) == 1):
        raise ConfigError(f"check={options.check}: needs the split train, and another one to check")
    rows = {
        split: _translate(examples, translator, reading, source, options.to)
        for split, examples in splits.items()
    }
    tables = [similarity_table(rows, options)]
    if checking is not None:
        tables.append(check_table(rows, checking, options))
    print_tables(tables)
    page = write_file(options.out / "translation.md", "\n\n".join(map(to_markdown, tables)))
    print_lines(*_write(rows, reading, options), page)
    return 0


def _options(arguments: Sequence[str]) -> tuple[TranslateOptions, list[str]]:
    own = [word for word in arguments if word.partition("=")[0] in field_types(TranslateOptions)]
    return parse_options(TranslateOptions, own), [word for word in arguments if word not in own]


def _translate(
    examples: Sequence[Example], translator: Translator, reading: Config, source: str, to: str
) -> list[Translated]:
    """Translate and back-translate a split's rows, each text once; compute similarities."""
    there = _both(examples, translator, source, to)
    back = _both(there, translator, to, source)
    found = {name: _similarity(name, examples, back, reading) for name in _TEXTS}
    return [
        Translated(one, two, three, {name: found[name][one.guid] for name in _TEXTS})
        for one, two, three in zip(examples, there, back, strict=True)
    ]


def _both(
    examples: Sequence[Example], translator: Translator, source: str, to: str
) -> list[Example]:
    texts = translator.translate([example.text for example in examples], source, to)
    pairs = translator.translate([example.text_pair or "" for example in examples], source, to)
    return [
        replace(example, text=text, text_pair=pair, spans=())
        for example, text, pair in zip(examples, texts, pairs, strict=True)
    ]


def _similarity(
    name: str, examples: Sequence[Example], back: Sequence[Example], reading: Config
) -> dict[str, float]:
    """Compare texts with their back-translations: cosine of mean vectors, by guid."""
    pairs = [
        replace(one, text=getattr(one, name), text_pair=getattr(two, name), side={})
        for one, two in zip(examples, back, strict=True)
    ]
    guids, vectors = pool_texts(reading, APART, {TRAIN: pairs})
    return dict(zip(guids[TRAIN], cosine(vectors[TRAIN]).tolist(), strict=True))


def similarity_table(rows: Mapping[str, Sequence[Translated]], options: TranslateOptions) -> Table:
    """Show the similarity of each split's unique texts, and the rows that are kept."""
    minimum = options.minimum
    lines: list[tuple[Cell, ...]] = []
    for split, of_split in rows.items():
        kept = sum(row.keeps(minimum) for row in of_split)
        for name in _TEXTS:
            unique = {getattr(row.original, name): row.similarity[name] for row in of_split}
            below = sum(value < minimum for value in unique.values())
            shown = summarize(unique.values())
            lines.append((split, _NAMES[name], shown, below, kept, len(of_split)))
    note = f"below: unique texts below {minimum}. Rows with such a text are dropped."
    if options.data in PAPERS_DATA:
        for name, similarity, below, _ in paper_similarity():
            lines.append(("in the paper", name, similarity, below, None, None))
        note += f" {PAPER_NOTE}"
    columns = ("split", "text", "similarity ± sd (unique texts)", "below", "rows kept", "rows")
    return Table("Similarity of texts and their back-translations", columns, tuple(lines), note)


def paper_similarity() -> list[tuple[str, str, int, int]]:
    """Read the paper's row of each text: its name, similarity, texts below .75, unique texts."""
    published = Published("lchaim")
    rows = []
    for name in _NAMES.values():
        mean, sd, below, unique = (published("similarity", name, column) for column in _SIMILARITY)
        rows.append((name, f"{mean:.4f} ± {sd:.4f}", int(below), int(unique)))
    return rows


def check_table(
    rows: Mapping[str, Sequence[Translated]], config: Config, options: TranslateOptions
) -> Table:
    """Compare a classifier's labels for rows and for their back-translations.

    The classifier is trained on the originals of the train split. Only kept rows of the other
    splits are compared.
    """
    train = [row.original for row in rows[TRAIN]]
    lines: list[tuple[Cell, ...]] = []
    for split, of_split in rows.items():
        kept = [row for row in of_split if row.keeps(options.minimum)]
        if split == TRAIN or not kept:
            continue
        originals, backs = [row.original for row in kept], [row.back for row in kept]
        labelled = label_both(train, originals, backs, config, options.hidden, options.seed)
        same, *right = (of_rows.mean() for of_rows in labelled.scores().values())
        low, high = proportion_confint(round(same * len(kept)), len(kept), method="wilson")
        interval = Interval(float(same), float(low), float(high))
        lines.append((split, len(kept), interval, *map(float, right)))
    note = f"{options.check}, perceptron {options.hidden} trained on the originals of train."
    if options.data in PAPERS_DATA:
        same = Published("lchaim")("semantics", TEST, "same label")
        lines.append((f"{TEST}, in the paper", None, same, None, None))
    columns = ("split", "rows", "same label [95 %]", "accuracy, original", "accuracy, back")
    return Table("Labels of rows and of their back-translations", columns, tuple(lines), note)


def _write(
    rows: Mapping[str, Sequence[Translated]], reading: Config, options: TranslateOptions
) -> list[Path]:
    """Write the kept rows as a data set, and all rows with their back-translations."""
    data, paths, files = reading.data, [], {}
    for split, found in rows.items():
        kept = [row for row in found if row.keeps(options.minimum)]
        files[split] = options.out / f"{split}.csv", len(kept)
        paths.append(options.out / f"{split}.csv")
        write_table(paths[-1], {"guid": [row.original.guid for row in kept], **_columns(kept)})
        paths.append(options.out / f"{split}.checked.csv")
        checked = {
            "guid": [row.original.guid for row in found],
            **_columns(found),
            **{f"back_{_NAMES[t]}": [getattr(row.back, t) for row in found] for t in _TEXTS},
            **{f"similarity_{_NAMES[t]}": [row.similarity[t] for row in found] for t in _TEXTS},
            "kept": [row.keeps(options.minimum) for row in found],
        }
        write_table(paths[-1], checked)
    settings = {
        "title": f"{data.title or data.name}, machine-translated from {data.language}",
        "language": options.to,
        "task": "nli",
        "format": "pair_table",
        "licence": data.licence,
        "citation": data.citation,
        "label_order": list(data.label_order),
        "columns": {
            **{name: _NAMES[name] for name in _TEXTS},
            **{name: name for name in ("label", "guid", "group")},
            "side": [f"original_{_NAMES[name]}" for name in _TEXTS],
        },
    }
    return [*paths, write_config(options.out, options.name, files, settings)]


def _columns(rows: Sequence[Translated]) -> dict[str, list[Any]]:
    return {
        **{_NAMES[name]: [getattr(row.there, name) for row in rows] for name in _TEXTS},
        "label": [row.original.label for row in rows],
        "group": [row.original.group or row.original.guid for row in rows],
        **{f"original_{_NAMES[t]}": [getattr(row.original, t) for row in rows] for t in _TEXTS},
    }
