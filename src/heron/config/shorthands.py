"""Shorthands of `heron train`, written out: `data=NAME`, `encoder=FOLDER`."""

import re
from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError, nearest
from heron.base.folders import conf_dirs, data_sets
from heron.base.yaml_files import read_yaml
from heron.config.registries import TASKS
from heron.config.words import values_by_key

# Hub ids without an owner: models that are older than owners.
_OLD_HUB_ID = re.compile(
    r"(xlm-roberta|(distil)?(bert|roberta)|camembert|albert|xlnet|t5)"
    r"-(base|small|large|xlarge|xxlarge|3b|11b)(-[a-z0-9-]+)?|(distil)?gpt2(-medium|-large|-xl)?"
)
_MAPPINGS = ("prompting.prompt.answers", "prompting.translation.codes")


def write_out(words: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Write out every shorthand."""
    return add_prompt(follow_the_data(spell_out_encoder(words, folders), folders))


def spell_out_encoder(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Replace `encoder=<folder or hub id>` by `encoder=pretrained encoder.name=<...>`.

    An option of `conf/encoder` comes first. Folders and hub ids have a slash; without one, a folder
    with a model, an id in the local hub cache and the hub's old ids are recognised.

    Raises:
        ConfigError: a sweep over options and models together, which are values of two keys.
    """
    words = []
    for override in overrides:
        key, _, value = override.partition("=")
        values = [value.strip("'")] if value[:1] == "'" else value.split(",")
        models = [each for each in values if _is_model(each, folders)] if key == "encoder" else []
        if models and len(models) < len(values):
            option = next(each for each in values if each not in models)
            raise ConfigError(
                f"{override}: {option} is an option of conf/encoder, {models[0]} a hub id or "
                "folder, and one sweep cannot have both; take hub ids or folders alone"
            )
        words += ["encoder=pretrained", f"encoder.name={value}"] if models else [override]
    return words


def _is_model(name: str, folders: Sequence[Path]) -> bool:
    """Tell whether a value of `encoder` is a folder or hub id, and no option of `conf/encoder`."""
    if not name or name[0] in "{[":
        return False
    if "/" in name:
        return True
    if any((conf / "encoder" / f"{name}.yaml").is_file() for conf in conf_dirs(folders)):
        return False
    if _OLD_HUB_ID.fullmatch(name) or (Path(name) / "config.json").is_file():
        return True
    from huggingface_hub import constants  # start-up time: few names come here

    cached = Path(constants.HF_HUB_CACHE) / f"models--{name}"
    return bool(re.fullmatch(r"[\w.-]+", name)) and cached.is_dir()


def follow_the_data(overrides: Sequence[str], folders: Sequence[Path] = ()) -> list[str]:
    """Add to `data=<name>` the task that its YAML names, and the task's default head.

    `experiment=`, `task=` and `head=` take precedence.
    """
    named = values_by_key(overrides)
    if "data" not in named or {"task", "experiment"} & named.keys():
        return list(overrides)
    tasks = {task_of_data_set(name, folders) for name in named["data"].split(",")} - {None}
    if len(tasks) != 1:
        return list(overrides)  # an unknown data set, or two tasks: refused later
    (task,) = tasks
    chosen = {"task": str(task)}
    if "none" in named.get("baseline", "none").split(","):
        chosen["head"] = TASKS[str(task)].head
    return [*(f"{key}={value}" for key, value in chosen.items() if key not in named), *overrides]


def add_prompt(overrides: Sequence[str]) -> list[str]:
    """Add to `baseline=prompted` the prompt that has the task's name; `prompt=` wins."""
    named = values_by_key(overrides)
    # Keys of these mappings are the user's own; Hydra takes new ones with ++ only.
    words = [f"++{word}" if word.startswith(_MAPPINGS) else word for word in overrides]
    if named.get("baseline") != "prompted" or {"prompt", "experiment"} & named.keys():
        return words
    return [*words, f"prompt={named.get('task', 'relation')}"]


def task_of_data_set(name: str, folders: Sequence[Path] = ()) -> str | None:
    """Read the task of a data set of `conf/data` or of a fork; None where there is none.

    Raises:
        ConfigError: its YAML names a task that heron does not have.
    """
    path = data_sets(folders).get(name)
    if path is None:
        return None
    values = read_yaml(path)
    task = str(values.get("task", "relation")) if isinstance(values, dict) else "relation"
    if task not in TASKS:
        raise ConfigError(f"{path}: task: {task}: no such task.{nearest(task, TASKS)}")
    return task
