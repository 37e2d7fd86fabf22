"""A heron in small: its code, and `conf` with tiny encoders, one epoch and data sets of 100 rows.

The commands of the pages run on it as they are written. Data sets have made-up rows in their own
files and columns, and hub ids lead to models of 32 units.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from chronicle.corpus import TELLERS, ChronicleConfig, write
from heron.base.folders import conf_dir
from heron.base.tables import write_table
from heron.config.words import PARSER, readable
from heron.data.config import DataConfig, read_config
from small_prompts import save_causal_model
from tiny_models import save_model, tokenizer_of

Row = dict[str, Any]

ROOT = conf_dir().parent
# Of commands and YAML alike.
SMALLER = (
    (r"\b(max_epochs[:=] ?)\d+\b(?! ckpt_path)", r"\g<1>1"),
    (r"\b(max_steps[:=] ?)\d+", r"\g<1>2"),
    (r"\b(max_new_tokens[:=] ?|max_target_tokens[:=] ?)\d+", r"\g<1>8"),
    (r"\b(num_beams[:=] ?)\d+", r"\g<1>1"),
    (r"\b(workers=)\d+", r"\g<1>1"),
    (r"\b(folds=|trials=|devices[:=] ?)\d+", r"\g<1>2"),
    (r"\b(max_length: )4096", r"\g<1>256"),
    (r"(generator\.size=|^ +size: )\d{4,}", r"\g<1>160"),
    (r"(premise_sentences[:=] ?)\[8, ?\d+\]", r"\g<1>[8,9]"),
    (r" (size|articles)=\d+", r" \1=10"),
    (r"bf16-mixed", "32-true"),
)
PINS = "|".join(
    (
        r",\n +sha256: \w+(?=\})",
        r"^ {4,}(sha256|git_blob|unseen|size|rows|url): .*\n",
        r", rows: \d+|, unseen: true",
        r"^counts:.*\n(  .*\n)*",
    )
)
SCRATCH = "{vocabulary: 400, hidden: 32, layers: 1, heads: 2, intermediate: 32}"
CPU = "precision: 32-true\naccelerator: cpu\nthreads: 1\nenable_progress_bar: false\n"
# Of a task: rows of which built-in corpus, its texts, and what is predicted.
TEXTS = {
    "relation": ("relation", "text", "text", "label"),
    "classification": ("relation", "text", "text", "label"),
    "nli": ("nli", "premise", "hypothesis", "label"),
    "qa": ("qa", "context", "question", "answer"),
    "summarization": ("summarization", "article", "summary", "summary"),
    "mlm": ("summarization", "article", "summary", "summary"),
}
MORE_MODELS = (
    *("dicta-il/dictabert", "google/mt5-small", "sentence-transformers/all-MiniLM-L6-v2"),
    *("Helsinki-NLP/opus-mt-en-he", "Helsinki-NLP/opus-mt-he-en"),
)
KINDS = {"mlong-t5": "t5", "mt5": "t5", "opus-mt": "opus"}


def smaller(text: str) -> str:
    """Make the numbers of a command, or of a YAML, small."""
    for pattern, small in SMALLER:
        text = re.sub(pattern, small, text, flags=re.M)
    return text


def fewer(words: list[str]) -> list[str]:
    """Keep the ends of a sweep's first list, and the first value of all others."""
    is_experiment = any(word.startswith("experiment=") for word in words)
    found, two = [], True
    for word in sorted(words, key=lambda word: word.startswith("seed=")):
        override = None if "=" not in word else PARSER.parse_override(readable(word))
        if override and override.is_sweep_override() and not override.is_interval_sweep():
            values = list(override.sweep_string_iterator())
            two = two and not (word.startswith("seed=") and is_experiment)
            kept = [values[0], values[-1]] if two else values[:1]
            word, two = f"{override.key_or_group}={','.join(kept)}", False
        found.append(word)
    return found


def write_heron(folder: Path, encoder: Path) -> Path:
    """Write the small heron: `src`, `conf`, `experiments`, and its data and hub beside them."""
    _write_conf(folder)
    _write_data(folder / "data")
    _write_hub(folder, encoder)
    return folder


def _write_conf(folder: Path) -> None:
    for part in ("src", "conf", "experiments"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*folder.glob("conf/**/*.yaml"), *folder.glob("experiments/*/conf/**/*.yaml")):
        text = smaller(path.read_text(encoding="utf-8"))
        text, grid, params = text.partition("\nhydra:\n  mode:")
        if grid:
            lists = yaml.safe_load(grid + params)["hydra"]["sweeper"]["params"]
            pairs = (word.partition("=") for word in fewer([f"{k}={v}" for k, v in lists.items()]))
            sweep = {"sweeper": {"params": {key: value for key, _, value in pairs}}}
            text += "\n" + yaml.safe_dump({"hydra": {"mode": "MULTIRUN", **sweep}})
        if path.parent.name == "data":
            text = re.sub(PINS, "", text, flags=re.M)
        if path.parent.name == "trainer":
            text += CPU
        if path.parent.name == "task":
            text = re.sub(r"^( *)name: .*\n", r"\g<0>\g<1>bootstrap: 0\n", text, flags=re.M)
        if path.name == "scratch.yaml":
            text = text.replace("name: scratch", f"name: scratch\n  scratch: {SCRATCH}")
        path.write_text(text, encoding="utf-8")


@cache
def rows_of(task: str, language: str = "he", split: str = "train") -> list[Row]:
    """Generate rows of a task, as the built-in corpus has them."""
    sentences = (8, 9) if task == "summarization" else (2, 4)
    settings = ChronicleConfig(
        task=task, language=language, size=160, premise_sentences=list(sentences)
    )
    with TemporaryDirectory() as folder:
        path = write(settings, Path(folder))[split]
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def substitute_rows(config: DataConfig, split: str, language: str = "") -> list[Row]:
    """Give rows of the built-in corpus the columns and classes of a data set, beside their own."""
    task, first, second, _ = TEXTS[config.task]
    names, found = config.columns, []
    known = [each for each in (language or config.language, "en") if each in TELLERS]
    rows = rows_of(task, known[0], split)
    classes = sorted({row.get("label", "") for row in rows})
    labels = config.label_order or classes
    for row in rows:
        label = labels[classes.index(row.get("label", "")) % len(labels)]
        fields = (*names.side, names.truth, config.label_field.get(split), names.label)
        columns = dict.fromkeys(fields, label) | {names.group: row["document"]}
        columns |= {names.target: row[second], names.text_pair: row[second]}
        columns |= {names.text: row[first], names.guid: row["guid"]}
        found.append(row | {name: value for name, value in columns.items() if name})
        if config.join:  # it has the ids
            found[-1].pop("guid")
    return found


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as the path's ending says; JSON is SQuAD's where the rows are questions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".csv", ".jsonl"):
        write_table(path, {key: [row[key] for row in rows] for key in rows[0]})
        return
    whole: Any = rows
    if "question" in rows[0]:
        whole = {"version": "v1.1", "data": [_squad(row) for row in rows]}
    path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")


def _squad(row: Row) -> Row:
    answers = {"text": [row["answer"]], "answer_start": [row["answer_start"]]}
    return row | {"id": row["guid"], "title": row["document"], "answers": answers}


def write_files(config: DataConfig, folder: Path) -> None:
    """Write made-up files of one data set."""
    for split, file in config.split_files.items():
        write_rows(folder / file.path, substitute_rows(config, split))
    for name, file in config.files.items():
        if name.startswith("train_"):  # subsets of train, and statistics of its rows
            statistics = {"confidence": 0.5, "variability": 0.1, "correctness": 1}
            write_rows(
                folder / file.path, [r | statistics for r in substitute_rows(config, "train")]
            )


def _write_data(folder: Path) -> None:
    """Write made-up files for every data set of heron and the papers that reads files."""
    papers = [file.parent for file in ROOT.glob("experiments/*/published.yaml")]
    confs = [ROOT / "conf", *(paper / "conf" for paper in papers)]
    paths = [path for conf in confs for path in conf.glob("data/[!o]*.yaml")]  # own_*: the user's
    for path in sorted(paths, key=lambda path: path.name):
        config = read_config(path)
        write_files(config, folder)
        for file in config.texts.files:
            _write_treebank(folder / file.path)
        if "phrases" in config.files:
            phrases = {"contrastive": ["Totuși"], "entailment": ["Deci"], "reasoning": ["Astfel"]}
            (folder / config.files["phrases"].path).write_text(
                json.dumps(phrases), encoding="utf-8"
            )
    joined = {"id": "guid", "document_number": "document", "hadar": "label", "shir": "label"}
    rows = [
        {"text": row["text"], "curated": "", **{key: row[name] for key, name in joined.items()}}
        for split in ("train", "test")
        for row in rows_of("relation", "he", split)
    ]
    write_rows(folder / "trc" / "training-data" / "TRC_dataset.csv", rows)


def _write_treebank(path: Path) -> None:
    lines = []
    for row in rows_of("summarization"):
        lines.append(f"# sent_id = {row['guid']}\n# text = {row['summary']}")
        for number, word in enumerate(row["summary"].split(), 1):
            lines.append("\t".join([str(number), word, word, "X", "_", "_", "0", "_", "_", "_"]))
        lines.append("")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def _write_hub(folder: Path, encoder: Path) -> None:
    """Write a local cache of the hub, in which each id of an encoder is a tiny model."""
    tokenizer = tokenizer_of(encoder)
    end = {"decoder_start_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.sep_token_id}
    t5 = {"d_kv": 16, "d_ff": 32, "num_decoder_layers": 2, "max_position_embeddings": None, **end}
    generates = "AutoModelForSeq2SeqLM"
    save_model(
        "bert", tokenizer, folder / "bert", num_hidden_layers=12, max_position_embeddings=512
    )
    save_model("t5", tokenizer, folder / "t5", generates, **t5)
    # Translations end at so many tokens.
    opus = t5 | {"max_position_embeddings": 8}
    save_model("t5", tokenizer, folder / "opus", generates, **opus)
    save_causal_model(encoder, folder / "llama")
    options = "".join(path.read_text(encoding="utf-8") for path in folder.glob("conf/encoder/*"))
    for name in (*re.findall(r"^name: (\S+/\S+)", options, re.M), *MORE_MODELS):
        place = folder / "hub" / f"models--{name.replace('/', '--')}"
        (place / "refs").mkdir(parents=True)
        (place / "refs" / "main").write_text("0" * 40)
        kind = next((kind for part, kind in KINDS.items() if part in name), "bert")
        shutil.copytree(folder / kind, place / "snapshots" / ("0" * 40))
