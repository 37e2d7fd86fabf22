"""The one module that uses what Hydra and OmegaConf keep private, with the reason beside each use.

A new release of either may change these names without notice.
"""

import copy
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl

# `hydra.main` makes one `Hydra` from `sys.argv` and calls `sys.exit`. heron composes several times
# in a process, from any list of words, and reports errors itself.
from hydra._internal.hydra import Hydra
from hydra._internal.sources_registry import SourcesRegistry

# The parser of `hydra.main`, so that `heron train` takes each of Hydra's flags.
from hydra._internal.utils import _locate, create_config_search_path, get_args_parser
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    Override,
    OverrideType,
    Quote,
    QuotedString,
    ValueType,
)
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.config_source import ConfigResult
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf
from omegaconf._utils import get_yaml_loader  # numbers as Hydra reads them

from heron.base.errors import ConfigError
from heron.base.folders import conf_dir, conf_dirs
from heron.config.constraints import field_types, key_of, root_schema, type_of
from heron.config.written import as_written, is_mapping, keep_texts, read_written

__all__ = ["Hydra", "OverridesParser", "get_args_parser"]


_parse = OverridesParser.parse_rule
_DATA = re.compile("^data:", re.MULTILINE)  # a file that sets keys of the data set
# A colon of a mapping without a blank after it, which YAML needs; or a quoted text.
_COLON = re.compile(r"""('[^']*'|"[^"]*")|:(?! )""")


def _parse_rule(parser: OverridesParser, word: str, rule: str) -> Any:
    """Parse an override; keys of mappings and texts are as they are written.

    Hydra's grammar has no keys in quotes or beyond ASCII, reads 01 and 1e1 as numbers, and adds to
    a mapping with ++ only. Its loader and sweepers make parsers of their own.
    """
    key, _, text = word.partition("=")
    name = key_of(key)
    parent, _, entry = name.rpartition(".")
    if rule != "override" or not text or not parent:
        return _parse(parser, word, rule)
    if "." in parent and is_mapping(type_of(parent)):  # asking for `task` would load all tasks
        return _parse_entry(parser, parent, entry, word)

    hint = type_of(name)
    takes_path = isinstance(hint, type) and is_dataclass(hint) and "path" in field_types(hint)
    is_whole = text.startswith(("{", "${")) or text == "null"  # such as another file's entry
    if takes_path and not is_whole:  # `data.files.train=FILE`
        return _parse_rule(parser, f"{key}.path={text}", rule)

    override = _parse_mapping(parser, word, hint) if is_mapping(hint) else None
    if override is None:
        override = _parse(parser, word, rule)
    is_element = override.value_type is ValueType.ELEMENT
    if is_element and (hint is str or get_origin(hint) is list):
        _set(override, as_written(override.value(), text, hint))
    return override


def _parse_entry(parser: OverridesParser, parent: str, entry: str, word: str) -> Any:
    """Parse an override of one entry of a mapping, `data.label_aliases.e=entailment`."""
    text = word.partition("=")[2]
    override = _parse(parser, f"++{parent}={text}", "override")
    if override.value_type is not ValueType.ELEMENT:  # a sweep
        return _parse(parser, f"++{parent}.{entry}={text}", "override")
    hint = get_args(type_of(parent))[1]
    _set(override, {entry: as_written(override.value(), text, hint)})
    override.input_line = word
    return override


def _parse_mapping(parser: OverridesParser, word: str, hint: Any) -> Any:
    """Parse an override of a mapping; None where it is none."""
    key, _, text = word.partition("=")
    try:
        value = read_written(_COLON.sub(lambda match: match[1] or ": ", text), hint)
    except ConfigError:
        return None
    if not isinstance(value, dict) or "${" in text:
        return None
    override = _parse(parser, f"{key}={{}}", "override")
    _set(override, value)
    if override.type is OverrideType.CHANGE:
        override.type = OverrideType.FORCE_ADD
    override.input_line = word
    return override


def _set(override: Override, value: Any) -> None:
    """Set the value of an override, its texts in quotes."""
    if value != override.value():
        override._value = _quoted(value)


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return QuotedString(value, Quote.single)
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    if isinstance(value, dict):
        return {_quoted(key): _quoted(item) for key, item in value.items()}
    return value


OverridesParser.parse_rule = _parse_rule  # type: ignore[method-assign,assignment]


def _keep_texts_of_files() -> None:
    """Have Hydra's reader of files keep the texts of data sets as they are written."""
    Plugins.instance()  # it loads the reader again
    source: Any = SourcesRegistry.instance().resolve("file")
    load = source.load_config
    if load.__module__ == __name__:
        return

    def load_config(self: Any, config_path: str) -> ConfigResult:
        result: ConfigResult = load(self, config_path)
        text = Path(self.path, self._normalize_file_name(config_path)).read_text("utf-8")
        is_data = config_path.startswith("data/") and result.header["package"] != "_global_"
        if is_data or _DATA.search(text):
            result.config = _read_data(text, is_data)
        return result

    source.load_config = load_config


def _read_data(text: str, is_data: bool) -> Any:
    """Read a file that is a data set, or has one under its key `data`."""
    loader = get_yaml_loader()(text)
    node = loader.get_single_node()
    data = field_types(root_schema())["data"]
    if is_data:
        keep_texts(node, data)
    else:
        for key, value in node.value:
            keep_texts(value, data if key.value == "data" else None)
    return OmegaConf.create(loader.construct_document(node))


@contextmanager
def open_hydra(name: str = "train", folders: Sequence[Path] = ()) -> Iterator[Hydra]:
    """Set up Hydra to compose; afterwards, restore its state and the logging of the caller.

    The public `hydra.initialize_config_dir` takes a single folder and cannot run a job or a sweep.

    Args:
        name: of the primary configuration, a file of `conf/`.
        folders: searched after heron's `conf/` and those of forks.
    """
    hydra_before = GlobalHydra.instance().hydra
    config_before = HydraConfig.instance().cfg
    root = logging.root
    handlers = root.handlers[:]
    level = root.level

    GlobalHydra.instance().clear()
    _keep_texts_of_files()
    search_path = create_config_search_path(str(conf_dir()))
    for folder in conf_dirs(folders)[1:]:
        schema = SearchPathQuery(provider="schema", path=None)
        search_path.prepend(folder.parent.name, f"file://{folder}", schema)
    try:
        yield Hydra.create_main_hydra2(name, search_path)
    finally:
        # There is no public way to put a former Hydra back.
        GlobalHydra.instance().hydra = hydra_before
        HydraConfig.instance().cfg = config_before
        root.handlers[:] = handlers  # `--info` and `hydra.verbose` change them
        root.setLevel(level)


def job_context(config: DictConfig, loader: ConfigLoader | None = None) -> HydraContext:
    """Make what `hydra.core.utils.run_job` needs beside a job; it calls the job's callbacks.

    Hydra's own `run` and `multirun` make their callbacks where no caller can reach them.
    """
    return HydraContext(loader, Callbacks(config))  # type: ignore[arg-type]  # a job needs no loader


def result_of(job: JobReturn) -> Any:
    """Return what a job returned, or the error that it failed with.

    The public `return_value` of a failed job prints a line and raises.
    """
    return job._return_value


def running_config() -> DictConfig:
    """Return the whole configuration of the job that Hydra is running.

    Hydra gives a task the configuration without the key `hydra`, and publishes that key alone.
    """
    whole: DictConfig = HydraConfig.get()._get_root()  # type: ignore[attr-defined]
    return whole


def locate(name: str) -> Any:
    """Import what a dotted name says, as `_target_` is resolved.

    The public `hydra.utils.get_object` also logs each error, which heron reports itself.

    Raises:
        ImportError: there is no such module or attribute.
        ValueError: it is no dotted name.
    """
    return _locate(name)


@contextmanager
def overridden(config: DictConfig, overrides: Sequence[Override], keys: set[str]) -> Iterator[None]:
    """Set keys of a composed configuration for the block, as Hydra would compose them.

    The public `load_sweep_config` composes everything again (a fifth of a second), and a copy with
    `copy.deepcopy` takes longer than to save and restore what changes.

    Args:
        config: of a job.
        overrides: of values, not of groups.
        keys: the top-level keys that they change.
    """
    nodes: Any = config._content
    sweep: Any = config.hydra.sweep._content  # resolved for one job, so that it is not asked again
    changed = [(nodes, keys & nodes.keys()), (sweep, set(sweep))]
    before = [(content, dict(content)) for content, _ in changed]
    for content, changed_keys in changed:
        for key in changed_keys:
            content[key] = copy.deepcopy(content[key])
    try:
        ConfigLoaderImpl._apply_overrides_to_config(list(overrides), config)
        yield
    finally:
        for content, saved in before:
            content.clear()
            content.update(saved)
