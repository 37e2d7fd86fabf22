"""`DataConfig`: one YAML file of `conf/data`.

The dataclasses are not frozen: OmegaConf makes frozen ones read-only, and overrides could not
change them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

from annotated_types import Ge

from chronicle.options import CorpusOptions
from heron.base.errors import ConfigError
from heron.base.files import fingerprint, read_yaml
from heron.base.folders import ForkError, data_set_file
from heron.base.terminal import say
from heron.config.constraints import (
    MISSING,
    ConstrainedConfig,
    Count,
    Fraction,
    Matches,
    Natural,
    OneOf,
    Share,
)
from heron.config.parsing import parse
from heron.config.written import keep_texts
from heron.data import PLANS, REMOVERS, TASKS
from heron.languages import LanguageCode
from heron.languages.language import UNDETERMINED
from heron.languages.unicode import UnicodeOptions

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
# Files of a data set beside its splits.
JOIN = "join"
PHRASES = "phrases"
Split = Annotated[str, OneOf(*SPLITS)]


# A split, `join`, `phrases`, or a further file of the release: `train_easy`, `train_...`.
FileName = Annotated[
    str,
    Matches(
        f"{'|'.join(SPLITS)}|{JOIN}|{PHRASES}|{TRAIN}_.*",
        f"{', '.join(SPLITS)}, {JOIN}, {PHRASES}, {TRAIN}_NAME",
    ),
]


@dataclass
class FileConfig:
    """One file: where it is, where it comes from, and how to recognise the right one."""

    # absolute, relative to `paths.data` or, of a user's own file, to the working directory; `???`:
    # no such file unless it is named; empty: it is not read
    path: str
    url: str | None = None  # https address of the pinned revision; null for a user's own file
    sha256: str | None = None  # hexadecimal hash of its bytes; null: any content
    git_blob: str | None = None  # git's name of its bytes, where no sha256 could be taken
    size: int | None = None  # bytes
    rows: int | None = None  # number of rows, without the header
    # never tested with the real file: `rows` and `data.counts`, if any, are published numbers
    unseen: bool = False
    # the command that makes it, such as `heron build lchaim`; a manifest beside the file then has
    # its hash and rows, which no YAML can know
    build: str | None = None

    @property
    def pinned(self) -> bool:
        """Tell whether only one content is accepted."""
        return bool(self.sha256 or self.git_blob)


@dataclass
class Columns:
    """Names of columns."""

    # the (marked) text, or the first text of a pair (premise, context of a question)
    text: str = "text"
    label: str = "label"  # the class name
    # the stable id; in a file without a column of the default name, `<file stem>:<line>`
    guid: str = "guid"
    # what a split must not divide (document, article, or the premise itself); null: rows are
    # independent
    group: str | None = None
    # the second text (hypothesis, question); null: there is one text only
    text_pair: str | None = None
    # further columns to keep in `Example.side`; models never see them
    side: list[str] = field(default_factory=list)
    # the right label where `label` may be wrong (automatic, flipped); kept as
    # `Example.side["truth"]` and read by studies of label noise only
    truth: str | None = None
    answer: str = "answer"  # the answer to a question, or a list of answers
    # number of characters of the context before the answer; may be absent where the answer occurs
    # once in its context
    answer_start: str = "answer_start"
    target: str = "summary"  # the summary of an article


@dataclass
class JoinConfig:
    """A second table, `data.files.join`, with columns that the split files lack."""

    key: str = "text"  # column of both tables to join on; unique in the second table
    # what to take from it, `{guid | group | name in Example.side: column}`
    take: dict[str, str] = field(default_factory=dict)


@dataclass
class ValidationConfig:
    """How to take a validation split, stratified, from train where the data set has none."""

    fraction: Fraction = 0.1  # least share of the training rows; 0: no split
    # `group` keeps groups (documents) whole; `row` draws single rows, or paragraphs with questions
    by: Annotated[str, OneOf("group", "row")] = "group"
    seed: int = 0  # of this sampling only: runs of all training seeds share one split


@dataclass
class FoldsConfig(ConstrainedConfig):
    """Cross-validation over train: the data set's own validation and test splits are not read."""

    count: Natural = 0  # parts of train, one of which is validation; 0: no cross-validation
    fold: Natural = 0  # which part is validation, from 0
    # `group` keeps groups (documents) whole; `row` draws single rows, or paragraphs with questions
    by: Annotated[str, OneOf("group", "row")] = "group"
    seed: int = 0  # of this sampling only: runs of all training seeds share the folds

    def problems(self) -> Iterator[str]:
        """Check that the part is one of several."""
        if self.count == 1 or self.fold >= max(1, self.count):
            yield (
                f"data.folds.count={self.count}, data.folds.fold={self.fold}: use a count from 2 "
                "and a fold below it, or 0 for no cross-validation"
            )


@dataclass
class HoldoutConfig(ValidationConfig):
    """How to take a test split from train where the data set has none; validation comes after."""

    fraction: Fraction = 0.0
    by: Annotated[str, OneOf("group", "row")] = "row"


@dataclass
class SampleConfig:
    """A share of the training split, for learning curves; larger shares contain smaller ones."""

    fraction: Share = 1.0  # share of the training rows to keep
    # `pair` draws single rows; `window` draws texts, each with all its event pairs
    by: Annotated[str, OneOf("pair", "window")] = "pair"
    seed: int = 0  # of this sampling


@dataclass
class QaDataConfig:
    """How the answers of extractive question answering are read (`data.qa`)."""

    # answers that are not at their `answer_start`, in characters or UTF-16 units: `refuse` stops
    # and lists them, `repair` takes the nearest occurrence, else one with other white space or
    # Unicode composition, `drop` leaves the answer out, and the question if no answer is left
    misaligned: Annotated[str, OneOf("refuse", "repair", "drop")] = "refuse"
    # remove blanks at both ends of an answer. Metrics use the string of the file as gold.
    trim: bool = True
    # questions without an answer where `data.label_order` is `[answer]`: `refuse` stops and lists
    # them, `drop` leaves them out, so that data sets with and without such questions can follow
    # each other in stages
    no_answer: Annotated[str, OneOf("refuse", "drop")] = "refuse"


@dataclass
class SummariesConfig:
    """Which rows of articles and summaries are left out and counted (`data.summaries`).

    Source: HeSum, appendix A: pages without text or not in Hebrew, and articles with summaries of
    fewer than 10 tokens, were left out; the released files are without them, hence the defaults.
    Its section on limitations says "10 or fewer", which is `min_summary_tokens=11`.
    """

    # rows without an article or a summary: `refuse` stops and lists them, `drop` leaves them out
    empty: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    # leave out articles with more than this share of letters outside the alphabet of
    # `data.language`; null: none
    other_script: Fraction | None = None
    min_summary_tokens: Natural = 0  # leave out summaries of fewer words; 0: none


@dataclass
class TextsConfig:
    """Raw texts to train on beside those of `data.files`, and texts to keep out (`data.texts`)."""

    # data sets of any task: the texts of train are read, those of validation and test kept out
    sets: list[str] = field(default_factory=list)
    files: list[FileConfig] = field(default_factory=list)  # further files, as `data.files.train`
    unseen: list[str] = field(default_factory=list)  # further data sets to keep out
    # leave out a text if this many consecutive words, or all, are in one text to keep out
    overlap: Count = 8


def own_table_name(values: Mapping[str, Any]) -> str:
    """Name a user's own table (`data=own_*`) by its folder and file, or by its id of the hub.

    Args:
        values: of `data`.

    Returns:
        The name; empty for other data sets, which have names of their own.
    """
    if not str(values.get("name", "")).startswith("own_"):
        return ""
    if values.get("hub"):
        return str(values["hub"])
    files = values.get("files") or {}
    path = next((str(file.get("path", "")) for file in files.values()), "")
    return "/".join(Path(path).parts[-2:])


@dataclass
class DataConfig(ConstrainedConfig):
    """One data set (`conf/data/<name>.yaml`)."""

    # short name, as in `data=<name>`; stages and predictions are stored under it
    name: Annotated[str, Matches("[^/]*", "names without '/'")] = ""
    # a language by its code (`he`, `heb_Hebr`) or name (`Hebrew`); `und`: undetermined, no
    # language's words, scores and spelling are used
    language: Annotated[str, LanguageCode()] = UNDETERMINED
    # class names; a class's index here is its index in logits and files
    label_order: list[str] = field(default_factory=list)
    # title, licence, citation, homepage: shown by `heron data`
    title: str = ""
    licence: str = ""
    citation: str = ""
    homepage: str = ""
    # the task its examples are for. The classes of `qa` are `answer` and, where questions may have
    # none, `no_answer`; the one class of `summarization` is `summary`, of `mlm` `text`.
    task: Annotated[str, OneOf(registry=TASKS)] = "relation"
    synthetic: bool = False  # generated text, not for research results
    # how rows become examples: `marked_table` (CSV, JSONL, Parquet) has one marked event pair per
    # row, `pair_table` two texts, `text_table` one text, `qa_table` a question, `article_table` an
    # article and its summary; `squad_json` is SQuAD's JSON, nested or flat; `texts` are raw
    format: str = "marked_table"
    # quotation marks in CSV and TSV: `csv` reads them as enclosing cells, `none` as characters of
    # the text, `auto` decides by the file's rows
    quoting: Annotated[str, OneOf("auto", "csv", "none")] = "auto"
    columns: Columns = field(default_factory=Columns)  # names of columns
    # class names by the labels of the files, `{"0": contrastive, e: entailment}`; class names are
    # always read. Case is ignored where no name or alias is spelt exactly so.
    label_aliases: dict[str, str] = field(default_factory=dict)
    # label column of a split, where it is not `columns.label`
    label_field: dict[Split, str] = field(default_factory=dict)
    # values of the label column that mean "no gold label", for example `["-"]`
    no_label: list[str] = field(default_factory=list)
    # rows without a gold label where one is needed: `refuse` stops, `drop` counts and leaves them
    # out
    unlabelled: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    # files by split (`train`, `test`, perhaps `validation`), and those of `data.join` (`join`) and
    # of `data.phrases` (`phrases`, JSON: `{class: [phrase, ...]}`); empty: generated corpus.
    # Further files of a release are `train_<name>`: 'data.files.train=${data.files.train_<name>}'
    files: dict[FileName, FileConfig] = field(default_factory=dict)
    # in place of `files`: an id of the Hugging Face Hub, or a folder of Parquet, Arrow, JSONL or
    # CSV, read by the package `datasets`; columns inside a column are `outer.inner`
    hub: str | None = None
    # commit of that id, which never changes; a folder needs none
    revision: Annotated[str, Matches("[0-9a-f]{40}", "the 40 digits of a commit")] | None = None
    hub_config: str | None = None  # which subset of that id; null: its only one
    hub_splits: dict[Split, str] = field(default_factory=dict)  # `{validation: dev}` renames splits
    # rows of the file per class, by split; checked while `verify` is true. Rows without a gold
    # label count under their value of `no_label`.
    counts: dict[Split, dict[str, int]] = field(default_factory=dict)
    join: JoinConfig | None = None  # how to join `data.files.join`; null: there is none
    # label of a pair in the other direction, where it differs, for example `{BEFORE: AFTER, AFTER:
    # BEFORE}`
    inverse: dict[str, str] = field(default_factory=dict)
    # start and end of event 1, start and end of event 2; empty: the language's own
    markers: list[str] = field(default_factory=list)
    # which Unicode variants are treated as one in what a model reads; answers and summaries are
    # scored as the file has them
    unicode: UnicodeOptions = field(default_factory=UnicodeOptions)
    # `capitalize` writes the second text with one capital, its first letter, `lower` writes both
    # texts without capitals
    normalize_case: Annotated[str, OneOf("none", "capitalize", "lower")] = "none"
    # linking phrases ("Prin urmare") reveal the label: `start` removes one at the start of the
    # second text, as RoNLI's extractor did; `anywhere` also those inside it, with a small first
    # letter too
    phrases: Annotated[str, OneOf("none", registry=REMOVERS)] = "none"
    qa: QaDataConfig = field(default_factory=QaDataConfig)  # how answers are read
    # which articles and summaries are left out
    summaries: SummariesConfig = field(default_factory=SummariesConfig)
    texts: TextsConfig = field(default_factory=TextsConfig)  # raw texts of other data sets
    # rows whose text (both texts of a pair, any spacing) is in several splits: `keep`, `mark` (each
    # names a copy, `<split>:<guid>`, in `side["duplicate_of"]`), or `drop` (from train before
    # validation before test, which stays whole). Repeats inside a split stay.
    duplicates: Annotated[str, OneOf("keep", "mark", "drop")] = "keep"
    # how to take a test split from train where `files` has none
    holdout: HoldoutConfig = field(default_factory=HoldoutConfig)
    # how to take a validation split from train where `files` has none
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    # cross-validation in place of these splits; `folds=5` sweeps over five folds
    folds: FoldsConfig = field(default_factory=FoldsConfig)
    # which share of the training split to use
    sample: SampleConfig = field(default_factory=SampleConfig)
    # examples whose event is cut by the length limit: `refuse` stops the run, `drop` leaves them
    # out and counts them
    on_cut: Annotated[str, OneOf("refuse", "drop")] = "refuse"
    # settings of the built-in corpus; null: data are read from files
    generator: CorpusOptions | None = None
    # refuse files whose hash, and rows whose counts, differ from the pinned ones
    verify: bool = True
    # known problems of the data, `{id: one sentence}`
    findings: dict[str, str] = field(default_factory=dict)
    substitute: str | None = None  # a data set that needs fewer files, named when files are missing

    def __post_init__(self) -> None:
        files = self.files.items()
        self.files = {name: file for name, file in files if file.path not in ("", MISSING)}
        if self.hub:
            self.files = {}
            self.generator = None

        if self.label_order:
            used = {}
            unused = []
            for alias, name in self.label_aliases.items():
                if name in self.label_order:
                    used[alias] = name
                else:
                    unused.append(alias)

            self.label_aliases = used
            if unused:
                unused.sort()
                say(f"data.label_aliases: {', '.join(unused)}: of no class in data.label_order")

    @property
    def own(self) -> str:
        """The name of a user's own table, see `own_table_name`."""
        return own_table_name(asdict(self))

    @property
    def folder_name(self) -> str:
        """A name for the folder of what is computed from the data set."""
        if not self.own:
            return self.name
        paths = [file.path for file in self.files.values()]
        return f"{self.name},{self.own.replace('/', '_')}-{fingerprint(paths)[:4]}"

    @property
    def split_files(self) -> dict[str, FileConfig]:
        """The files of the splits only."""
        return {split: self.files[split] for split in SPLITS if split in self.files}

    def problems(self) -> Iterator[str]:
        """List settings that cannot work together, or for the task."""
        yield from self._file_problems()
        task = TASKS[self.task]
        if self.format not in task.formats:
            known = " or ".join(task.formats)
            yield f"data.format={self.format}: data.task={self.task} reads {known}"
        else:
            yield from task.rules.data_problems(self)
            reads_texts = task.formats[self.format].collect is not None
            if self.texts != TextsConfig() and not reads_texts:
                yield f"data.texts: not for data.task={self.task}, whose rows are more than a text"
        if self.markers and len(set(self.markers)) != 4:
            yield (
                f"data.markers={self.markers}: name four different strings (start and end of "
                "event 1, start and end of event 2), or none for the language's own"
            )
        yield from self._label_problems()

    def _file_problems(self) -> Iterator[str]:
        wanted = {}
        if self.join:
            wanted[JOIN] = "join"
        if self.phrases != "none":
            wanted[PHRASES] = f"phrases={self.phrases}"
        for name, key in wanted.items():
            if name not in self.files:
                yield f"data.{key} needs a file: data.files.{name}.path=FILE"

    def _label_problems(self) -> Iterator[str]:
        classes = set(self.label_order)
        if len(classes) < len(self.label_order):
            yield f"data.label_order={self.label_order}: name each class once"

        counted = {label for counts in self.counts.values() for label in counts}
        labels_of_keys = {
            "data.inverse": {*self.inverse, *self.inverse.values()},
            "data.counts": counted - set(self.no_label),
        }
        for key, labels in labels_of_keys.items():
            unknown = ", ".join(sorted(labels - classes))
            if unknown:
                order = ", ".join(self.label_order)
                yield (
                    f"{key}: {unknown}: not in data.label_order=[{order}]; for other "
                    "classes copy the data set's YAML and write them in every key that names them"
                )
        if any(self.inverse.get(other) != label for label, other in self.inverse.items()):
            yield f"data.inverse={self.inverse}: inverting twice must give the label"


BUDGET = 3072  # padded tokens per batch where `batching.tokens` is null


@dataclass
class BatchingConfig:
    """How sequences become batches."""

    # `shuffle` (batches of `size` sequences) or `bucket` (sequences of similar length, up to
    # `tokens` tokens with padding)
    plan: Annotated[str, OneOf(registry=PLANS)] = "shuffle"
    size: Count = 32  # sequences per batch under `shuffle`
    # padded tokens per batch under `bucket` and in evaluation. null: 3072; in training fewer where
    # an epoch would have less than 250 batches (never less than eight sequences of mean length),
    # `data.batch_tokens` in `status.json` is the number used; in evaluation on a GPU as many for
    # each 8 GiB of its memory.
    tokens: Annotated[int, Ge(8)] | None = None
    # copies of rows of rare classes in each epoch: `none`, `balanced` (the largest class's count //
    # the class's own) or `multipliers`
    oversample: Annotated[str, OneOf("none", "balanced", "multipliers")] = "none"
    # copies per class under `multipliers`; 1 for a class that is not named
    multipliers: dict[str, Count] = field(default_factory=dict)


class RunSettings(Protocol):
    """What data and models read of a run's configuration; higher layers type the rest of it."""

    data: DataConfig
    others: dict[str, DataConfig]
    also_test: list[str]
    batching: BatchingConfig
    seed: int
    paths: Any
    task: Any
    encoder: Any
    head: Any
    trainer: Any

    def read_stages(self) -> list[Any]:
        """Read the stages of training."""
        ...


def read_config(path: Path) -> DataConfig:
    """Read one YAML of `conf/data` without Hydra.

    Raises:
        ConfigError: not YAML, an unknown key, or a value that its key cannot have.
    """
    from omegaconf import OmegaConf  # start-up time
    from omegaconf.errors import OmegaConfBaseException

    values = data_values(path)
    try:
        return parse(DataConfig, OmegaConf.to_container(values, resolve=True), "data.")
    except ForkError:  # while a name was looked for; the file is not to blame
        raise
    except (OmegaConfBaseException, ConfigError) as error:
        raise ConfigError(f"{path}: {error}") from error


def data_values(path: Path) -> Any:
    """Load a data set's YAML, and those that its defaults list names, as Hydra does.

    Options of other groups in the list (task, head) are left out.
    """
    from omegaconf import OmegaConf  # start-up time

    values = read_yaml(path, partial(keep_texts, hint=DataConfig))
    parts = []
    if isinstance(values, dict):
        names = values.pop("defaults", None) or []
        bases = [name for name in names if isinstance(name, str) and name != "_self_"]
        parts = [data_values(data_set_file(base)) for base in bases]
    return OmegaConf.merge(*parts, OmegaConf.create(values))


def second_text_problems(config: DataConfig, is_needed: bool) -> Iterator[str]:
    """Check `data.columns.text_pair`, which formats with two texts need and others do not have."""
    columns = config.columns
    if is_needed and columns.text_pair in (None, columns.text):
        yield (
            f"data.columns.text_pair={columns.text_pair}: data.format={config.format} needs the "
            "column of the second text"
        )
    if not is_needed and columns.text_pair is not None:
        yield f"data.columns.text_pair={columns.text_pair} needs data.format=pair_table"
