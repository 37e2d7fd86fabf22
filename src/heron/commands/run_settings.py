"""Words of commands on finished runs, in Hydra's grammar.

`data.<key>=value` overrides keys of a data set (`heron.data.overrides`), `task.<key>=value` those
of the run's task, and a few keys of prediction (`SETTINGS`) others of its configuration.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from heron.base.files import parse_yaml

# The overlap of windows, the tokens of a batch, which decide how much memory is taken, and the
# precision, which changes the last digits of probabilities.
SETTINGS = ("encoder.stride", "batching.tokens", "trainer.precision")
# Whether code that comes with a run's weights may run.
RUN_CODE = "encoder.trust_remote_code"


class Words(NamedTuple):
    """A command's overrides by kind."""

    options: list[str]  # the command's own; `paths.data=DIR` is one of them as `data=DIR`
    settings: list[str]  # overrides of the task's keys and of those in `SETTINGS`
    data: list[str]  # overrides of the data set
    run_code: bool = False  # whether `encoder.trust_remote_code=true` is given


def sort_words(arguments: Sequence[str]) -> Words:
    """Separate a command's own options from overrides."""
    found = Words([], [], [])
    for word in arguments:
        key, _, value = word.partition("=")
        if key == RUN_CODE:
            found = found._replace(run_code=value.lower() == "true")
        elif key in SETTINGS or key.startswith("task."):
            found.settings.append(word)
        elif key.startswith("data."):
            found.data.append(word)
        else:
            found.options.append(f"data={value}" if key == "paths.data" else word)
    return found


def read_points(words: Sequence[str]) -> list[dict[str, int | str | None]]:
    """List all combinations of the values of `SETTINGS` in overrides such as `key=10,20,30`."""
    given = {}
    for key, _, value in (word.partition("=") for word in words):
        values = [value] if value.startswith("[") else dict.fromkeys(value.split(","))
        given[key] = [parse_yaml(each) for each in values]
    return [dict(zip(given, point, strict=True)) for point in product(*given.values())]
