"""Weights of pretrained models: all of them come from the file, none is drawn at random."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from heron.base.errors import ConfigError
from heron.data.hub import loading

# What DDP and torch.compile put before the names of the weights of a model that they wrap.
_WRAPPER = r"(?<![^.])(?:(?:module|_orig_mod)\.)+"
_SHOWN = 3  # names in an error


def load_weights(
    auto_class: Any,
    name: str,
    read_part: Callable[[Any], Any] = lambda model: model,
    optional: str | None = None,
    **options: Any,
) -> Any:
    """Load a model by `auto_class.from_pretrained`, and check that the file has all its weights.

    transformers draws weights that a file lacks at random, and only logs it. Where the names in
    the file begin as those of a wrapped model (`module.` of DDP, `_orig_mod.` of torch.compile),
    they are read without the wrapper's name.

    Args:
        auto_class: of transformers, such as `AutoModel`.
        name: hub id or folder.
        read_part: returns the part of the model that is read; what other parts lack is not checked.
        optional: a pattern for names of weights that may be missing because nothing reads them.
        options: of `from_pretrained`.

    Raises:
        ConfigError: the model cannot be loaded, or weights are missing or of another shape.
    """
    options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
    random_state = torch.get_rng_state()
    with loading(name):
        model, report = auto_class.from_pretrained(name, **options)
        if any(re.search(_WRAPPER, key) for key in report["unexpected_keys"]):
            torch.set_rng_state(random_state)  # the first loading has drawn all weights
            options["key_mapping"] = {_WRAPPER: ""}
            model, report = auto_class.from_pretrained(name, **options)
            # `save_pretrained` would undo every renaming of the loading.
            steps = model._weight_conversions
            kept = [step for step in steps if _WRAPPER not in step.source_patterns]
            model._weight_conversions = kept
    read = {id(weight) for weight in read_part(model).state_dict(keep_vars=True).values()}
    weights = model.state_dict(keep_vars=True)

    def counts(key: str) -> bool:
        is_optional = optional is not None and re.search(optional, key) is not None
        return id(weights.get(key)) in read and not is_optional

    missing = sorted(key for key in report["missing_keys"] if counts(key))
    if missing:
        raise ConfigError(
            f"encoder.name={name}: {len(missing)} of the {len(read)} weights of a "
            f"{model.config.model_type} model are not in its file ({_first(missing)}). Compare "
            f"config.json with the file, which has {_first(sorted(report['unexpected_keys']))}"
        )
    reshaped = []
    for key, in_file, in_model in sorted(report["mismatched_keys"]):
        if counts(key):
            reshaped.append(f"{key} is {list(in_file)}, not {list(in_model)}")
    if reshaped:
        raise ConfigError(
            f"encoder.name={name}: {len(reshaped)} weights of its file have another shape than "
            f"config.json says ({_first(reshaped)})"
        )
    return model


def _first(names: Sequence[str]) -> str:
    if not names:
        return "no others"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
