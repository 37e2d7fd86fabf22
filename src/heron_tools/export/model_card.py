"""The card (README.md) of an exported model, in the Hugging Face Hub's format."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from huggingface_hub import EvalResult, ModelCardData

from heron.base.cells import SYNTHETIC, Cell, Table
from heron.base.files import write_file
from heron.base.folders import data_sets
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact
from heron.base.table_files import to_markdown
from heron.data.config import TEST, VALIDATION, DataConfig, read_config
from heron.data.readers import data_set
from heron.languages import get_language
from heron.reports.map import draw_map
from heron.reports.run import score_table
from heron.results.collect import RunRecord, collect, headline_metrics
from heron.results.shipped import data_of
from heron.tasks.config import Config
from heron.tasks.task import task_of
from heron_tools.export.model_code import PLACE, usage_code
from heron_tools.export.plain import OWN_CLASS, Plain

_OWN_MACHINE = ("run.", "paths.", "launcher", "logger", "report=", "trainer.enable_progress_bar")
_FOLDERS = re.compile(r"(?<![\w.~-])[/~](?:[^\s,\]/=]*/)+")


def write_card(run: RunFolder, plain: Plain, folder: Path, name: str, place: str = PLACE) -> None:
    """Write `README.md` and, where the run recorded dynamics, the data map's picture."""
    (record,) = collect(run.path)
    data, _ = data_of(plain.config, TEST)  # of a run with stages, the last one's
    sets = [data_set(plain.config, s.data, of_stage=True) for s in plain.config.read_stages()]
    before = [each for each in sets if each.name != data.name]
    config = replace(plain.config, data=data)
    plain = replace(plain, config=config)
    has_map = any(run.dynamics(0).parent.glob("epoch=*.parquet"))
    if has_map:
        draw_map(run, folder / "map.png")
    title = f"{config.head.name} on {data.title or data.name}"
    parts = [
        f"---\n{_metadata(record, plain, name)}\n---\n",
        f"# {title}\n",
        *([f"**{SYNTHETIC.capitalize()}.**\n"] if data.synthetic else []),
        _introduction(record, config),
        f"## How to use\n\n{usage_code(plain, place)}",
        f"## Data and licence\n\n{_data(record, config, before)}",
        to_markdown(score_table(record)).replace("### ", "## ", 1),
        f"## Intended use\n\n{_use(config)}\n",
        "## Limits\n\n" + "".join(f"- {line}\n" for line in _limits(record, plain)),
        f"## Training\n\n{_training(record)}",
    ]
    if has_map:
        parts.append(
            "## Data map\n\nEach point is a training example: how sure of its label the model was "
            "(confidence), and how much that changed during training (variability).\n\n"
            "![Data map: variability and confidence of each training example](map.png)\n"
        )
    write_file(folder / "README.md", redact("\n".join(parts)))


def _metadata(run: RunRecord, plain: Plain, name: str) -> str:
    data, task = plain.config.data, task_of(plain.config)
    scores = run.scores.get(TEST, {})
    names = [metric for metric in headline_metrics([run]) if metric in scores]
    results = [
        EvalResult(
            task_type=task.about.hub_name,
            dataset_type=data.name,
            dataset_name=data.title or data.name,
            dataset_split=TEST,
            metric_type=metric,
            metric_value=round(scores[metric], 4),
        )
        for metric in names
    ]
    return ModelCardData(
        language=data.language,
        library_name="transformers",
        pipeline_tag=task.about.hub_name if task.about.hub_name != "other" else None,
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


def _introduction(run: RunRecord, config: Config) -> str:
    data, encoder = config.data, str(run.setting("encoder.name"))
    own = hub_id(run) or Path(encoder).name
    started = "random weights" if encoder == "scratch" else f"`{own}`"
    classes = f" Classes: {', '.join(data.label_order)}." if task_of(config).has_classes else ""
    does = task_of(config).about.does or f"was trained for the task {config.task.name}"
    return (
        f"A model that {does}, in {get_language(data.language).name}.{classes} Its encoder started "
        f"from {started}; its head is `{config.head.name}` (pooling {config.head.pooling}, "
        f"classifier {config.head.classifier}). It was trained by heron.\n"
    )


def _data(run: RunRecord, config: Config, before: Sequence[DataConfig]) -> str:
    data = config.data
    facts = {
        "data set": data.title or data.name,
        "language": get_language(data.language).name,
        "licence of the data": data.licence or "not known",
        "citation": data.citation,
        "homepage": data.homepage,
    }
    for other in before:
        key = f"trained before on {other.title or other.name}, licence"
        facts[key] = other.licence or "not known"
    sources = run.status.get("sources", {})
    facts |= {f"{name}, sha256": f"`{value}`" for name, value in sources.items()}
    lines = [f"- {name}: {value}" for name, value in facts.items() if value]
    sizes = (run.status.get("data") or {}).get("splits", {})
    rows: list[tuple[Cell, ...]] = [(split, counts.get("rows")) for split, counts in sizes.items()]
    table = to_markdown(Table("Rows", ("split", "rows"), tuple(rows))) if rows else ""
    note = (
        "The licence of this model is for its publisher to choose, within those of the data and of "
        "the encoder: add `license:` to the first lines of this file."
    )
    return "\n".join([*lines, "", note, "", table])


def _use(config: Config) -> str:
    name = config.data.name
    if config.data.synthetic:
        return "Trying out heron. The texts are generated: the model is of no use on real ones."
    return (
        f"Research on texts like those of {name}, in {get_language(config.data.language).name}. "
        "Nothing is known of its quality on other kinds of text; measure it on some of your own "
        "first. It is not for decisions about people."
    )


def _limits(run: RunRecord, plain: Plain) -> Iterator[str]:
    """List what heron knows against trusting the scores and the model."""
    config, data = plain.config, plain.config.data
    described = run.status.get("data") or {}
    sizes = described.get("splits", {})
    if data.synthetic:
        yield "The data are generated: no score is a research result."
    if originals := _stands_in_for(data.name):
        yield f"{data.name} stands in for {originals}: scores cannot be compared with its papers'."
    held_out = [f"{sizes[s].get('rows', 0):,} {s} rows" for s in (VALIDATION, TEST) if s in sizes]
    if held_out:
        yield f"Its scores come from {' and '.join(held_out)}."
    if TEST not in run.scores:
        yield "There is no test split: the scores are of the rows on which it was chosen."
    if VALIDATION in sizes and VALIDATION not in run.status.get("sources", {}):
        yield "The validation rows were taken from the data set's train split."
    yield (
        f"It is one training run (seed {run.setting('seed')}); the intervals do not show how much "
        "scores differ between seeds."
    )
    for split, counts in sizes.items():
        for count, what in (
            ("truncated", f"were cut at {config.encoder.max_length} tokens"),
            (
                "refused",
                f"were left out because {config.encoder.max_length} tokens do not hold them",
            ),
        ):
            if number := counts.get(count):
                yield f"{number:,} of {counts.get('rows', 0):,} {split} texts {what}."
    for split, reasons in described.get("dropped", {}).items():
        listed = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
        yield f"Rows left out of {split}: {listed}."
    for both, rows in described.get("shared", {}).items():
        if rows:
            yield f"{rows:,} examples are in both {both}."
    if data.sample.fraction < 1:
        yield f"It was trained on {data.sample.fraction:.0%} of the training rows."
    for finding in data.findings.values():
        yield f"Known of the data: {' '.join(finding.split())}"
    yield from _differences(plain)


def _differences(plain: Plain) -> Iterator[str]:
    """List what the code of this card leaves out of heron's predictions."""
    config, data = plain.config, plain.config.data
    if data.phrases.file and data.phrases.remove != "none":
        how = f"data.phrases.remove={data.phrases.remove}"
        yield f"Its hypotheses had linking phrases removed ({how}); remove them first."
    if config.task.decoding:
        how = f"task.decoding={config.task.decoding}"
        yield f"Scores are of labels chosen together ({how}); the code chooses each by itself."
    if plain.loads_as == OWN_CLASS:
        return
    yield (
        "heron unifies Unicode variants before the model reads a text (canonical letters, no "
        "direction marks); transformers does not."
    )
    if data.normalize_case != "none":
        how = f"data.normalize_case={data.normalize_case}"
        yield f"Its texts had their case changed ({how}); do that first."


def _stands_in_for(name: str) -> str:
    """Name the data sets that need files which this one does not have; empty for none."""
    naming = [path for path in data_sets().values() if name in path.read_text(encoding="utf-8")]
    known = map(read_config, naming)
    return ", ".join(each.name for each in known if each.substitute == name)


def without_folders(word: str) -> str:
    """Replace the folders in an override by `PATH/`; a whole path may have spaces in it."""
    key, _, value = word.partition("=")
    if value.startswith(("/", "~")) and "," not in value:
        return f"{key}=PATH/{Path(value).name}"
    return _FOLDERS.sub("PATH/", word)


def _training(run: RunRecord) -> str:
    words = [without_folders(str(word)) for word in run.status.get("overrides", ())]
    kept = [word for word in words if not word.lstrip("+~").startswith(_OWN_MACHINE)]
    note = (
        " `PATH` was a folder on the computer that trained it." if "PATH/" in "".join(kept) else ""
    )
    versions = ", ".join(f"{name} {v}" for name, v in run.status.get("versions", {}).items())
    commit = (run.status.get("git") or {}).get("commit", "not known")
    return (
        f"```bash\n{shlex.join(['heron', 'train', *kept])}\n```\n\n"
        f"heron {run.status.get('heron', '')}, commit {commit}; {versions}.{note}\n"
    )
