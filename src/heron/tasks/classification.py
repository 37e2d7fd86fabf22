"""Single-text classification: which class does a text have?"""

from functools import partial

from heron.base.registry import Registry
from heron.data import SettingRules
from heron.data.config import second_text_problems
from heron.data.rows import Format
from heron.tasks.class_readers import TEXT_TABLE
from heron.tasks.task import FOR_TEXTS, About, ClassTask

FORMATS: Registry[Format] = Registry("data format")


FORMATS.register("text_table", TEXT_TABLE)

TASK = ClassTask(
    forms=("text",),
    formats=FORMATS,
    head="text",
    rules=SettingRules(
        long_forms=("text",),
        data_problems=partial(second_text_problems, is_needed=False),
        ignores=(*FOR_TEXTS, "data.phrases", "data.normalize_case=capitalize"),
    ),
    about=About(hub_name="text-classification", does="chooses the class of a text"),
)
