"""`heron prompt export`: a prompt with its examples and questions for lm-evaluation-harness.

It writes a task's YAML, with heron's templates after definitions of the language's words, and the
rows of each split as JSON lines. The harness then renders the same prompts as heron.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import dump_yaml, write_file
from heron.base.terminal import print_lines
from heron.config.constraints import key_of
from heron.data.config import TRAIN
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.tasks import BASELINES
from heron_tools.prompting.command import composed
from heron_tools.prompting.config import PromptingConfig
from heron_tools.prompting.prompts import Prompter
from heron_tools.prompting.shots import Shots, read_pool


@dataclass
class ExportOptions:
    """Options of `heron prompt export`; all other arguments are those of `heron prompt`."""

    out: Path  # a folder for a YAML and JSON lines of each split


def with_model(words: Sequence[str]) -> list[str]:
    """Add a placeholder model if none is named: the export loads no model."""
    named = any(key_of(word) == "model" for word in words)
    return [*words, *([] if named else ["model=local", "model.name=none"])]


def run(arguments: Sequence[str]) -> None:
    """Write a task and its rows; prints the files.

    Raises:
        ConfigError: settings that lm-evaluation-harness cannot express.
    """
    config, options = composed(with_model(arguments), ExportOptions)
    settings = config.prompting
    if settings is None:
        raise ConfigError("heron prompt export writes a prompt: leave baseline= out")
    translation = settings.translation
    if (settings.shots and not settings.same) or settings.prompt.examples != "text":
        raise ConfigError(
            "heron prompt export writes the same examples for every question, as text: "
            "same=true prompting.prompt.examples=text"
        )
    if settings.calibrate or translation.input or translation.output:
        raise ConfigError(
            "heron prompt export writes no calibration and no translation: leave "
            "prompting.calibrate and prompting.translation out"
        )
    loaded = load_run_data(config).examples
    splits = BASELINES["prompted"].splits(config, list(loaded))
    prompter = Prompter(config, settings.prompt)
    asked = [row for split in splits for row in loaded[split]]
    pool = read_pool(config, settings, loaded.get(TRAIN, []))
    labels = config.data.label_order if prompter.answers else []
    shots = Shots(settings, pool, asked, labels, config.seed).of(asked[0]) if asked else []
    for split in splits:
        name = f"heron_{config.data.name}_{settings.prompt.name}_{split.replace('.', '_')}"
        rows = "".join(_line(prompter, row) for row in loaded[split])
        print_lines(lines := write_file(options.out / f"{name}.jsonl", rows))
        task = _task(name, lines, prompter, settings, shots)
        print_lines(write_file(options.out / f"{name}.yaml", dump_yaml(task)))


def _line(prompter: Prompter, row: Example) -> str:
    return json.dumps(_values(prompter, row), ensure_ascii=False) + "\n"


def _values(prompter: Prompter, row: Example) -> dict[str, Any]:
    """Lay out a row: the templates' variables, and its gold answer."""
    is_known = row.label is not None or row.target is not None
    answer = prompter.gold(prompter.right_answer(row)) if is_known else ""
    return {"guid": row.guid, **prompter.values(row), "target": answer}


def _task(
    name: str,
    rows: Path,
    prompter: Prompter,
    settings: PromptingConfig,
    shots: Sequence[Example],
) -> dict[str, Any]:
    prompt, answers = settings.prompt, list(prompter.answers.values())
    known = prompter.known.items()
    before = "".join(
        f"{{% set {name} = {json.dumps(value, ensure_ascii=False)} %}}" for name, value in known
    )
    lead = _part(prompt.answer) if prompter.lead else ""
    between = '{{ "\\n" }}' if lead else ""
    shown: dict[str, Any] = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows.resolve())}},
        "test_split": "test",
        # Jinja2 drops a template's last line break.
        "description": f'{before}{_part(prompt.instruction)}{{{{ "\\n\\n" }}}}',
        "doc_to_text": f"{before}{_part(prompt.item)}{between}{lead}",
        "doc_to_target": "target",
        "fewshot_delimiter": "\n\n",
        "target_delimiter": " ",
        "num_fewshot": len(shots),
    }
    if shots:
        samples = [_values(prompter, shot) for shot in shots]
        shown["fewshot_config"] = {"sampler": "first_n", "samples": samples}
    return shown | _scored(answers, settings)


def _part(template: str) -> str:
    """Strip line breaks around a rendered template, as heron does."""
    return f'{{% filter trim("\\n") %}}{template}{{% endfilter %}}'


def _scored(answers: Sequence[str], settings: PromptingConfig) -> dict[str, Any]:
    if answers and settings.scoring != "generate":
        return {
            "output_type": "multiple_choice",
            "doc_to_choice": list(answers),
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        }
    sampling = settings.sampling
    return {
        "output_type": "generate_until",
        "generation_kwargs": {
            "until": sampling.stop or ["\n\n"],
            "max_gen_toks": sampling.max_tokens,
            "do_sample": sampling.temperature > 0,
            "temperature": sampling.temperature,
        },
        "metric_list": [
            {
                "metric": "exact_match",
                "aggregation": "mean",
                "higher_is_better": True,
                "ignore_case": True,
                "ignore_punctuation": True,
            }
        ],
    }
