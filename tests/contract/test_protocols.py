"""Every experiment under every protocol sets what `experiments/<paper>/protocols.md` says it does.

The tables are written by hand, from the papers and their released code: a cell is the value, one in
italics is heron's own choice, `–` says nothing and `refused` that the combination is refused.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from operator import attrgetter

import pytest
from omegaconf import OmegaConf

from compositions import PAPER_EXPERIMENTS, raw
from heron.base.errors import ConfigError
from heron.base.folders import conf_dir
from heron.config.parsing import check
from heron.data.config import FileConfig
from heron.data.readers import data_set, load_with_report
from heron.sweeps.grid import compose_jobs
from heron.tasks.config import StageConfig, resolve
from heron.training.stages import stage_config

PROTOCOLS = ("paper", "repo", "fixed")
PAGES = sorted(conf_dir().parent.glob("experiments/*/protocols.md"))
EXPERIMENTS = sorted(PAPER_EXPERIMENTS)
# Keys that the page of every trained experiment lists.
REQUIRED = {
    *(
        "optim.lr",
        "optim.schedule",
        "optim.warmup",
        "trainer.gradient_clip_val",
        "optim.weight_decay",
    ),
    *("batching.plan", "encoder.max_length", "encoder.freeze", "head.input", "head.dropout"),
    *("trainer.monitor", "trainer.select", "trainer.patience"),
}
PROMPTED = {
    *("ronli/chatgpt", "lchaim/table3", "lchaim/table3_english"),
    *("hesum/gpt", "hesum/table3", "hesum/table8"),
}
SHALLOW = {"ronli/cbow_svm", "ronli/cbow_softmax", "ronli/grid_shallow"}
SHALLOW |= {"ronli/grid_svm", "ronli/grid_softmax"}
BASELINES = {*PROMPTED, *SHALLOW, "ronli/zero_shot"}


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Args:
        key: dotted, perhaps `stage <n>: <key>`.
        cells: what stands under each protocol.
        source: where it is said.
        line: of the page, for messages.
    """

    key: str
    cells: dict[str, str]
    source: str
    line: str


def read_page(path) -> dict[str, list[Row]]:
    """Read the rows of each experiment that a page names."""
    rows: dict[str, list[Row]] = {}
    named: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("Experiments: "):
            named = re.findall(r"`(.+?)`", line)
        elif line.startswith("| `"):
            key, *cells, source = (cell.strip() for cell in line.strip("|").split(" | "))
            assert len(cells) == len(PROTOCOLS), f"{path.name}:{number}: {line}"
            values = dict(zip(PROTOCOLS, cells, strict=True))
            row = Row(key.strip("`"), values, source, f"{path.parent.name}/{path.name}:{number}")
            for name in named:
                rows.setdefault(name, []).append(row)
    return rows


ROWS = {name: rows for page in PAGES for name, rows in read_page(page).items()}


def value(cell):
    """Read a cell as `{"value": ...}`, since it may be null; None where it says nothing."""
    text = cell[1:-1] if re.fullmatch(r"\*.*\*", cell) else cell
    return None if text == "–" else OmegaConf.to_object(OmegaConf.create(f"value: {text}"))


def stages_of(config):
    """Compose each stage of a run, as the run would."""
    stages = config.read_stages()
    return [stage_config(config, stages, stage, None) for stage in stages]


def setting(config, stages, key):
    """Read a dotted key of a configuration; `stage <n>: <key>` is that stage's."""
    stage, _, key = key.rpartition(": ")
    if stage:
        config = stages[int(stage.split()[1]) - 1]
    if key.startswith("others."):
        _, name, key = key.split(".", 2)
        config = config.others[name]
    return attrgetter(key)(config)


def sweeps(experiment):
    """Tell whether an experiment is a sweep; it repeats most values of the one that it extends."""
    return "MULTIRUN" in PAPER_EXPERIMENTS[experiment].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "experiment",
    # Every second one that is no sweep runs with each change, the others in `make test-real`.
    [
        pytest.param(e, marks=[pytest.mark.real] if i % 2 or sweeps(e) else [])
        for i, e in enumerate(EXPERIMENTS)
    ],
)
def test_an_experiment_sets_what_paper_and_code_say(experiment, run_as_published):
    rows, wrong = ROWS[experiment], []
    for protocol in PROTOCOLS:
        config, _ = run_as_published(experiment, protocol)
        if all(row.cells[protocol] == "refused" for row in rows):
            with pytest.raises(ConfigError):
                check(config)
            continue
        check(config)
        named = any(row.key.startswith("stage ") and value(row.cells[protocol]) for row in rows)
        stages = stages_of(config) if named else []
        for row in rows:
            cell = row.cells[protocol]
            if (wanted := value(cell)) is None:
                continue
            got = {"value": setting(config, stages, row.key)}
            if got != wanted:
                wrong.append(f"{row.line}: {protocol} {row.key}={got['value']}, the page: {cell}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_s_page_has_every_value_that_decides_it(experiment):
    assert all(row.source for row in ROWS[experiment])
    if experiment in BASELINES:
        return
    keys = {row.key for row in ROWS[experiment]}
    assert keys >= REQUIRED
    assert keys & {"batching.size", "batching.tokens"} or experiment == "lchaim/windows"
    assert keys & {"trainer.max_epochs", "trainer.max_steps"}


def test_a_key_stands_once_for_an_experiment():
    for rows in ROWS.values():
        keys = [row.key for row in rows]
        assert len(keys) == len(set(keys)), sorted(k for k in keys if keys.count(k) > 1)


def test_a_reader_finds_the_pages_from_each_paper_s_readme():
    assert [page.parent.name for page in PAGES] == ["hesum", "lchaim", "parashoot", "ronli", "trc"]
    for page in PAGES:
        assert "(protocols.md)" in (page.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("protocol", ["paper", "repo"])
@pytest.mark.parametrize(
    ("experiment", "stand_in"),
    [("lchaim/alephbert", "control_dev"), ("ronli/siamese", "ronli_dev")],
)
def test_substitute_data_are_treated_as_the_data_that_they_replace(
    experiment, stand_in, protocol, hydra, run_as_published
):
    published, _ = run_as_published(experiment, protocol)
    assert published.data.substitute == stand_in
    words = [f"experiment={experiment}", f"protocol={protocol}", f"data={stand_in}"]
    found = resolve(raw(hydra, *words)[0])
    for part in ("encoder", "head", "batching", "optim", "trainer", "seed"):
        assert getattr(found, part) == getattr(published, part)
    assert len(found.stages) == len(published.stages)


@pytest.mark.parametrize(
    ("protocol", "counts"),
    [("paper", (307, 304, 273)), ("repo", (307, 304, 273)), ("fixed", (288, 307, 289))],
)
def test_table_4_of_lchaim_is_scored_on_the_labels_of_paper_and_code(
    protocol, counts, run_as_published, tmp_path
):
    classes = ("contradiction", "entailment", "neutral")
    config, _ = run_as_published("lchaim/table4", protocol)
    assert config.also_test == ["hebnli"]
    hebnli = data_set(config, "hebnli")
    assert hebnli.counts["test"] == dict(zip(classes, counts, strict=True))
    assert stage_config(config, [stage := StageConfig("hebnli")], stage, None).data == hebnli
    # A made-up file with as many labels of each class; every third original one is capitalised.
    originals, hebrew = (
        [label for label, n in zip(classes, split, strict=True) for _ in range(n)]
        for split in ((307, 304, 273), (288, 307, 289))
    )
    rows = [
        {
            "translation1": f"משפט {n}",
            "translation2": f"טענה {n}",
            "original_label": original.capitalize() if n % 3 == 0 else original,
            "hebrew_label": label,
            "pairID": n,
            "promptID": n,
            "genre": "fiction",
        }
        for n, (original, label) in enumerate(zip(originals, hebrew, strict=True))
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "test.jsonl").write_text(lines, encoding="utf-8")
    made_up = replace(hebnli, files={"test": FileConfig("test.jsonl", rows=884)})
    examples = load_with_report(made_up, tmp_path, tmp_path).examples["test"]
    found = Counter(example.label for example in examples)
    assert tuple(found[label] for label in classes) == counts


@pytest.mark.parametrize(
    ("table", "last"),
    [("table2", "lchaim"), pytest.param("table4", "hebnli", marks=pytest.mark.real)],
)
def test_lchaim_s_tables_train_the_code_s_stages_under_repo(table, last, tmp_path):
    words = [f"experiment=lchaim/{table}", "protocol=repo", "encoder=alephbert"]
    jobs = compose_jobs([*words, f"paths.runs={tmp_path}"])
    head = (last, "all", "none", 1e-4, 64, 10, "mlp")
    none = ("lchaim_dictalm" if last == "lchaim" else last, *head[1:])
    hebnli = ("hebnli", "none", "first", 1e-5, 32, 2, "per_event")
    lchaim = ("lchaim", "none", "first", 1e-5, 8, 2, "per_event")
    both = [hebnli, lchaim] if last == "lchaim" else [lchaim, hebnli]
    found = [
        [
            (
                stage.data.name,
                stage.encoder.freeze,
                stage.encoder.global_attention,
                stage.optim.lr,
                stage.batching.size,
                stage.trainer.max_epochs,
                stage.head.classifier,
            )
            for stage in stages_of(resolve(job.whole))
        ]
        for job in jobs
    ]
    assert found == [[none], [hebnli, head], [lchaim, head], [*both, head]]


@pytest.mark.parametrize("data", ["lchaim", "hebnli", "hebnli_dev", "lchaim_dictalm"])
def test_a_stage_without_settings_trains_the_head_alone_under_the_code_of_lchaim(data, hydra):
    words = ["experiment=lchaim/longhero", "protocol=repo", f"stages=[{data}]"]
    (stage,) = stages_of(resolve(raw(hydra, *words)[0]))
    assert (stage.encoder.freeze, stage.encoder.global_attention) == ("all", "none")
    assert (stage.optim.lr, stage.batching.size) == (1e-4, 64)
