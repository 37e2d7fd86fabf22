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

from heron.base.cells import Interval, Row, Table, summarize, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file
from heron.base.libraries import silence_libraries
from heron.base.tables import write_table
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Seed, field_types
from heron.config.parsing import parse_options
from heron.data.config import TEST, TRAIN, DataConfig
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
_COLUMNS = {"text": "premise", "text_pair": "hypothesis"}  # of each text of an example


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


TranslatedSplits = Mapping[str, Sequence[Translated]]


def run(arguments: Sequence[str]) -> int:
    """Translate, check and write a data set; returns the exit code."""
    begin()
    silence_libraries()

    options, words = _options(arguments)
    if options.to not in LANGUAGES:
        raise ConfigError(f"to={options.to}: no such language.{nearest(options.to, LANGUAGES)}")

    # `model` is a placeholder: prompting needs one, but nothing is prompted here.
    languages = [f"translation.input={options.to}", f"translation.output={options.to}"]
    prompting = compose(spelt_out([*words, *languages, "model=gpt-4o"]))
    if prompting.task.name != "nli":
        raise ConfigError(f"data={options.data}: no sentence pairs (task=nli) to translate")

    translator = Translator(prompting, prompting.prompting)

    # The encoders of both checks read the data as a run does, without the translator's words.
    of_translator = field_types(PromptingConfig)
    of_run = []
    for word in words:
        option, *_ = re.split("[.=]", word)
        if option not in of_translator:
            of_run.append(word)
    of_run += ["head=mlp3", "trainer.select=last", "trainer.patience=null"]  # nothing is trained

    reading = compose([*of_run, f"encoder={options.similarity}"])
    checking = None
    if options.check:
        checking = compose([*of_run, f"encoder={options.check}"])

    language = reading.data.language
    if options.to == language:
        raise ConfigError(f"to={options.to}: {options.data} is in this language")

    examples = _read_splits(reading, options)
    if checking and (TRAIN not in examples or len(examples) == 1):
        raise ConfigError(f"check={options.check}: needs the split train, and another one to check")

    splits = {}
    for split, originals in examples.items():
        there = _translate(originals, translator, language, options.to)
        back = _translate(there, translator, options.to, language)
        splits[split] = _compare_texts(originals, there, back, reading)

    tables = [similarity_table(splits, options)]
    if checking:
        tables.append(check_table(splits, checking, options))
    print_tables(tables)

    text = "\n\n".join(map(to_markdown, tables))
    page = write_file(options.out / "translation.md", text)
    paths = _write(splits, reading.data, options)
    print_lines(*paths, page)
    return 0


def _options(arguments: Sequence[str]) -> tuple[TranslateOptions, list[str]]:
    """Parse the command's own options; returns them, `data=` and the words of a run."""
    own_names = field_types(TranslateOptions)
    own = [word for word in arguments if word.partition("=")[0] in own_names]
    others = [word for word in arguments if word not in own]

    options = parse_options(TranslateOptions, own)
    return options, [f"data={options.data}", *others]


def _read_splits(config: Config, options: TranslateOptions) -> dict[str, list[Example]]:
    """Read the examples of the splits to translate."""
    loaded = load_with_report(config.data, *config.paths.folders)
    splits = loaded.examples
    for name in options.splits:
        if name not in splits:
            raise ConfigError(f"splits={name}: no such split.{nearest(name, splits)}")

    chosen = options.splits or splits
    return {name: splits[name] for name in chosen}


def _translate(
    examples: Sequence[Example], translator: Translator, source: str, to: str
) -> list[Example]:
    """Translate both texts of each example; each distinct text is translated once.

    Args:
        examples: in the language `source`.
        translator: asks a system, or reads its cached answers.
        source: code of the language to translate from.
        to: code of the language to translate to.
    """
    premises = [example.text for example in examples]
    hypotheses = [example.text_pair or "" for example in examples]
    premises = translator.translate(premises, source, to)
    hypotheses = translator.translate(hypotheses, source, to)

    translations = []
    for example, premise, hypothesis in zip(examples, premises, hypotheses, strict=True):
        translation = replace(example, text=premise, text_pair=hypothesis, spans=())
        translations.append(translation)
    return translations


def _compare_texts(
    originals: Sequence[Example], there: Sequence[Example], back: Sequence[Example], config: Config
) -> list[Translated]:
    """Join rows, translations and back-translations with the similarity of their texts."""
    cosines = {}
    for name in _COLUMNS:
        pairs = []
        for original, returned in zip(originals, back, strict=True):
            text = getattr(original, name)
            back_text = getattr(returned, name)
            pair = replace(original, text=text, text_pair=back_text, side={})
            pairs.append(pair)
        cosines[name] = pair_cosines(pairs, config)

    rows = []
    for original, translation, returned in zip(originals, there, back, strict=True):
        guid = original.guid
        similarity = {name: by_guid[guid] for name, by_guid in cosines.items()}
        row = Translated(original, translation, returned, similarity)
        rows.append(row)
    return rows


def pair_cosines(pairs: Sequence[Example], config: Config) -> dict[str, float]:
    """Compare the two texts of each example.

    Args:
        pairs: a text and its back-translation each, as `text` and `text_pair`.
        config: names the encoder.

    Returns:
        By guid, the cosine of the mean vectors of both texts.
    """
    guids, vectors = pool_texts(config, APART, {TRAIN: [*pairs]})
    cosine_N = cosine(vectors[TRAIN])
    return dict(zip(guids[TRAIN], cosine_N.tolist(), strict=True))


def similarity_table(splits: TranslatedSplits, options: TranslateOptions) -> Table:
    """Show the similarity of each split's unique texts, and the rows that are kept."""
    minimum = options.minimum
    note = f"below: unique texts below {minimum}. Rows with such a text are dropped."
    lines: list[Row] = []
    for split, rows in splits.items():
        kept = sum(row.keeps(minimum) for row in rows)

        for name, column in _COLUMNS.items():
            unique = {}
            for row in rows:
                text = getattr(row.original, name)
                unique[text] = row.similarity[name]

            similarities = unique.values()
            mean = summarize(similarities)
            below = sum(similarity < minimum for similarity in similarities)
            lines.append((split, column, mean, below, kept, len(rows)))

    if options.data in PAPERS_DATA:
        note += f" {PAPER_NOTE}"
        for column, published_mean, below, _ in paper_similarity():
            lines.append(("in the paper", column, published_mean, below, None, None))

    columns = ("split", "text", "similarity ± sd (unique texts)", "below", "rows kept", "rows")
    return Table("Similarity of texts and their back-translations", columns, lines, note)


def paper_similarity() -> list[tuple[str, str, int, int]]:
    """Read the paper's similarity of premises and of hypotheses.

    Returns:
        For each of the two its name, the mean with its standard deviation, the number of unique
        texts below .75, and the number of unique texts.
    """
    published = Published("lchaim")
    rows = []
    for name in _COLUMNS.values():
        cells = [published("similarity", name, column) for column in _SIMILARITY]
        mean, sd, below, unique = cells
        shown_mean = f"{mean:.4f} ± {sd:.4f}"
        rows.append((name, shown_mean, int(below), int(unique)))
    return rows


def check_table(splits: TranslatedSplits, config: Config, options: TranslateOptions) -> Table:
    """Compare a classifier's labels for rows and for their back-translations.

    The classifier is trained on the originals of the train split. Only kept rows of the other
    splits are compared.

    Args:
        splits: all translated rows, those below the minimum included.
        config: names the encoder whose vectors the classifier reads.
        options: the minimum, and the classifier's layers and seed.
    """
    train = [row.original for row in splits[TRAIN]]

    lines: list[Row] = []
    for split, rows in splits.items():
        kept = [row for row in rows if row.keeps(options.minimum)]
        if split == TRAIN or not kept:
            continue

        originals = [row.original for row in kept]
        backs = [row.back for row in kept]
        labels = label_both(train, originals, backs, config, options.hidden, options.seed)
        scores = labels.scores()
        same, *accuracies = [float(score_N.mean()) for score_N in scores.values()]

        n = len(kept)
        low, high = proportion_confint(round(same * n), n, method="wilson")
        interval = Interval(same, float(low), float(high))
        lines.append((split, n, interval, *accuracies))

    if options.data in PAPERS_DATA:
        published = Published("lchaim")("semantics", TEST, "same label")
        lines.append((f"{TEST}, in the paper", None, published, None, None))

    note = f"{options.check}, perceptron {options.hidden} trained on the originals of train."
    columns = ("split", "rows", "same label [95 %]", "accuracy, original", "accuracy, back")
    return Table("Labels of rows and of their back-translations", columns, lines, note)


def _write(splits: TranslatedSplits, data: DataConfig, options: TranslateOptions) -> list[Path]:
    """Write the kept rows as a data set, and all rows with their back-translations."""
    paths = []
    files = {}
    for split, rows in splits.items():
        kept = [row for row in rows if row.keeps(options.minimum)]
        path = options.out / f"{split}.csv"
        write_table(path, _table_columns(kept))
        files[split] = path, len(kept)

        checked = _table_columns(rows)
        for name, column in _COLUMNS.items():
            checked[f"back_{column}"] = [getattr(row.back, name) for row in rows]
        for name, column in _COLUMNS.items():
            checked[f"similarity_{column}"] = [row.similarity[name] for row in rows]
        checked["kept"] = [row.keeps(options.minimum) for row in rows]

        checked_path = options.out / f"{split}.checked.csv"
        write_table(checked_path, checked)
        paths += [path, checked_path]

    originals = [f"original_{column}" for column in _COLUMNS.values()]
    settings = {
        "title": f"{data.title or data.name}, machine-translated from {data.language}",
        "language": options.to,
        "task": "nli",
        "format": "pair_table",
        "licence": data.licence,
        "citation": data.citation,
        "label_order": list(data.label_order),
        "columns": {
            **_COLUMNS,
            "label": "label",
            "guid": "guid",
            "group": "group",
            "side": originals,
        },
    }
    config = write_config(options.out, options.name, files, settings)
    return [*paths, config]


def _table_columns(rows: Sequence[Translated]) -> dict[str, list[Any]]:
    """Lay out translations as the columns of a data set, with the original texts."""
    columns: dict[str, list[Any]] = {}
    originals = [row.original for row in rows]
    columns["guid"] = [original.guid for original in originals]
    for name, column in _COLUMNS.items():
        columns[column] = [getattr(row.there, name) for row in rows]

    columns["label"] = [original.label for original in originals]
    columns["group"] = [original.group or original.guid for original in originals]

    for name, column in _COLUMNS.items():
        columns[f"original_{column}"] = [getattr(original, name) for original in originals]
    return columns
