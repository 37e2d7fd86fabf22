"""The card (README.md) of an exported model, in the Hugging Face Hub's format."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from heron.base.cells import to_markdown
from heron.base.files import write_file
from heron.base.folders import data_sets
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact
from heron.data.config import TEST, VALIDATION, read_config
from heron.data.markers import event_markers
from heron.data.readers import data_set
from heron.languages import get_language
from heron.languages.language import UNDETERMINED
from heron.reports.map import draw_map
from heron.reports.pages import render
from heron.reports.run import score_table
from heron.results.collect import RunRecord, collect, headline_metrics
from heron.results.shipped import data_of
from heron.tasks.task import task_of
from heron_tools.export.difference import Difference
from heron_tools.export.plain import OWN_CLASS, Plain

_TEMPLATES = Path(__file__).parent / "templates"
_OWN_MACHINE = ("run.", "paths.", "launcher", "logger", "report=", "trainer.enable_progress_bar")
_FOLDERS = re.compile(r"(?<![\w.~-])[/~](?:[^\s,\]/=]*/)+")


def write_card(run: RunFolder, plain: Plain, difference: Difference, folder: Path) -> None:
    """Write `README.md` and, if the run recorded dynamics, the data map's picture.

    Args:
        run: the exported run.
        plain: describes the exported folder.
        difference: of its predictions to heron's.
        folder: the exported folder.
    """
    name = folder.resolve().name
    # A card is published: it names no folders of this computer.
    shown_folder = name if folder.is_absolute() else str(folder)

    (record,) = collect(run.path)
    status = record.status
    data, _ = data_of(plain.config, TEST)  # with stages, the last stage's
    config = replace(plain.config, data=data)
    plain = replace(plain, config=config)
    task = task_of(config)
    is_known = data.language != UNDETERMINED
    language = get_language(data.language).name if is_known else ""

    has_map = any(run.dynamics(0).parent.glob("epoch=*.parquet"))
    if has_map:
        draw_map(run, folder / "map.png")

    encoder = str(record.setting("encoder.name"))
    encoder_name = hub_id(record) or Path(encoder).name

    facts = {
        "data set": data.title or data.name,
        "language": language,
        "licence of the data": data.licence or "not known",
        "citation": data.citation,
        "homepage": data.homepage,
    }
    for stage in plain.config.read_stages():
        before = data_set(plain.config, stage.data, of_stage=True)
        if before.name != data.name:
            title = f"trained before on {before.title or before.name}, licence"
            facts[title] = before.licence or "not known"

    for file, digest in status.get("sources", {}).items():
        facts[f"{file}, sha256"] = f"`{digest}`"

    words = ["heron", "train"]
    for override in status.get("overrides", ()):
        word = without_folders(str(override))
        if not word.lstrip("+~").startswith(_OWN_MACHINE):
            words.append(word)

    card = render(
        "model_card.md.j2",
        _TEMPLATES,
        metadata=_metadata(record, plain, name),
        config=config,
        data=data,
        about=task.about,
        language=language,
        classes=data.label_order if task.has_classes else [],
        started="random weights" if encoder == "scratch" else f"`{encoder_name}`",
        path=shown_folder,
        usage=usage_code(plain, shown_folder),
        difference=difference,
        facts=facts,
        sizes=_split_sizes(record),
        scores=to_markdown(score_table(record)).replace("### ", "## ", 1),
        limits=list(_limits(record, plain)),
        command=shlex.join(words),
        status={"heron": "", "git": {}, "versions": {}, **status},
        has_map=has_map,
    )
    write_file(folder / "README.md", redact(card))


def _split_sizes(run: RunRecord) -> dict[str, Any]:
    """Return the counts of rows that the run recorded, by split; empty without any."""
    sizes: dict[str, Any] = (run.status.get("data") or {}).get("splits", {})
    return sizes


def usage_code(plain: Plain, folder: str) -> str:
    """Write code that predicts as heron does, without heron, as a block of Markdown.

    Args:
        plain: describes the exported folder.
        folder: its name in the code.
    """
    config = plain.config
    about = task_of(config).about
    texts = [name.replace("_pair", "") for name in about.texts]
    return render(
        "usage.md.j2",
        _TEMPLATES,
        path=folder,
        loads_as=plain.loads_as,
        own=plain.loads_as == OWN_CLASS,
        attends_globally=plain.attends_globally,
        threshold=repr(plain.threshold),
        can_be_empty=len(config.data.label_order) > 1,
        encoder=config.encoder,
        input=config.head.input,
        task=config.task,
        hub_name=about.hub_name,
        texts=[f'"a {text}"' for text in texts],
        example=_example(plain),
    )


def _example(plain: Plain) -> str:
    """Write the text, or the two texts, that a model with classes reads."""
    data = plain.config.data
    form = plain.config.head.input
    if form in ("marked", "window"):
        opening_1, closing_1, opening_2, closing_2 = event_markers(data)
        return (
            f'"a text with {opening_1} one {closing_1} and {opening_2} another {closing_2} event"'
        )

    has_two = plain.loads_as == OWN_CLASS and data.columns.text_pair is not None
    if has_two or form in ("pair", "separate"):
        return '{"text": "a premise", "text_pair": "a hypothesis"}'

    return f'"a {form}"'


def _metadata(run: RunRecord, plain: Plain, name: str) -> str:
    """Write the card's header, which the hub reads."""
    data = plain.config.data
    hub_name = task_of(plain.config).about.hub_name

    results = []
    for metric in headline_metrics([run]):
        score = run.scores.get(TEST, {}).get(metric)
        if score is None:
            continue

        result = EvalResult(
            task_type=hub_name,
            dataset_type=data.name,
            dataset_name=data.title or data.name,
            dataset_split=TEST,
            metric_type=metric,
            metric_value=round(score, 4),
        )
        results.append(result)

    return ModelCardData(
        language=data.language if data.language != UNDETERMINED else None,
        library_name="transformers",
        pipeline_tag=hub_name if hub_name != "other" else None,
        base_model=hub_id(run),
        tags=["heron", "synthetic-data"] if data.synthetic else ["heron"],
        model_name=name,
        eval_results=results or None,
    ).to_yaml()


def hub_id(run: RunRecord) -> str | None:
    """Return an encoder's id on the hub; None for a folder or random weights."""
    encoder = str(run.setting("encoder.name"))
    is_folder = "encoder" in run.status.get("sources", {}) or Path(encoder).exists()
    if encoder == "scratch" or is_folder:
        return None

    is_id = re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", encoder)
    return encoder if is_id else None


def _limits(run: RunRecord, plain: Plain) -> Iterator[str]:
    """List the known limits of the scores and of the model."""
    data = plain.config.data
    sizes = _split_sizes(run)
    if data.synthetic:
        yield "The data are generated: no score is a research result."

    known_sets = [read_config(path) for path in data_sets().values()]
    originals = [known.name for known in known_sets if known.substitute == data.name]
    if originals:
        names = ", ".join(originals)
        yield f"{data.name} is substitute data for {names}; scores cannot be compared."

    held_out = []
    for split in (VALIDATION, TEST):
        if split in sizes:
            rows = sizes[split].get("rows", 0)
            held_out.append(f"{rows:,} {split} rows")

    if held_out:
        yield f"Its scores come from {' and '.join(held_out)}."
    if TEST not in run.scores:
        yield "There is no test split: the scores are on the rows that chose the checkpoint."
    if VALIDATION in sizes and VALIDATION not in run.status.get("sources", {}):
        yield "The validation rows were taken from the data set's train split."

    seed = run.setting("seed")
    yield (
        f"It is one training run (seed {seed}); the intervals do not show how much "
        "scores differ between seeds."
    )
    yield from map(without_folders, run.warnings)
    if data.sample.fraction < 1:
        yield f"It was trained on {data.sample.fraction:.0%} of the training rows."

    # Steps of heron's predictions that the code of this card lacks.
    if data.phrases != "none":
        key = f"data.phrases={data.phrases}"
        yield f"Its hypotheses had linking phrases removed ({key}); remove them first."

    if plain.loads_as == OWN_CLASS:
        return

    yield (
        "heron unifies Unicode variants before the model reads a text (canonical letters, no "
        "direction marks); transformers does not."
    )
    if data.normalize_case != "none":
        key = f"data.normalize_case={data.normalize_case}"
        yield f"Its texts had their case changed ({key}); do that first."


def without_folders(word: str) -> str:
    """Replace the folders in an override by `PATH/`.

    Args:
        word: `key=value`; a value that is one path may have spaces.
    """
    key, _, value = word.partition("=")
    if value.startswith(("/", "~")) and "," not in value:
        return f"{key}=PATH/{Path(value).name}"
    return _FOLDERS.sub("PATH/", word)
