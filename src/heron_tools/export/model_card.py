"""The card (README.md) of an exported model, in the Hugging Face Hub's format."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
    """Write `README.md` and, if the run recorded dynamics, the data map's picture."""
    name = folder.resolve().name
    place = name if folder.is_absolute() else str(folder)  # a card is published: no own folders
    (record,) = collect(run.path)
    data, _ = data_of(plain.config, TEST)  # with stages, the last stage's
    sets = [data_set(plain.config, s.data, of_stage=True) for s in plain.config.read_stages()]
    config = replace(plain.config, data=data)
    plain = replace(plain, config=config)
    has_map = any(run.dynamics(0).parent.glob("epoch=*.parquet"))
    if has_map:
        draw_map(run, folder / "map.png")
    encoder, status = str(record.setting("encoder.name")), record.status
    own = f"`{hub_id(record) or Path(encoder).name}`"
    facts = {
        "data set": data.title or data.name,
        "language": get_language(data.language).name,
        "licence of the data": data.licence or "not known",
        "citation": data.citation,
        "homepage": data.homepage,
        **{
            f"trained before on {each.title or each.name}, licence": each.licence or "not known"
            for each in sets
            if each.name != data.name
        },
        **{f"{name}, sha256": f"`{value}`" for name, value in status.get("sources", {}).items()},
    }
    words = [without_folders(str(word)) for word in status.get("overrides", ())]
    kept = [word for word in words if not word.lstrip("+~").startswith(_OWN_MACHINE)]
    card = render(
        "model_card.md.j2",
        _TEMPLATES,
        metadata=_metadata(record, plain, name),
        config=config,
        data=data,
        about=task_of(config).about,
        language=get_language(data.language).name,
        classes=data.label_order if task_of(config).has_classes else [],
        started="random weights" if encoder == "scratch" else own,
        place=place,
        usage=usage_code(plain, place),
        difference=difference,
        facts=facts,
        sizes=(status.get("data") or {}).get("splits", {}),
        scores=to_markdown(score_table(record)).replace("### ", "## ", 1),
        limits=list(_limits(record, plain)),
        command=shlex.join(["heron", "train", *kept]),
        status={"heron": "", "git": {}, "versions": {}, **status},
        has_map=has_map,
    )
    write_file(folder / "README.md", redact(card))


def usage_code(plain: Plain, place: str) -> str:
    """Write code that predicts as heron does, without heron, as a block of Markdown."""
    config = plain.config
    return render(
        "usage.md.j2",
        _TEMPLATES,
        place=place,
        loads_as=plain.loads_as,
        own=plain.loads_as == OWN_CLASS,
        attends_globally=plain.attends_globally,
        threshold=repr(plain.threshold),
        can_be_empty=len(config.data.label_order) > 1,
        encoder=config.encoder,
        input=config.head.input,
        task=config.task,
        hub_name=task_of(config).about.hub_name,
        texts=[f'"a {name.replace("_pair", "")}"' for name in task_of(config).about.texts],
        read=_example(plain),
    )


def _example(plain: Plain) -> str:
    """Write the text, or the two texts, that a model with classes reads."""
    data, form = plain.config.data, plain.config.head.input
    if form in ("marked", "window"):
        one, end_1, two, end_2 = event_markers(data)
        return f'"a text with {one} one {end_1} and {two} another {end_2} event"'
    has_two = plain.loads_as == OWN_CLASS and data.columns.text_pair is not None
    if has_two or form in ("pair", "separate"):
        return '{"text": "a premise", "text_pair": "a hypothesis"}'
    return f'"a {form}"'


def _metadata(run: RunRecord, plain: Plain, name: str) -> str:
    data, hub_name = plain.config.data, task_of(plain.config).about.hub_name
    scores = run.scores.get(TEST, {})
    results = [
        EvalResult(
            task_type=hub_name,
            dataset_type=data.name,
            dataset_name=data.title or data.name,
            dataset_split=TEST,
            metric_type=metric,
            metric_value=round(scores[metric], 4),
        )
        for metric in headline_metrics([run])
        if metric in scores
    ]
    return ModelCardData(
        language=data.language,
        library_name="transformers",
        pipeline_tag=hub_name if hub_name != "other" else None,
        base_model=hub_id(run),
        tags=["heron", *(["synthetic-data"] if data.synthetic else [])],
        model_name=name,
        eval_results=results or None,
    ).to_yaml()


def hub_id(run: RunRecord) -> str | None:
    """Return an encoder's id on the hub; None for a folder or random weights."""
    encoder = str(run.setting("encoder.name"))
    is_id = re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", encoder) and encoder != "scratch"
    is_folder = "encoder" in run.status.get("sources", {}) or Path(encoder).exists()
    return encoder if is_id and not is_folder else None


def _limits(run: RunRecord, plain: Plain) -> Iterator[str]:
    """List the known limits of the scores and of the model."""
    data, sizes = plain.config.data, (run.status.get("data") or {}).get("splits", {})
    if data.synthetic:
        yield "The data are generated: no score is a research result."
    known = map(read_config, data_sets().values())
    if originals := ", ".join(each.name for each in known if each.substitute == data.name):
        yield f"{data.name} is substitute data for {originals}; scores cannot be compared."
    held_out = [f"{sizes[s].get('rows', 0):,} {s} rows" for s in (VALIDATION, TEST) if s in sizes]
    if held_out:
        yield f"Its scores come from {' and '.join(held_out)}."
    if TEST not in run.scores:
        yield "There is no test split: the scores are on the rows that chose the checkpoint."
    if VALIDATION in sizes and VALIDATION not in run.status.get("sources", {}):
        yield "The validation rows were taken from the data set's train split."
    yield (
        f"It is one training run (seed {run.setting('seed')}); the intervals do not show how much "
        "scores differ between seeds."
    )
    yield from map(without_folders, run.warnings)
    if data.sample.fraction < 1:
        yield f"It was trained on {data.sample.fraction:.0%} of the training rows."
    # Steps of heron's predictions that the code of this card lacks.
    if data.phrases != "none":
        how = f"data.phrases={data.phrases}"
        yield f"Its hypotheses had linking phrases removed ({how}); remove them first."
    if plain.loads_as == OWN_CLASS:
        return
    yield (
        "heron unifies Unicode variants before the model reads a text (canonical letters, no "
        "direction marks); transformers does not."
    )
    if data.normalize_case != "none":
        how = f"data.normalize_case={data.normalize_case}"
        yield f"Its texts had their case changed ({how}); do that first."


def without_folders(word: str) -> str:
    """Replace the folders in an override by `PATH/`; a single path may have spaces."""
    key, _, value = word.partition("=")
    if value.startswith(("/", "~")) and "," not in value:
        return f"{key}=PATH/{Path(value).name}"
    return _FOLDERS.sub("PATH/", word)
