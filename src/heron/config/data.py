"""`DataConfig`: what one YAML in `conf/data` says about a data set.

Plain dataclasses with plain types, so that Hydra merges YAML and overrides into them. They are not
frozen: OmegaConf makes frozen ones read-only, and `data.sample.fraction=0.25` could not be said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from heron.base.errors import ConfigError, nearest
from heron.data.markers import Markers
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions
from heron.tasks.qa.options import QA_FORMATS, QaConfig, check_question_set
from heron.tasks.summarization.options import ARTICLE_FORMATS, SummariesConfig, check_article_set

FORMATS = ("marked_table", "pair_table", *QA_FORMATS, *ARTICLE_FORMATS)
TASKS = ("relation", "nli", "qa", "summarization")
TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
_CHOICES = {
    "task": TASKS,
    "format": FORMATS,
    "unlabelled": ("refuse", "drop"),
    "normalize_case": ("none", "capitalize", "lower"),
    "duplicates": ("keep", "mark", "drop"),
    "on_cut": ("refuse", "drop"),
}


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

    fraction: float = 0.1
    by: str = "group"
    seed: int = 0

    def __post_init__(self) -> None:
        _check_carving("data.validation", self.fraction, self.by)


@dataclass
class HoldoutConfig(ValidationConfig):
    """How to carve a test split out of train when the data set ships none, before validation.

    Args:
        fraction: share of the training rows, at least; 0 carves nothing.
        by: `group` never cuts a group (document) in two; `row` draws single rows.
        seed: of the draw; independent of the training seed, so all seeds share one split.
    """

    fraction: float = 0.0
    by: str = "row"

    def __post_init__(self) -> None:
        _check_carving("data.holdout", self.fraction, self.by)


@dataclass
class SampleConfig:
    """A share of the training split, for learning curves; a larger share contains the smaller.

    Args:
        fraction: share of the training rows to keep.
        by: `pair` draws single rows; `window` draws texts, each with all of its event pairs.
        seed: of the draw.
    """

    fraction: float = 1.0
    by: str = "pair"
    seed: int = 0

    def __post_init__(self) -> None:
        _check_choice("data.sample.by", self.by, ("pair", "window"))
        if not 0 < self.fraction <= 1:
            raise ConfigError(f"data.sample.fraction={self.fraction}: must be in (0, 1]")


@dataclass
class PhrasesConfig:
    """Linking phrases ("Prin urmare") that give the label away, and where to remove them.

    Args:
        file: JSON, `{class: [phrase, ...]}`; needed only where something is removed.
        remove: `none`; `start` takes one phrase off the beginning of the second text, as RoNLI's
            extractor did; `anywhere` removes those inside it too, with a small first letter too.
    """

    file: FileConfig | None = None
    remove: str = "none"

    def __post_init__(self) -> None:
        _check_choice("data.phrases.remove", self.remove, ("none", "start", "anywhere"))
        if self.remove != "none" and self.file is None:
            raise ConfigError(
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

    name: str = ""
    language: str = "he"
    label_order: list[str] = field(default_factory=list)
    title: str = ""
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    task: str = "relation"
    synthetic: bool = False
    format: str = "marked_table"
    columns: Columns = field(default_factory=Columns)
    label_aliases: dict[str, str] = field(default_factory=dict)
    label_field: dict[str, str] = field(default_factory=dict)
    no_label: list[str] = field(default_factory=list)
    unlabelled: str = "refuse"
    files: dict[str, FileConfig] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    join: JoinConfig | None = None
    inverse: dict[str, str] = field(default_factory=dict)
    markers: list[str] = field(default_factory=list)
    unicode: UnicodeOptions = field(default_factory=UnicodeOptions)
    normalize_case: str = "none"
    phrases: PhrasesConfig = field(default_factory=PhrasesConfig)
    qa: QaConfig = field(default_factory=QaConfig)
    summaries: SummariesConfig = field(default_factory=SummariesConfig)
    duplicates: str = "keep"
    holdout: HoldoutConfig = field(default_factory=HoldoutConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    sample: SampleConfig = field(default_factory=SampleConfig)
    on_cut: str = "refuse"
    generator: GeneratorConfig | None = None
    verify: bool = True
    findings: dict[str, str] = field(default_factory=dict)
    substitute: str | None = None

    def __post_init__(self) -> None:
        if "/" in self.name:  # stages and predictions are stored under this name
            raise ConfigError(f"data.name={self.name}: a name without '/' is needed")
        get_language(self.language)
        for key, allowed in _CHOICES.items():
            _check_choice(f"data.{key}", getattr(self, key), allowed)
        for split in (*self.files, *self.counts):
            _check_choice("data.files: split", split, SPLITS)
        check_article_set(self)
        self._check_columns()
        check_question_set(self, FORMATS)
        self._check_labels()
        if self.markers and len(set(self.markers)) != len(Markers._fields):
            raise ConfigError(
                f"data.markers={self.markers}: name four different strings (start and end of "
                "event 1, start and end of event 2), or none for the language's own"
            )

    def _check_columns(self) -> None:
        columns = self.columns
        two_texts = ("pair_table", *QA_FORMATS)
        if self.format in two_texts and columns.text_pair in (None, columns.text):
            raise ConfigError(
                f"data.columns.text_pair={columns.text_pair}: data.format={self.format} needs the "
                "column of the second text"
            )
        if self.format not in two_texts and columns.text_pair is not None:
            raise ConfigError(
                f"data.columns.text_pair={columns.text_pair} needs data.format=pair_table"
            )

    def _check_labels(self) -> None:
        if len(set(self.label_order)) < len(self.label_order):
            raise ConfigError(f"data.label_order={self.label_order}: name each class once")
        for split, counts in self.counts.items():
            for label in counts:
                if label not in self.no_label:
                    self._check_class(f"data.counts.{split}", label)
        for label in (*self.inverse, *self.inverse.values()):
            self._check_class("data.inverse", label)
        if any(self.inverse.get(other) != label for label, other in self.inverse.items()):
            raise ConfigError(f"data.inverse={self.inverse}: inverting twice must give the label")
        for alias, label in self.label_aliases.items():
            self._check_class(f"data.label_aliases.{alias}", label)
            if alias in self.label_order and alias != label:
                raise ConfigError(f"data.label_aliases.{alias}={label}: {alias} is a class itself")
        for split in self.label_field:
            _check_choice("data.label_field: split", split, SPLITS)
        for value in self.no_label:
            if value in self.label_order or value in self.label_aliases:
                raise ConfigError(f"data.no_label={self.no_label}: '{value}' is a label")

    def _check_class(self, key: str, label: str) -> None:
        if label in self.label_order:
            return
        fix = "the classes of a generated corpus can change their order, not their names"
        if not self.generator:
            fix = f"name one of these; for other classes copy conf/data/{self.name}.yaml and write "
            fix += "them in every key that names classes"
        order = ", ".join(self.label_order)
        raise ConfigError(f"{key}: '{label}' is not in data.label_order=[{order}]; {fix}")

    def event_markers(self) -> Markers:
        """The four marker strings: the configured ones, else the language's."""
        return Markers(*(self.markers or get_language(self.language).event_markers))


def read_config(path: Path) -> DataConfig:
    """Read one YAML of `conf/data` without Hydra.

    Raises:
        ConfigError: not YAML, an unknown key, or a value that its key cannot have.
    """
    import yaml
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        config = OmegaConf.merge(OmegaConf.structured(DataConfig), OmegaConf.load(path))
        value = OmegaConf.to_object(config)
    except (ConfigError, OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from error
    assert isinstance(value, DataConfig)
    return value


def _check_carving(key: str, fraction: float, by: str) -> None:
    _check_choice(f"{key}.by", by, ("group", "row"))
    if not 0 <= fraction < 1:
        raise ConfigError(f"{key}.fraction={fraction}: must be in [0, 1)")


def _check_choice(key: str, value: str, allowed: tuple[str, ...] | list[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"{key}={value}: unknown.{nearest(value, allowed)}")
