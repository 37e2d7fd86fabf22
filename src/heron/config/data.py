"""`DataConfig`: what one YAML in `conf/data` says about a data set.

Plain dataclasses with plain types, so that Hydra merges YAML and overrides into them. They are not
frozen: OmegaConf makes frozen ones read-only, and `data.sample.fraction=0.25` could not be said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.config.constraints import Fraction, Matches, Natural, OneOf, Share, check
from heron.config.tasks import TASKS, formats

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
Split = Annotated[str, OneOf(*SPLITS)]


@dataclass
class FileConfig:
    """One file: where it lies, where it comes from, and how to know that it is the right one.

    Args:
        path: relative to `paths.data`, or absolute.
        url: https address of the pinned revision; None for a user's own file.
        sha256: hexadecimal hash of its bytes; None accepts any content.
        size: bytes.
        rows: number of rows, without the header.
    """

    path: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None
    rows: int | None = None


@dataclass
class Columns:
    """Which column holds what.

    Args:
        text: the (marked) text; of a pair the first one (premise, or context of a question).
        label: the class name.
        guid: the stable id; where a file has no column of the default name, the id is
            `<file stem>:<line>`.
        group: what a split must not cut (document, article, or the premise itself); None when rows
            stand alone.
        text_pair: the second text (hypothesis, question); None where there is one text only.
        side: further columns to carry along in `Example.side`; models never see them.
        truth: a column with the right label where `label` may hold a wrong one (automatic,
            flipped); it becomes `Example.side["truth"]`. Only studies of label noise look at it.
        answer: the answer to a question, or a list of them.
        answer_start: how many characters of the context stand before it; may be absent where the
            answer stands once in its context.
        target: the summary of an article.
    """

    text: str = "text"
    label: str = "label"
    guid: str = "guid"
    group: str | None = None
    text_pair: str | None = None
    side: list[str] = field(default_factory=list)
    truth: str | None = None
    answer: str = "answer"
    answer_start: str = "answer_start"
    target: str = "summary"


@dataclass
class JoinConfig:
    """A second table that adds what the split files lack.

    Args:
        file: the table.
        key: the column, present in both, whose values must be equal; unique in the second table.
        take: what to take, as `{guid | group | name in Example.side: column}`.
    """

    file: FileConfig
    key: str = "text"
    take: dict[str, str] = field(default_factory=dict)


@dataclass
class ValidationConfig:
    """How to carve a validation split out of train when the data set ships none.

    Args:
        fraction: share of the training rows, at least; 0 carves nothing.
        by: `group` never cuts a group (document) in two; `row` draws single rows.
        seed: of the draw; independent of the training seed, so all seeds share one split.
    """

    fraction: Fraction = 0.1
    by: Annotated[str, OneOf("group", "row")] = "group"
    seed: int = 0


@dataclass
class HoldoutConfig(ValidationConfig):
    """How to carve a test split out of train when the data set ships none, before validation.

    Args:
        fraction: share of the training rows, at least; 0 carves nothing.
        by: `group` never cuts a group (document) in two; `row` draws single rows.
        seed: of the draw; independent of the training seed, so all seeds share one split.
    """

    fraction: Fraction = 0.0
    by: Annotated[str, OneOf("group", "row")] = "row"


@dataclass
class SampleConfig:
    """A share of the training split, for learning curves; a larger share contains the smaller.

    Args:
        fraction: share of the training rows to keep.
        by: `pair` draws single rows; `window` draws texts, each with all of its event pairs.
        seed: of the draw.
    """

    fraction: Share = 1.0
    by: Annotated[str, OneOf("pair", "window")] = "pair"
    seed: int = 0


@dataclass
class PhrasesConfig:
    """Linking phrases ("Prin urmare") that give the label away, and where to remove them.

    Args:
        file: JSON, `{class: [phrase, ...]}`; needed only where something is removed.
        remove: `none`; `start` takes one phrase off the beginning of the second text, as RoNLI's
            extractor did; `anywhere` removes those inside it too, with a small first letter too.
    """

    file: FileConfig | None = None
    remove: Annotated[str, OneOf("none", "start", "anywhere")] = "none"

    def problems(self) -> Iterator[str]:
        """Check that there is a list of what to remove."""
        if self.remove != "none" and self.file is None:
            yield (
                f"data.phrases.remove={self.remove} needs a list of phrases: "
                "data.phrases.file.path=FILE"
            )


@dataclass
class GeneratorConfig:
    """How to write the built-in synthetic corpus; see `chronicle.ChronicleConfig`.

    Args:
        size: rows in all splits together, 100 to 1,000,000.
        seed: same seed and size give identical bytes.
        label_noise: share of training rows whose label is flipped.
        class_weights: wanted share of each class, relative, in the order of `data.label_order`;
            None for the natural mix.
        label_set: of `data.task=nli`: `three` or `four` classes.
        premise_sentences: of `three`, of `data.task=qa` and of `data.task=summarization`: fewest
            and most sentences of a premise, of a context, or of an article (8 to 80); 40 of them
            are some 500 words.
        keep_phrases: of `four`: leave linking phrases in the text.
        casing_artefact: of `four`: lower-case what followed a removed phrase, as RoNLI did.
        unanswerable: of `qa`: share of questions about what did not happen; above 0 needs
            `data.label_order=[answer,no_answer]`.
        rivals: of `qa`: wanted share of questions whose context holds another candidate of the
            answer's type; kept as far as contexts allow, and not for "who".
    """

    size: int = 2000
    seed: int = 0
    label_noise: float = 0.0
    class_weights: list[float] | None = None
    label_set: str = "three"
    premise_sentences: list[int] = field(default_factory=lambda: [2, 4])
    keep_phrases: bool = False
    casing_artefact: bool = True
    unanswerable: float = 0.0
    rivals: float = 0.7


@dataclass
class UnicodeOptions:
    """Which variants count as one (`data.unicode`).

    Args:
        nfc: compose letters and their diacritics into canonical form (NFC).
        bidi: `strip` removes the invisible direction controls (RLM, LRM, embeddings, isolates),
            `keep` leaves them.
        niqqud: `strip` removes Hebrew points and accents, `keep` leaves them.
        punctuation: `unify` turns maqaf, geresh and gershayim into `-`, `'` and `"`, the way most
            Hebrew text is typed; `keep` leaves them.
        cedilla: `comma` turns a language's `variants` into its letters: the cedilla letters ş ţ of
            old Romanian fonts into ș ț, in Romanian texts only (ş is a letter of Turkish names
            elsewhere); `keep` leaves them.
    """

    nfc: bool = True
    bidi: Annotated[str, OneOf("strip", "keep")] = "strip"
    niqqud: Annotated[str, OneOf("keep", "strip")] = "keep"
    punctuation: Annotated[str, OneOf("keep", "unify")] = "keep"
    cedilla: Annotated[str, OneOf("comma", "keep")] = "comma"


@dataclass
class QaConfig:
    """How the answers of extractive question answering are read (`data.qa`).

    Args:
        misaligned: of an answer that does not stand at its `answer_start`: `refuse` stops and
            names all of them, `repair` takes the nearest place where it does stand, `drop` leaves
            the answer out, and the question where it has no other.
        trim: leave out blanks at both ends of an answer. The string as it was shipped stays the
            gold answer of the metrics.
        yes_no: `drop` leaves out questions that ask for yes or no, by their first word.
        no_answer: of questions without an answer, where `data.label_order` is `[answer]`: `refuse`
            stops and names all of them, `drop` leaves them out, so that data with such questions
            go before data without in sequential fine-tuning.
        answer_words: fewest and most words of an answer, `[min, max]`; questions with no such
            answer are left out. Empty for no limits.

    Source: ParaShoot, section 2.3: yes/no questions and extremely short or long answers were
    discarded, 68 of 3,106; the released files are what was left, hence the defaults.
    """

    misaligned: Annotated[str, OneOf("refuse", "repair", "drop")] = "refuse"
    trim: bool = True
    yes_no: Annotated[str, OneOf("keep", "drop")] = "keep"
    no_answer: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    answer_words: list[int] = field(default_factory=list)

    def problems(self) -> Iterator[str]:
        """Check the limits of an answer's length."""
        limits = list(self.answer_words)
        if limits and (len(limits) != 2 or not 1 <= limits[0] <= limits[1]):
            yield (
                f"data.qa.answer_words={limits}: the fewest and the most words of an answer, "
                "[1, 30], or [] for no limits"
            )


@dataclass
class SummariesConfig:
    """Which rows of articles and summaries are left out, each counted (`data.summaries`).

    Args:
        empty: of a row whose article or summary is empty: `refuse` stops and names all of them,
            `drop` leaves it out.
        other_script: leave out articles of whose letters more than this fraction is not in the
            alphabet of the data set's language; null leaves none out.
        min_summary_tokens: leave out summaries of fewer words than this; 0 leaves none out.

    Source: HeSum, appendix A: pages without text or not in Hebrew, and articles with summaries of
    fewer than 10 tokens, were left out. The released files are what was left, hence the defaults.
    Its section on limitations says "10 or fewer", which is `min_summary_tokens=11`.
    """

    empty: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    other_script: Fraction | None = None
    min_summary_tokens: Natural = 0


@dataclass
class DataConfig:
    """One data set (`conf/data/<name>.yaml`).

    Args:
        name: short name, the one in `data=<name>`.
        language: ISO 639-1 code, see `heron.languages`.
        label_order: class names; a class's index here is its index in logits and files.
        inverse: the label of a pair read from event 2 to event 1, where it is another one, for
            example `{BEFORE: AFTER, AFTER: BEFORE}`.
        title, licence, citation, homepage: what to tell people about it.
        task: the task its examples are for, `relation`, `nli`, `qa` (extractive question
            answering; its classes are `answer` and, where questions may have none, `no_answer`) or
            `summarization` (its one class is `summary`).
        synthetic: generated text, never to be mixed into research results.
        format: how rows become examples; `marked_table` is a table (CSV, JSONL, Parquet) with one
            marked event pair per row, `pair_table` one with two texts per row, `qa_table` one
            with a question per row, `article_table` one with an article and its summary per
            row; `squad_json` is SQuAD's JSON, nested or flat.
        columns: which column holds what.
        label_aliases: class names by what the files call them, `{"0": contrastive, e: entailment}`;
            the class names themselves always count. Capitals make no difference where neither a
            name nor an alias is spelt exactly so.
        label_field: the label column of a split, where it is not `columns.label`.
        no_label: values of the label column that say "no gold label", for example `["-"]`.
        unlabelled: what becomes of rows without a gold label where one is needed: `refuse` stops,
            `drop` leaves them out and counts them.
        files: the splits (`train`, `test`, perhaps `validation`) and their files; empty for a
            generated data set.
        counts: expected rows per class and split, asserted while `verify` is true. They are the
            file's own, before anything is dropped; rows without a gold label count under the value
            of `no_label` that they hold.
        join: a second table with guid and group, or None.
        markers: the strings that open and close event 1, then event 2; empty for the language's.
        unicode: which Unicode variants count as one in what a model reads; answers and summaries
            are scored as the file has them.
        normalize_case: `capitalize` writes every second text with one capital at its beginning,
            `lower` writes both texts without any, `none` leaves them.
        phrases: linking phrases to remove from the second text.
        qa: how answers are read.
        summaries: which articles and summaries are left out.
        duplicates: what becomes of rows whose text (both texts of a pair, any spacing) is in more
            than one split: `keep`, `mark` (each names one of its copies, `<split>:<guid>`, in
            `side["duplicate_of"]`), or `drop` (train gives way to validation, both to test, which
            stays whole). Repeats inside a split stay.
        holdout: how to carve a test split when `files` has none.
        validation: how to carve a validation split when `files` has none.
        sample: which share of the training split to use.
        on_cut: what becomes of examples whose event the length limit cuts: `refuse` stops the run,
            `drop` leaves them out and counts them.
        generator: settings of the built-in corpus; None for data read from files.
        verify: refuse a file whose hash, or rows whose counts, differ from the pinned ones.
        findings: what is known to be wrong with the data, as `{id: one sentence}`.
        substitute: another data set that needs fewer files, for when some are missing.

    Raises:
        ConfigError: a value that heron does not know, with the nearest ones it does.
    """

    # Stages and predictions are stored under this name.
    name: Annotated[str, Matches("[^/]*", "names without '/'")] = ""
    language: Annotated[str, OneOf(registry="heron.languages:LANGUAGES")] = "he"
    label_order: list[str] = field(default_factory=list)
    title: str = ""
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    task: Annotated[str, OneOf(registry="heron.config.tasks:TASKS")] = "relation"
    synthetic: bool = False
    format: str = "marked_table"
    columns: Columns = field(default_factory=Columns)
    label_aliases: dict[str, str] = field(default_factory=dict)
    label_field: dict[Split, str] = field(default_factory=dict)
    no_label: list[str] = field(default_factory=list)
    unlabelled: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    files: dict[Split, FileConfig] = field(default_factory=dict)
    counts: dict[Split, dict[str, int]] = field(default_factory=dict)
    join: JoinConfig | None = None
    inverse: dict[str, str] = field(default_factory=dict)
    markers: list[str] = field(default_factory=list)
    unicode: UnicodeOptions = field(default_factory=UnicodeOptions)
    normalize_case: Annotated[str, OneOf("none", "capitalize", "lower")] = "none"
    phrases: PhrasesConfig = field(default_factory=PhrasesConfig)
    qa: QaConfig = field(default_factory=QaConfig)
    summaries: SummariesConfig = field(default_factory=SummariesConfig)
    duplicates: Annotated[str, OneOf("keep", "mark", "drop")] = "keep"
    holdout: HoldoutConfig = field(default_factory=HoldoutConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    sample: SampleConfig = field(default_factory=SampleConfig)
    on_cut: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    generator: GeneratorConfig | None = None
    verify: bool = True
    findings: dict[str, str] = field(default_factory=dict)
    substitute: str | None = None

    def __post_init__(self) -> None:
        check(self, "data.")

    def problems(self) -> Iterator[str]:
        """List what cannot work together, by the data set's task as well."""
        rules = TASKS[self.task]
        if self.format not in rules.formats:
            known = formats()
            also = f"data.task={self.task} reads {' or '.join(rules.formats)}"
            hint = "" if self.format in known else nearest(self.format, known)
            yield f"data.format={self.format}: {also}.{hint}"
        else:
            yield from rules.data_problems(self)
        if self.markers and len(set(self.markers)) != 4:
            yield (
                f"data.markers={self.markers}: name four different strings (start and end of "
                "event 1, start and end of event 2), or none for the language's own"
            )
        yield from self._label_problems()

    def _label_problems(self) -> Iterator[str]:
        if len(set(self.label_order)) < len(self.label_order):
            yield f"data.label_order={self.label_order}: name each class once"
        classes = {
            **{f"data.counts.{split}": [*counts] for split, counts in self.counts.items()},
            "data.inverse": [*self.inverse, *self.inverse.values()],
            **{f"data.label_aliases.{name}": [each] for name, each in self.label_aliases.items()},
        }
        for key, labels in classes.items():
            counted = key.startswith("data.counts")
            for label in labels:
                if label not in self.label_order and not (counted and label in self.no_label):
                    yield self._unknown_class(key, label)
        if any(self.inverse.get(other) != label for label, other in self.inverse.items()):
            yield f"data.inverse={self.inverse}: inverting twice must give the label"
        for alias, label in self.label_aliases.items():
            if alias in self.label_order and alias != label:
                yield f"data.label_aliases.{alias}={label}: {alias} is a class itself"
        for value in self.no_label:
            if value in self.label_order or value in self.label_aliases:
                yield f"data.no_label={self.no_label}: '{value}' is a label"

    def _unknown_class(self, key: str, label: str) -> str:
        fix = "the classes of a generated corpus can change their order, not their names"
        if not self.generator:
            fix = f"name one of these; for other classes copy conf/data/{self.name}.yaml and write "
            fix += "them in every key that names classes"
        order = ", ".join(self.label_order)
        return f"{key}: '{label}' is not in data.label_order=[{order}]; {fix}"


def read_config(path: Path) -> DataConfig:
    """Read one YAML of `conf/data` without Hydra.

    Raises:
        ConfigError: not YAML, an unknown key, or a value that its key cannot have.
    """
    try:
        config = OmegaConf.merge(OmegaConf.structured(DataConfig), OmegaConf.load(path))
        value = OmegaConf.to_object(config)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except (OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from error
    assert isinstance(value, DataConfig)
    return value
