"""Single-text classification: which class does a text have?"""

from collections.abc import Iterator

from heron.base.registry import Registry
from heron.data import Rules
from heron.data.config import DataConfig, changed_keys, second_text_problems
from heron.data.rows import Format
from heron.tasks.class_readers import TEXT_TABLE
from heron.tasks.task import About, ClassTask


def one_text_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names no second text, and nothing that changes only that one."""
    yield from second_text_problems(config, is_needed=False)
    changed = changed_keys(config, "phrases")
    if config.normalize_case == "capitalize":
        changed.append("data.normalize_case=capitalize")
    for key in changed:
        yield f"{key} changes the second text; data.task=classification has one text"


FORMATS: Registry[Format] = Registry("data format")


FORMATS.register("text_table", TEXT_TABLE)

TASK = ClassTask(
    forms=("text",),
    formats=FORMATS,
    head="text",
    rules=Rules(long_forms=("text",), data_problems=one_text_problems),
    about=About(hub_name="text-classification", does="chooses the class of a text"),
)
