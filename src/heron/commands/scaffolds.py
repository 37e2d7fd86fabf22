"""What `heron new` writes: the code of a page of `experiments/adding`, under another name.

The pages are the templates, so that nothing is kept twice; a test runs their code as it stands
there. A data set's YAML is a copy of `conf/data/own_<...>.yaml`; a task may be a copy of a fork.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file
from heron.base.folders import conf_dir, conf_dirs, experiment_roots
from heron.base.registry import Registry
from heron.data import PLANS, TASKS
from heron.dynamics import DIFFICULTIES
from heron.languages import LANGUAGES
from heron.metrics import METRICS
from heron.models import POOLINGS

_FORK = "village"  # the pages' fork
_BLOCK = re.compile(r'^```\w+ title="(?P<file>[^"]+)"\n(?P<code>.*?)^```$', re.M | re.S)
_COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.M | re.S)
_FILES = """# Change the title above, the classes, the columns and these.
files:
  train: {{path: {0}/train.csv}}
  test: {{path: {0}/test.csv}}
validation: {{fraction: 0.2, by: row, seed: 0}}
"""
# Keys of a data set that name its files and say how they are split, with what is below them.
_SPLITS = re.compile(r"^(files|holdout|validation):.*?(?=^\w|\Z)", re.M | re.S)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of addition; its page has its name."""

    # The name on the page, which the new one replaces. Files without it in their name are shown by
    # the page only.
    example: str
    group: str = ""  # the config group in which the name must be new
    registry: Registry[Any] | None = None  # in which the name must be new


KINDS = {
    "dataset": Kind("village_news", "data"),
    "language": Kind("lad", registry=LANGUAGES),
    "head": Kind("largest", "head", POOLINGS),
    "curriculum": Kind("rare_last", "curriculum", DIFFICULTIES),
    "plan": Kind("sortish", "batching", PLANS),
    "metric": Kind("mean_recall", registry=METRICS),
    "task": Kind("headlines", "task", TASKS),
    "prompt": Kind("yes_or_no", "prompt"),
    "experiment": Kind("first"),
}


@dataclass(frozen=True, slots=True)
class Scaffold:
    """Files to write, and what to type next."""

    files: dict[Path, str]  # text by path
    start: Path  # the fork's `__init__.py`
    imports: str  # lines to add to it
    commands: list[str]  # to use what was written

    def write(self) -> Iterator[Path]:
        """Write all files, then the import; yields each path.

        Raises:
            ConfigError: one of the files exists. Nothing is written then.
        """
        present = [str(path) for path in self.files if path.exists()]
        if present:
            names = ", ".join(present)
            raise ConfigError(
                f"{names}: exists already, and nothing is overwritten; choose another "
                "name, or move the file away"
            )

        for path, text in self.files.items():
            yield write_file(path, text)

        if self.imports:
            before = f'"""What the fork {self.start.parent.name} adds to heron."""\n\n'
            if self.start.is_file():
                before = self.start.read_text(encoding="utf-8").rstrip("\n") + "\n"
            yield write_file(self.start, before + self.imports)


def scaffold(kind: str, name: str, fork: str = "", task: str = "", like: str = "") -> Scaffold:
    """Make the files of a new addition.

    Args:
        kind: one of `KINDS`.
        name: of the addition, as a configuration names it.
        fork: folder in `experiments/`; empty: `name`.
        task: of a data set, or one that a head is for; empty: `nli`.
        like: of a task: a fork to copy that registers a task of its own name; empty: the page's.

    Raises:
        ConfigError: an unknown kind or task, a name that cannot be used or that is taken.
    """
    if kind not in KINDS:
        raise ConfigError(f"no kind '{kind}'.{nearest(kind, KINDS, listed=True)}")
    if task and kind not in ("dataset", "head"):
        raise ConfigError(f"task={task} is an option of heron new dataset and head only")
    if like and kind != "task":
        raise ConfigError(f"like={like} is an option of heron new task only")

    fork = fork or name
    _check_name("name", name)
    _check_name("fork", fork)
    _check_new(kind, name)

    example = like or KINDS[kind].example
    new_names = {example: name, _FORK: fork}
    if kind == "language":
        new_names |= _of_language(name)
    if kind == "head" and task:
        new_names |= _of_head(task)

    # A name may be a part of another one that `_` joins, as in `test_largest`.
    old_name = re.compile(rf"(?<![^\W_])({'|'.join(new_names)})(?![^\W_])")

    def renamed(text: str) -> str:
        return old_name.sub(lambda match: new_names[match[1]], text)

    blocks, commands = _of_fork(like) if like else _of_page(kind)
    lines = blocks.get("__init__.py", "").splitlines(keepends=True)
    imports = "".join(line for line in lines if example in line)

    root = _root(fork)
    folder = root / "experiments" / fork
    files = {}
    for file, code in blocks.items():
        if example in file:
            # pytest imports each `__init__.py` above a test: tests are not in the fork's folder.
            parent = root if file.startswith("tests/") else folder
            files[parent / renamed(file)] = renamed(code)

    if kind == "dataset":
        files[folder / f"conf/data/{name}.yaml"] = _own_data(name, task or "nli")

    commands = [renamed(command) for command in commands]
    return Scaffold(files, folder / "__init__.py", renamed(imports), commands)


def _of_language(code: str) -> dict[str, str]:
    """Map the page's facts about its language to CLDR's about another one."""
    from heron.languages.unlisted import direction, letters, name_and_script  # start-up time

    name, script = name_and_script(code)
    return {"Ladino": name, "Hebr": script, "rtl": direction(letters(script))}


def _of_head(task: str) -> dict[str, str]:
    """Map the input form, the heads and the data set of the page's head to those of a task."""
    from heron.tasks.task import ClassTask  # start-up time

    with_classes = [name for name in TASKS if isinstance(TASKS[name], ClassTask)]
    if task not in with_classes:
        raise ConfigError(
            f"task={task}: a pooling and a classifier are a head of tasks with classes."
            f"{nearest(task, with_classes, listed=True)}"
        )

    form = TASKS[task].forms[0]
    head = TASKS[task].head
    data = _data_sets("chronicle*").get(task) or _data_sets("own_*")[task]
    return {"pair": form, "cross": head, "chronicle_nli": data.stem}


def _data_sets(pattern: str) -> dict[str, Path]:
    """Find, by task, the first of heron's own data sets whose name matches a pattern."""
    from heron.data.config import read_config  # start-up time

    paths: dict[str, Path] = {}
    for path in sorted(conf_dir().glob(f"data/{pattern}.yaml")):
        paths.setdefault(read_config(path).task, path)
    return paths


def _of_page(kind: str) -> tuple[dict[str, str], list[str]]:
    """Read the files and the commands of a page."""
    path = conf_dir().parent / "experiments" / "adding" / f"{kind}.md"
    page = path.read_text(encoding="utf-8")
    blocks = {match["file"]: match["code"] for match in _BLOCK.finditer(page)}
    commands = _COMMANDS.findall(page)[-1]
    return blocks, commands.splitlines()


def _of_fork(like: str) -> tuple[dict[str, str], list[str]]:
    """Read a fork that registers a task of its own name, as if a page showed it."""
    source = _find_fork(like)
    data = min(source.glob("conf/data/*.yaml"))
    new_data = f"{like}_own"

    def read(path: Path) -> str:
        text = path.read_text(encoding="utf-8")
        return re.sub(rf"\b{data.stem}\b", new_data, text)

    package = f"task_{like}"
    files = {"__init__.py": f"from . import {package}\n"}
    old_import = f"heron_forks.{like}."
    new_import = f"heron_forks.{_FORK}.{package}."
    for path in source.glob("*.py"):
        code = read(path)
        files[f"{package}/{path.name}"] = code.replace(old_import, new_import)

    for group in ("task", "head"):
        option = f"conf/{group}/{like}.yaml"
        files[option] = read(source / option)

    without_files = _SPLITS.sub("", read(data))
    new_files = _FILES.format(like)
    files[f"conf/data/{new_data}.yaml"] = without_files + new_files

    return files, [f"heron train data={new_data}"]


def _find_fork(name: str) -> Path:
    """Find the folder of a fork with a task of its own name."""
    for root in (*experiment_roots(), conf_dir().parent):
        folder = root / "experiments" / name
        if (folder / f"conf/task/{name}.yaml").is_file():
            return folder
    raise ConfigError(f"like={name}: no fork in experiments/ with conf/task/{name}.yaml")


def _check_name(what: str, name: str) -> None:
    """Refuse what is no name of a Python module; the message proposes the nearest one."""
    if _NAME.fullmatch(name):
        return

    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    near = re.sub(r"[^a-z0-9]+", "_", words).strip("_0123456789")
    hint = f" Did you mean '{near}'?" if near else ""
    raise ConfigError(
        f"{what} '{name}': use the letters a to z, digits and _, and begin with a letter.{hint}"
    )


def _check_new(kind: str, name: str) -> None:
    """Refuse a name that heron or a fork has: only the first one would count."""
    group = KINDS[kind].group
    registry = KINDS[kind].registry

    present = ""
    if registry and name in tuple(registry):
        present = "registered by heron or a fork"
    if group:
        for conf in conf_dirs():
            path = conf / group / f"{name}.yaml"
            if path.exists():
                present = str(path)
                break

    if present:
        raise ConfigError(f"{kind} '{name}' exists already ({present}): choose another name")


def _root(fork: str) -> Path:
    """Find the folder whose `experiments/` has the fork; a new fork is in the current folder."""
    for root in experiment_roots():
        if (root / "experiments" / fork).is_dir():
            return root
    return Path.cwd()


def _own_data(name: str, task: str) -> str:
    """Copy heron's commented YAML for data of one's own."""
    templates = _data_sets("own_*")
    if task not in templates:
        raise ConfigError(f"task={task}: no such task.{nearest(task, templates, listed=True)}")

    template = templates[task]
    text = template.read_text(encoding="utf-8").replace(template.stem, name)
    # Not needed for one's own table, but for a data set that others use.
    further = r"\g<0>licence: none yet\ncitation: none yet\n"
    text = re.sub(r"^title: .*\n", further, text, flags=re.M)
    return text.replace("{path: own/", f"{{path: {name}/")
