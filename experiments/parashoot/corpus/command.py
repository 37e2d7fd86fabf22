"""`heron build parashoot`: draw paragraphs (`sample`), collect questions (`collect`)."""

from __future__ import annotations

from collections.abc import Sequence

from heron.base.errors import ConfigError
from heron.base.files import write_file, write_json
from heron.base.terminal import print_lines, print_tables, say
from heron.config.parsing import parse_options, run_step
from heron.languages import get_language


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code: 1 if no question is left.

    Raises:
        ConfigError: an unknown step or option.
        DataError: files that cannot be used.
    """
    return run_step(arguments, {"sample": _sample, "collect": _collect})


def _sample(arguments: Sequence[str]) -> int:
    from . import articles, label_studio  # start-up time

    options = parse_options(articles.SampleArticlesOptions, arguments)
    out = options.out
    language = options.language
    tasks = out / "tasks.json"
    if tasks.exists():
        raise ConfigError(f"out={out}: {tasks.name} exists already; name a new folder")

    wording = label_studio.wording(language)
    instructions = "\n".join(wording["instructions"])
    sampled = articles.draw_paragraphs(options)
    write_json(tasks, label_studio.make_tasks(sampled.paragraphs, options.seed))
    labelling = write_file(out / "labelling.xml", label_studio.labelling_config(language))
    write_file(out / "instructions.txt", f"{instructions}\n")

    titles = {paragraph.title for paragraph in sampled.paragraphs}
    drawn = len(titles)
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

    options = parse_options(collecting.CollectQuestionsOptions, arguments)
    language = options.language
    _check_limits("answer_words", options.answer_words)
    _check_limits("question_words", options.question_words)
    if "yes_no" in options.reject and get_language(language).questions is None:
        say(f"language={language} has no question words, so yes_no finds nothing")

    export = label_studio.read_exports(options.exports)
    checked = collecting.check_questions(export.questions, options)
    files = collecting.write_data_set(options, checked)

    problems = collecting.check_table(export, checked)
    sizes = collecting.size_table(export, checked)
    print_tables([problems, sizes])
    print_lines(*files)
    conf = options.out / "conf"
    print(f"heron train data={options.name} --config-dir {conf} paths.data={options.out}")
    return 0 if checked.kept else 1


def _check_limits(key: str, limits: Sequence[int]) -> None:
    """Refuse anything but two numbers of words, the fewest and the most."""
    if len(limits) != 2 or not 1 <= limits[0] <= limits[1]:
        shown = ",".join(map(str, limits))
        raise ConfigError(f"{key}={shown}: the fewest and the most words, such as 1,30")
