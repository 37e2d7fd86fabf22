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
        if present := [str(path) for path in self.files if path.exists()]:
            raise ConfigError(
                f"{', '.join(present)}: exists already, and nothing is overwritten; choose another "
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
    for what, said in (("name", name), ("fork", fork)):
        _check_name(what, said)
    _check_new(kind, name)
    example = like or KINDS[kind].example

    new = {example: name, _FORK: fork} | (_of_language(name) if kind == "language" else {})
    new |= _of_head(task) if kind == "head" and task else {}

    def renamed(text: str) -> str:
        # A name may be a part of another one that `_` joins, as in `test_largest`.
        return re.sub(rf"(?<![^\W_])({'|'.join(new)})(?![^\W_])", lambda found: new[found[1]], text)

    blocks, commands = _of_fork(like) if like else _of_page(kind)
    imports = [line for line in blocks.get("__init__.py", "").splitlines(True) if example in line]
    files = {renamed(file): renamed(code) for file, code in blocks.items() if example in file}
    if kind == "dataset":
        files[f"conf/data/{name}.yaml"] = _own_data(name, task or "nli")
    root = _root(fork)
    folder = root / "experiments" / fork
    return Scaffold(
        # pytest imports each `__init__.py` above a test: tests are not in the fork's folder.
        {(root if file.startswith("tests/") else folder) / file: files[file] for file in files},
        folder / "__init__.py",
        renamed("".join(imports)),
        [renamed(line) for line in commands],
    )


def _of_language(code: str) -> dict[str, str]:
    """Map the page's facts about its language to CLDR's about another one."""
    from heron.languages.unlisted import direction, letters, name_and_script  # start-up time

    name, script = name_and_script(code)
    return {"Ladino": name, "Hebr": script, "rtl": direction(letters(script))}


def _of_head(task: str) -> dict[str, str]:
    """Map the input form, the heads and the data set of the page's head to those of a task."""
    from heron.tasks.task import ClassTask  # start-up time

    fit = {name: TASKS[name] for name in TASKS if isinstance(TASKS[name], ClassTask)}
    if task not in fit:
        raise ConfigError(
            f"task={task}: a pooling and a classifier are a head of tasks with classes."
            f"{nearest(task, fit, listed=True)}"
        )
    data = _data_sets("chronicle*").get(task) or _data_sets("own_*")[task]
    return {"pair": fit[task].forms[0], "cross": fit[task].head, "chronicle_nli": data.stem}


def _data_sets(pattern: str) -> dict[str, Path]:
    """Find heron's own data sets whose names have a pattern, the first one by task."""
    from heron.data.config import read_config  # start-up time

    found = sorted(conf_dir().glob(f"data/{pattern}.yaml"), reverse=True)
    return {read_config(path).task: path for path in found}


def _of_page(kind: str) -> tuple[dict[str, str], list[str]]:
    """Read the files and the commands of a page."""
    page = (conf_dir().parent / "experiments" / "adding" / f"{kind}.md").read_text(encoding="utf-8")
    blocks = {found["file"]: found["code"] for found in _BLOCK.finditer(page)}
    return blocks, _COMMANDS.findall(page)[-1].splitlines()


def _of_fork(like: str) -> tuple[dict[str, str], list[str]]:
    """Read a fork that registers a task of its own name, as if a page showed it."""
    found = (root / "experiments" / like for root in (*experiment_roots(), conf_dir().parent))
    source = next((each for each in found if (each / f"conf/task/{like}.yaml").is_file()), None)
    if source is None:
        raise ConfigError(f"like={like}: no fork in experiments/ with conf/task/{like}.yaml")
    data, name = min(source.glob("conf/data/*.yaml")), f"{like}_own"
    read = {
        path: re.sub(rf"\b{data.stem}\b", name, path.read_text(encoding="utf-8"))
        for path in (*source.glob("*.py"), *source.rglob("*.yaml"))
    }
    own = f"heron_forks.{like}.", f"heron_forks.{_FORK}.task_{like}."
    files = {
        f"task_{like}/{path.name}": text.replace(*own)
        for path, text in read.items()
        if path.suffix == ".py"
    }
    for group in ("task", "head"):
        files[f"conf/{group}/{like}.yaml"] = read[source / f"conf/{group}/{like}.yaml"]
    splits = re.compile(r"^(files|holdout|validation):.*?(?=^\w|\Z)", re.M | re.S)
    files[f"conf/data/{name}.yaml"] = splits.sub("", read[data]) + _FILES.format(like)
    files["__init__.py"] = f"from . import task_{like}\n"
    return files, [f"heron train data={name}"]


def _check_name(what: str, name: str) -> None:
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
    group, registry = KINDS[kind].group, KINDS[kind].registry
    files = [conf / group / f"{name}.yaml" for conf in conf_dirs() if group]
    taken = next((str(path) for path in files if path.exists()), "")
    if not taken and registry and name in tuple(registry):
        taken = "registered by heron or a fork"
    if taken:
        raise ConfigError(f"{kind} '{name}' exists already ({taken}): choose another name")


def _root(fork: str) -> Path:
    """Find the folder whose `experiments/` has the fork; a new fork is in the current folder."""
    roots = experiment_roots()
    return next((root for root in roots if (root / "experiments" / fork).is_dir()), Path.cwd())


def _own_data(name: str, task: str) -> str:
    """Copy heron's commented YAML for data of one's own."""
    templates = _data_sets("own_*")
    if task not in templates:
        raise ConfigError(f"task={task}: no such task.{nearest(task, templates, listed=True)}")
    text = templates[task].read_text(encoding="utf-8").replace(templates[task].stem, name)
    # Licence and citation: not needed for one's own table, but for a data set that others use.
    return re.sub(
        r"^title: .*\n", r"\g<0>licence: none yet\ncitation: none yet\n", text, flags=re.M
    ).replace("{path: own/", f"{{path: {name}/")
