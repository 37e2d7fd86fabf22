"""`encoder=FOLDER` and `encoder=ID`, written out: Hydra knows options of `conf/encoder` only."""

import re
from collections.abc import Sequence
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.folders import conf_dirs

# Hub ids without an owner: models that are older than owners.
_OLD_HUB_ID = re.compile(
    r"(xlm-roberta|(distil)?(bert|roberta)|camembert|albert|xlnet|t5)"
    r"-(base|small|large|xlarge|xxlarge|3b|11b)(-[a-z0-9-]+)?|(distil)?gpt2(-medium|-large|-xl)?"
)


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
