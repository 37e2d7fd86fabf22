"""`heron build parashoot`: draw paragraphs (`sample`), collect questions (`collect`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.files import write_file, write_json
from heron.base.terminal import print_lines, print_tables, say
from heron.config.constraints import Seed
from heron.config.parsing import parse_options, run_step
from heron.languages import get_language


@dataclass
class SampleOptions:
    """Options of `heron build parashoot sample`."""

    source: Path = field(metadata={"option": "from"})  # a table of articles, or a folder of texts
    out: Path  # a folder without `tasks.json`
    size: int | None = None  # number of articles to draw; default: all suitable ones
    min_paragraphs: int = 2  # minimum number of suitable paragraphs per article
    min_characters: int = 500  # minimum of a suitable paragraph
    paragraphs: int = 2  # drawn from each article
    weights: list[int] = field(default_factory=lambda: [295, 33, 165])  # ratio of the splits
    language: str = "he"  # of the texts and of annotators' instructions
    seed: Seed = 0  # of all draws


@dataclass
class CollectOptions:
    """Options of `heron build parashoot collect`."""

    exports: list[Path]  # Label Studio's JSON exports
    out: Path  # folder of the data set
    name: str = "questions"  # of the data set
    language: str = "he"  # of the texts
    # checks that exclude a question
    reject: list[str] = field(default_factory=lambda: ["yes_no", "answer_length", "repeated"])
    answer_words: list[int] = field(default_factory=lambda: [1, 52])  # fewest and most
    question_words: list[int] = field(default_factory=lambda: [2, 25])  # fewest and most


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code: 1 if no question is left.

    Raises:
        ConfigError: an unknown step or option.
        DataError: files that cannot be used.
    """
    return run_step(arguments, {"sample": _sample, "collect": _collect})


def _sample(arguments: Sequence[str]) -> int:
    from . import articles, label_studio  # start-up time

    options = parse_options(SampleOptions, arguments)
    out, language = options.out, options.language
    tasks, labelling = out / "tasks.json", out / "labelling.xml"
    if tasks.exists():
        raise ConfigError(f"out={out}: {tasks.name} exists already; name a new folder")

    instructions = "\n".join(label_studio.wording(language)["instructions"])
    rules = articles.Rules(
        options.size,
        options.min_paragraphs,
        options.min_characters,
        options.paragraphs,
        tuple(options.weights),
        options.seed,
    )
    sampled = articles.draw_paragraphs(options.source, rules)
    write_json(tasks, label_studio.make_tasks(sampled.paragraphs, options.seed))
    write_file(labelling, label_studio.labelling_config(language))
    write_file(out / "instructions.txt", f"{instructions}\n")

    drawn = len({paragraph.title for paragraph in sampled.paragraphs})
    print_lines(
        f"{sampled.read:,} articles read, {sampled.suitable:,} suitable, {drawn:,} drawn with "
        f"{len(sampled.paragraphs):,} paragraphs: {tasks}\n"
        f"Label Studio: a project with {labelling}, import tasks.json, export "
        f"as JSON; then: heron build parashoot collect exports=FILE out=DIR",
        files=[tasks],
    )
    return 0


def _collect(arguments: Sequence[str]) -> int:
    from . import collecting, label_studio  # start-up time

    options = parse_options(CollectOptions, arguments)
    out, language = options.out, options.language
    limits = collecting.Limits(
        language,
        _limits("answer_words", options.answer_words),
        _limits("question_words", options.question_words),
    )
    if "yes_no" in options.reject and get_language(language).questions is None:
        say(f"language={language} has no question words, so yes_no finds nothing")

    export = label_studio.read_exports(options.exports)
    checked = collecting.check_questions(export.questions, options.reject, limits)
    files = collecting.write_data_set(out, options.name, checked, language)

    problems = collecting.check_table(export, checked)
    print_tables([problems, collecting.size_table(export, checked)])
    print_lines(*files)
    print(f"heron train data={options.name} --config-dir {out / 'conf'} paths.data={out}")
    return 0 if checked.kept else 1


def _limits(key: str, values: Sequence[int]) -> tuple[int, int]:
    """Check an option with two numbers, the fewest and the most."""
    if len(values) != 2 or not 1 <= values[0] <= values[1]:
        shown = ",".join(map(str, values))
        raise ConfigError(f"{key}={shown}: the fewest and the most words, such as 1,30")
    return values[0], values[1]
