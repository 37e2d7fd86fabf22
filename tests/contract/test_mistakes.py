"""A mistake ends with 2, names its key, line or guid, and leaves nothing behind.

Tables for all commands and for the library: what is typed, what a file holds or what a function is
given, and what must be in the error. How an error is worded is no test's business.
"""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chronicle.settings import ChronicleConfig, SettingsError
from heron.base.errors import ConfigError, DataError
from heron.base.folders import conf_dir
from heron.base.registry import Registry
from heron.base.run_folder import open_run
from heron.base.tables import read_table
from heron.data.config import (
    DataConfig,
    FoldsConfig,
    HoldoutConfig,
    ValidationConfig,
    read_config,
)
from heron.data.examples import Example, Span
from heron.data.markers import MarkerError, Markers, mark, parse_marked
from heron.data.overrides import override
from heron.data.rows import LabelError, LabelReader
from heron.data.sources import locate
from heron.data.splits import apply_duplicates, carve, take_fold
from heron.dynamics.cartography import statistics
from heron.dynamics.difficulty import difficulty
from heron.dynamics.files import read_dynamics, read_record
from heron.languages import get_language
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.bertscore import bertscore
from heron.metrics.classification import confusion_matrix, score_task
from heron.metrics.config import BertScoreConfig
from heron.metrics.paired import (
    approximate_randomization,
    mean_value,
    paired_bootstrap,
    paired_values,
)
from heron.metrics.span import item_scores
from heron.models.config import EncoderConfig
from heron.models.encoder import load_encoder
from heron.results.collect import collect
from heron.results.frame import predictions_file, read_frame
from heron.results.outcomes import score_function
from heron.tasks.qa.answers import read_squad
from heron.training.compose import compose
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.conllu import read_conllu
from heron_tools.noise.grading import detection
from heron_tools.reproduction.paper_tables import paper_view
from made_up_dynamics import make_dynamics
from small_runs import TINY, heron

TYPED = {
    # Keys and options of groups that there are not.
    "train sed=1": ["sed", "'seed'"],
    "train encoder=/nonexist": ["encoder.name=/nonexist", "folder"],
    "train data=own_nli data.files.train.path=nonexist.csv paths.data=there": [
        "nonexist.csv",
        "there/nonexist.csv",
    ],
    "train lr=1e-3": ["lr", "'optim.lr'"],
    "train epochs=3": ["epochs", "'trainer.max_epochs'"],
    "train trainer.lr=1e-3": ["trainer.lr", "'optim.lr'"],
    "train +optim.weight_decy=1": ["optim.weight_decy", "'optim.weight_decay'"],
    "train ++trainer.max_epoch=1": ["trainer.max_epoch", "'trainer.max_epochs'"],
    "train encoder.scratch.hiden=8": ["encoder.scratch.hiden", "'encoder.scratch.hidden'"],
    "train a=b=c": ["a=b=c"],
    "train jsn=true": ["jsn", "'json'"],
    "train data=trcc": ["data=trcc", "'trc'"],
    "train experiment=ess": ["experiment=ess", "'trc/ess'"],
    "train encoder=alephbrt": ["encoder=alephbrt", "'alephbert'", "encoder.name=alephbrt"],
    "train optim=null": ["optim=null"],
    "train head=esss": ["head=esss", "'ess'"],
    "train curriculum=cart_cll": ["curriculum=cart_cll", "'cart_cl'"],
    "train +data.files.tset.path=x": ["data.files.tset"],
    "train data.files.validation.path=v": ["data.files.validation", "+"],
    "train --multirunn": ["--multirunn"],
    # What Hydra says, and the words of other tools.
    "train gradient_clip_val=1": ["trainer.gradient_clip_val"],
    "train optim.accumulate_grad_batches=1": ["trainer.accumulate_grad_batches"],
    "train learning_rate=1": ["optim.lr"],
    "train per_device_train_batch_size=8": ["batching.size"],
    "train num_train_epochs=8": ["trainer.max_epochs"],
    "train seed=": ["seed"],
    "train optim.lr=[": ["optim.lr"],
    "train -m optm.lr=1,2": ["optim.lr"],
    "train -m optim.lr=interval(0,1)": ["hydra/sweeper=optuna"],
    "train hydra/launcher=nowhere": ["nowhere"],
    "train hydra.nothing=1": ["nothing"],
    "train ~nothing": ["nothing"],
    "train --config-dir=nowhere": ["nowhere"],
    "train +callbacks.mine._target_=heron.Nothing": ["callbacks.mine"],
    "train trainer.limit_train_batches=many": ["trainer.limit_train_batches"],
    "train trainer.monitor=macro_f2": ["'macro_f1'"],
    "train -m seed=0,1 trainer.monitor=macro_f2": ["'macro_f1'"],
    "train trainer.devices=999": ["trainer.devices=999"],
    "train trainer.accelerator=mps trainer.devices=2": ["mps"],
    "train trainer.strategy=fsdp": ["strategy=fsdp"],
    "train trainer.strategy=dpp": ["'ddp'"],
    "train +trainer.num_nodes=2": ["num_nodes=2"],
    "train data=chronicle_summaries task.bertscore.model=x": ["task.bertscore.layer"],
    "train data=chronicle_summaries task.bertscore.layer=9": ["task.bertscore.model"],
    "train +callbacks.mine._target_=nowhere.Callback": ["nowhere"],
    "new hed x": ["'head'"],
    "new head x fork=my-fork": ["my-fork"],
    "new head cls": ["'cls'"],
    "new language he": ["'he'"],
    "new dataset x task=nlli": ["'nli'"],
    "new head x frok=y": ["'fork'"],
    # Values of another kind, or that cannot be read.
    "train trainer.max_epochs=three": ["trainer.max_epochs=three"],
    "train optim.betas=0.9": ["optim.betas=0.9"],
    "train paths.runs=null": ["paths.runs=null"],
    "train data.generator=3": ["data.generator=3"],
    "train data.verify=maybe": ["data.verify=maybe"],
    "train data.join.key=x": ["data.join.key=x"],
    "train seed=${nowhere}": ["seed", "nowhere"],
    "train seed=[1": ["seed=[1"],
    "train seed": ["seed"],
    "train seed=1,2": ["seed=1,2", "--multirun"],
    # Values out of range, and names that there are not.
    "train seed=-1": ["seed=-1"],
    "train seed=99999999999999": ["seed=99999999999999"],
    "train optim.lr=0": ["optim.lr=0"],
    "train optim.lr=nan": ["optim.lr=nan"],
    "train optim.weight_decay=inf": ["optim.weight_decay=inf"],
    "train optim.betas=[0.9]": ["optim.betas=[0.9]"],
    "train stages=[{data:trc,lr:0}]": ["stages.0.lr=0"],
    "train stages=[{data:trc,epochs:2}]": ["stages.0.epochs"],
    "train stages=[3]": ["stages.0=3"],
    "train encoder.dropout=1": ["encoder.dropout=1"],
    "train encoder.freeze=some": ["encoder.freeze=some"],
    "train head.hidden=[0]": ["head.hidden.0=0"],
    "train head.pooling=clss": ["head.pooling=clss", "'cls'"],
    "train data.language=xx": ["data.language=xx", "he"],
    "train protocol=papr": ["protocol=papr", "'paper'"],
    "train curriculum=a curriculum.stages=[{share:1.0,groups:[esy]}]": [
        "curriculum.stages.0.groups.0=esy",
        "'easy'",
    ],
    # Keys that cannot work together.
    "train encoder.scratch.hidden=33": ["encoder.scratch.hidden=33", "encoder.scratch.heads"],
    "train head.classifier=mlp": ["head.classifier=mlp", "head.hidden"],
    "train head.input=window": ["head.pooling=event_start", "head.input"],
    "train head.pooling=cls head.input=window": ["head.pooling=cls", "head.input"],
    "train curriculum.start=0.5": ["curriculum"],
    "train curriculum=root curriculum.power=0.5": ["curriculum.power=0.5"],
    "train baseline=prompted": ["prompting.model.name"],
    # Options of other commands.
    "map burn_out=two": ["burn_out=two", "run: "],
    "data own_nli rows=1": ["rows", "Allowed"],
    "evaluate run=r slpit=test": ["slpit", "'split'"],
    "compare r s seed=-1": ["seed=-1"],
    "evaluate test": ["test is not"],
    "compare a=1": ["a"],
    "audit near=2": ["near=2", "data: "],
    "audit own_nli data.columns.txt=a": ["data.columns.txt", "'data.columns.text'"],
    "noise run=r run=s": ["'run'"],
    "predict run=": ["run"],
    "trian": ["'train'"],
    "options hed": ["'head'"],
    "report nowhere json=true": ["nowhere"],
    "report runs quite=true": ["'quiet'"],
    "dashboard . wanbd=true": ["'wandb'"],
    "sweep . wach=true": ["'watch'"],
    "sweep . every=-1": ["every=-1"],
    "data trk": ["'trc'"],
    "data trc path.data=x": ["'paths.data'"],
    "data fetch=true": ["fetch"],
    "data json=maybe": ["json=maybe"],
    "data quiet=true quiet=false": ["'quiet'"],
    "score task=foo gold=a predictions=b": ["task=foo", "qa"],
    "evaluate run=nowhere": ["nowhere", "run"],
    "predict run=. input=x.csv": ["config.yaml"],
    "train run.from=nowhere": ["nowhere"],
    # Folds.
    "train -m folds=1": ["folds"],
    "train folds=3": ["--multirun"],
    "train data.folds.fold=1": ["data.folds.count"],
    "train data.folds.count=2 data.folds.fold=2": ["data.folds.fold=2"],
    # Commands of the papers.
    "build": ["build trc"],
    "build hesum out=o": ["contact="],
    "build hesum out=o contact=a@b.org delay=0": ["delay=0"],
    "build hesum out=o contact=a@b.org splits=1,2": ["splits="],
    "build parashoot": ["sample", "collect"],
    "build trc pair": ["pairs"],
    "judge": ["sample"],
    "agreement files=x.csv measure=kappa": ["measure=kappa", "mae"],
    "annotate darw": ["draw"],
    "annotate draw data=chronicle out=o raters=a,a": ["raters"],
    "annotate draw data=chronicle out=o raters=a,b ask=good:5-1": ["ask=good:5-1"],
    "claims ronly": ["ronli"],
    "reproduce trd": ["'trc'"],
    "reproduce trc protocol=repo": ["one target"],
    "reproduce parashoot:F1 optim.lr=1": ["parashoot:F1"],
    "train baseline=cbow": ["baseline=cbow", "'cbow_svm'"],
    "train baseline=cbow_svm data=chronicle_nli baseline.C=0": ["baseline.C=0"],
    "train trainer.select=mean trainer.patience=1": ["trainer.select=mean"],
    "train data=chronicle_qa curriculum=sts_cl head=span": ["curriculum.difficulty=sts"],
    "train data=../evil": ["data"],
    "judge colect": ["'collect'"],
    "noise run=r score=confidnce": ["score", "'confidence'"],
}


@pytest.mark.parametrize("typed", TYPED)
def test_a_mistake_ends_with_2_and_names_its_key(typed, tmp_path, capfd):
    command, *words = typed.split()
    runs = [f"paths.runs={tmp_path}"] if command == "train" and "paths.runs" not in typed else []
    assert heron(command, *words, *runs) == 2
    printed = capfd.readouterr()
    assert [each for each in TYPED[typed] if each not in printed.err] == []
    assert "Traceback" not in printed.err + printed.out
    assert not list(tmp_path.glob("*/*"))


# What only the parts of a run can refuse, when there is a run folder.
BUILT = {
    "trainer.limit_train_batches=1.5": "limit_train_batches",
    "trainer.val_check_interval=1000": "val_check_interval",
    "trainer.profiler=fast": "profiler",
    "ckpt_path=nowhere": "ckpt_path=nowhere",
    "callbacks=early_stopping +callbacks.early_stopping.patiens=1": "patiens",
}


@pytest.mark.parametrize("typed", BUILT)
def test_what_lightning_refuses_is_named_as_well(typed, tmp_path, capfd):
    words = (f"paths.runs={tmp_path}", f"paths.cache={tmp_path}/c", *typed.split())
    assert heron("train", *TINY, *words) in (1, 2)
    error = capfd.readouterr().err
    assert BUILT[typed] in error
    assert "Traceback" not in error


GOLD = {"g.csv": "guid,label\na,x\nb,y\n", "p.csv": "guid,prediction\na,x\nb,y\n"}
SCORE = "score task=classification gold=g.csv predictions=p.csv "
PAIRS = {"a.csv": "guid,gold,prediction\n1,x,x\n2,y,y\n"}
PAIRS["b.csv"] = PAIRS["a.csv"]
QA = "compare a.csv b.csv task=qa "
TEXT = "guid,text,label\nr0,[E1] a [/E1] b [E2] c [/E2],BEFORE\n"
OWN = {"train.csv": TEXT, "test.csv": TEXT}
TRAIN = "train data=own_relation data.language=en paths.data=. paths.runs=runs "
TRAIN += "paths.cache=cache data.files.train.path=train.csv data.files.test.path=test.csv "
# What is typed, the files that are not as above, and what the error names.
WRITTEN = [
    (SCORE, {"p.csv": "guid,label\na,x\nc,y\na,y\n"}, ["g.csv: b", "p.csv:4"]),
    (SCORE + "labels=x,y", {"p.csv": "guid,label\na,\nb,z\n"}, ["p.csv:2", "p.csv:3", "'z'"]),
    (SCORE + "labels=x,z", {}, ["g.csv:3"]),
    (SCORE, {"g.csv": "label\nx\ny\n", "p.csv": "prediction\nx\n"}, ["p.csv", "g.csv"]),
    (SCORE, {"p.csv": "prediction\nx\ny\n"}, ["join=position"]),
    (SCORE, {"g.csv": "guid,label\na\n"}, ["g.csv:2"]),
    (SCORE, {"p.csv": "guid,answer\na,x\nb,y\n"}, ["answer", "prediction_column="]),
    (SCORE.replace("p.csv", "none.csv"), {}, ["none.csv"]),
    (SCORE.replace("p.csv", "g.csv"), {}, ["'label'"]),
    (SCORE.replace("p.csv", "p.json"), {"p.json": '{"a": "x", "a": "y"}'}, ["p.json", "a"]),
    (SCORE, {"p.csv": "guid,label,p/x,p/y\na,x,0.2,much\nb,y,0.1,0.9\n"}, ["p.csv", "p/"]),
    (SCORE, {"p.csv": "guid,label,p/x,p/y\na,x,0.9,0.9\nb,y,0.1,0.9\n"}, ["row 1"]),
    (SCORE + "labls=A", {}, ["'labels'"]),
    (SCORE + "resamples=-1", {}, ["resamples=-1"]),
    (SCORE + "gold_column=lable", {}, ["'label'"]),
    (SCORE + "guid_column=gid", {}, ["'guid'"]),
    (SCORE + "data=lchain", {}, ["'lchaim'"]),
    (SCORE + "data=trc", {}, ["task=relation"]),
    (SCORE + "data.unlabelled=drop", {}, ["data.unlabelled"]),
    ("compare", {}, ["systems"]),
    ("compare a.csv", {}, ["one system"]),
    ("compare a.csv b.csv metric=macrof1", {}, ["'macro_f1'"]),
    ("compare a.csv b.csv rows=share", {}, ["'shared'"]),
    ("compare a.csv b.csv resample=groups", {}, ["'group'"]),
    ("compare a.csv b.csv alpha=5", {}, ["alpha=5"]),
    ("compare a.csv b.csv draws=0", {}, ["draws=0"]),
    ("compare a.csv b.csv against=c", {}, ["against=c"]),
    ("compare a.csv c.csv", {}, ["c.csv"]),
    ("compare a.csv b.csv", {"b.csv": "guid,gold,prediction\n1,x,x\n"}, ["b.csv", "'2'"]),
    ("compare a.csv b.csv", {"b.csv": "guid,gold,prediction\n1,x,x\n2,x,x\n"}, ["2: gold"]),
    ("compare a.csv b.csv", {"b.csv": "guid,gold,prediction\n1,x,x\n1,x,x\n"}, ["b.csv:3"]),
    ("compare a.csv b.csv", {"b.csv": "guid,label\n1,x\n2,x\n"}, ["'gold'"]),
    (QA + "metric=macro_f1", {}, ["metric=macro_f1", "exact_match"]),
    (QA + "language=xx", {}, ["xx"]),
    (QA, {"b.csv": "guid,gold,prediction\n1,x,x\n2,z,y\n"}, ["2: gold", "'z'"]),
    (QA, {"b.csv": "guid,gold,prediction,golds\n1,x,x,no\n2,y,y,no\n"}, ["b.csv, 1", "golds"]),
    ("compare a.csv b.csv task=summarization", {}, ["language="]),
    ("compare a.csv b.csv task=summarization language=he metric=f1", {}, ["rouge1"]),
    (TRAIN.replace("train.csv", "none.csv"), {}, ["none.csv", "paths.data"]),
    (TRAIN, {"train.csv": ""}, ["train.csv"]),
    (TRAIN, {"train.csv": TEXT.replace("text,label", "txt,label")}, ["train.csv", "'txt'"]),
    (TRAIN, {"train.csv": TEXT.replace("BEFORE", "BEFOR")}, ["train.csv:2", "'BEFORE'"]),
    (TRAIN, {"train.csv": TEXT + TEXT.splitlines()[1]}, ["train.csv:3", "'r0'"]),
    (TRAIN, {"train.csv": TEXT.replace("BEFORE", "BEFORE,1")}, ["train.csv:2"]),
    (TRAIN, {"train.csv": TEXT.replace("[/E2]", "")}, ["train.csv:2", "[/E2]"]),
    (TRAIN, {"train.csv": TEXT.replace("a [/E1] b", "a b"), "test.csv": TEXT + "x\n"}, ["t.csv:3"]),
    (TRAIN + f"data.files.train.sha256={'0' * 64}", {}, ["train.csv", "data.verify=false"]),
    ("train -m seed=0,1" + TRAIN[5:], {"train.csv": TEXT.replace("t,l", "x,l")}, ["train.csv"]),
]


@pytest.mark.parametrize(("typed", "files", "named"), WRITTEN)
def test_files_that_do_not_go_together_are_named(typed, files, named, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"score": GOLD, "compare": PAIRS, "train": OWN}[typed.split()[0]] | files
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert heron(*typed.split()) == 2
    printed = capfd.readouterr()
    assert [each for each in named if each not in printed.err] == []
    assert "Traceback" not in printed.err + printed.out
    assert not list(tmp_path.glob("runs/*/*"))
    assert {each.name for each in tmp_path.iterdir()} - {"cache", "runs"} == set(files)


def test_all_problems_are_named_at_once():
    words = ("trainer.devices=0", "encoder.scratch.hidden=33", "stages=[{data: trc, lr: 0}]")
    with pytest.raises(ConfigError) as error:
        compose(["data=chronicle", "head.classifier=mlp", *words])
    keys = ("trainer.devices=0", "encoder.scratch.hidden=33", "stages.0.lr=0", "head.hidden")
    assert [key for key in keys if key not in str(error.value)] == []


WORDS = {
    "data.label_aliases=[a": "data.label_aliases=[a",
    "data.columns.text=${nope}": "data.columns.text",
    "data.columns.text.x=1": "data.columns.text",
    "data.columns={text: [a]}": "data.columns.text",
    "data.columns=text": "data.columns=text",
    "data.columns.text=a,b": "data.columns.text",
    "data.no_label=NONE": "data.no_label=NONE",
    "data.no_label=[{a: b}]": "data.no_label.0",
    "data.label_aliases={a: null}": "data.label_aliases.a",
    "data.verify=": "data.verify",
    "data.join.key=text": "data.files.join.path",
    "data.columns.txt=a": "'data.columns.text'",
    "data.columns={txt: a}": "'data.columns.text'",
    "data.files={train: {pth: x}}": "'data.files.train.path'",
}


@pytest.mark.parametrize("word", WORDS)
def test_a_wrong_word_laid_over_a_data_set_is_named(word):
    with pytest.raises(ConfigError) as error:
        override(DataConfig(label_order=["A", "B"]), [word, "data.unlabelled=drop"])
    assert WORDS[word] in str(error.value)
    assert "unlabelled" not in str(error.value)


CONLLU = "1-2\tאב" + "\t_" * 8
CONLLU += "".join(f"\n{number}\tא\tא\tX\t_\t_\t0\t_\t_\t_" for number in (1, 2)) + "\n"
LOGITS = '{"guid": "a", "logits_epoch_0": [0, 1], "gold": 0}\n'


def parquet(**columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def split_of(path):
    return predictions_file(path.parents[1], "test")


def encoder(path):
    return load_encoder(EncoderConfig(name=str(path.parent)), 50, 0)


def twice():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["label", "label"])
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


# How a file is read, its name and content, and the place or column that the error names.
FILES = [
    (read_table, "t.csv", "", "t.csv"),
    (read_table, "t.csv", "\ufeff\r\n", "t.csv"),
    (read_table, "t.csv", "id,text\n", "no rows"),
    (read_table, "t.json", "[]", "no rows"),
    (read_table, "t.csv", "id,id\n1,2\n", "id"),
    (read_table, "t.csv", b"id,t\xff\n1,2\n", "t.csv:1"),
    (read_table, "t.csv", "id,text\n1\n2\n3,good\n", "t.csv:2"),
    (read_table, "t.json", "[3]", "t.json:1"),
    (read_table, "t.json", '[{"a": 1},\n{"a": 2]', "t.json:2"),
    (read_table, "t.parquet", "PAR1 no more", "t.parquet"),
    (read_table, "t.parquet", twice(), "label"),
    (read_table, "t.json", '[{"a": {"b": 1}},\n{"a": {},\n"a": 2}]', "t.json:3"),
    (read_table, "t.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', "t.jsonl:2"),
    (read_squad, "t.json", '{"data": [],\n"data": []}', "line 2"),
    (read_table, "t.xlsx", "x", ".xlsx"),
    (read_table, "t.csv.gz", "no gzip", "t.csv.gz"),
    (read_table, "none/t.csv", None, "none"),
    (lambda path: read_table(path).require("text"), "t.csv", "id,txt\n1,2\n", "'txt'"),
    (read_frame, "p.csv", "guid,golden,prediction\n1,a,b\n", "'gold'"),
    (lambda path: list(read_conllu(path)), "a.conllu", "1 א\n", "a.conllu:1"),
    (lambda path: list(read_conllu(path)), "a.conllu", CONLLU.replace("2\tא", "3\tא"), ":3"),
    (lambda path: list(read_conllu(path)), "a.conllu", CONLLU.replace("1-2", "1-9"), ":1"),
    (lambda path: list(read_conllu(path)), "a.conllu", b"\xff\xfe\x00", "a.conllu"),
    (lambda path: list(read_conllu(path)), "a.conllu.gz", b"\x1f\x8b\x08no", "a.conllu.gz"),
    (read_record, "dynamics_epoch_0.jsonl", "\n", "dynamics_epoch_0.jsonl"),
    (read_record, "dynamics_epoch_0.jsonl", LOGITS + "{", "dynamics_epoch_0.jsonl:2"),
    (read_dynamics, "epoch=0.parquet", "PAR1", "epoch=0.parquet"),
    (read_dynamics, "epoch=0.parquet", parquet(guid=["a"]), "epoch=0.parquet"),
    (read_dynamics, "absent", None, "absent"),
    (read_config, "mine.yaml", "nmae: x", "mine.yaml"),
    (read_config, "mine.yaml", "label_order: {", "mine.yaml"),
    (read_config, "mine.yaml", "sample: {fraction: much}", "mine.yaml"),
    (open_run, "a.txt", "", "config.yaml"),
    (collect, "nowhere", None, "nowhere"),
    (split_of, "predictions/validation.parquet", "", "test"),
    (lambda path: load_morphology(f"conllu:{path}", HEBREW), "mine.conlu", None, "mine.conlu"),
    (encoder, "a", "", "encoder.name"),
]


@pytest.mark.parametrize(("read", "name", "content", "named"), FILES)
def test_a_file_that_cannot_be_used_is_named_with_its_place(read, name, content, named, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises((ConfigError, DataError)) as error:
        read(path.parent if read in (read_dynamics, open_run) and content is not None else path)
    assert named in str(error.value)


def rows_of(groups, rows=4):
    return [Example(f"{row}", "a b", "h", group=f"{row % groups}") for row in range(rows)]


TRC = conf_dir().parent / "experiments/trc/published.yaml"
NO_MARGINS = make_dynamics([[1.0]], margin_EN=[[np.nan]])
MARKS = Markers("[E1]", "[/E1]", "[E2]", "[/E2]")
# What names the mistake, and the call that makes it.
CALLS = {
    # Registries and words.
    "'pi'": lambda: Registry("number", {"pi": 3.14})["pie"],
    # Splits.
    "data.validation.by=row": lambda: carve(rows_of(1, 1), ValidationConfig(0.1)),
    "data.holdout.by=row": lambda: carve(rows_of(1, 1), HoldoutConfig(0.1, "group")),
    "data.folds.by=row": lambda: take_fold(rows_of(3), FoldsConfig(4)),
    "data.duplicates=keep": lambda: apply_duplicates(
        {"train": rows_of(1, 1), "test": rows_of(1, 1)}, "drop"
    ),
    "data.files": lambda: locate(DataConfig(), conf_dir(), conf_dir()),
    # Rows.
    "'a b'": lambda: LabelReader(DataConfig(label_order=["a c", "A c"]), "label").read("a b"),
    "missing": lambda: parse_marked("nothing marked", MARKS),
    "[E1] [/E1] [/E2];": lambda: parse_marked("[E1] a [/E1] b [/E2]", MARKS),
    "[E1] [/E1] [E1]": lambda: parse_marked("[E1] a [/E1] [E1] b [/E1] [E2] c [/E2]", MARKS),
    "[/E1] [E1]": lambda: parse_marked("[/E1] a [E1] b [E2] c [/E2]", MARKS),
    "[E1] [E2] [/E1]": lambda: parse_marked("[E1] a [E2] b [/E1] c [/E2]", MARKS),
    "[E1] [E2] [/E2]": lambda: parse_marked("[E1] a [E2] b [/E2] c [/E1]", MARKS),
    "event 2 is empty": lambda: parse_marked("[E1] a [/E1] [E2]   [/E2]", MARKS),
    "0 to 2 and 1 to 3": lambda: mark("abc", [Span(0, 2), Span(1, 3)], MARKS),
    "0 to 0": lambda: mark("abc", [Span(0, 0), Span(1, 3)], MARKS),
    "2 to 9": lambda: mark("abc", [Span(0, 1), Span(2, 9)], MARKS),
    # The built-in corpus.
    "nli, qa, relation, summarization": lambda: ChronicleConfig(task="poetry"),
    "he, ro": lambda: ChronicleConfig(language="hebrew"),
    "size=99": lambda: ChronicleConfig(size=99),
    "label_noise=1.5": lambda: ChronicleConfig(label_noise=1.5),
    "label_noise=0.1": lambda: ChronicleConfig(task="qa", label_noise=0.1),
    "BEFORE, AFTER": lambda: ChronicleConfig(class_weights=[1.0, 1.0]),
    "above 0": lambda: ChronicleConfig(class_weights=[0.0] * 4),
    "class_weights": lambda: ChronicleConfig(task="summarization", class_weights=[1.0]),
    "label_set": lambda: ChronicleConfig(task="nli", label_set="five"),
    "premise_sentences": lambda: ChronicleConfig(task="nli", premise_sentences=[3, 2]),
    "80 sentences": lambda: ChronicleConfig(task="summarization", premise_sentences=[8, 81]),
    "unanswerable=1.5": lambda: ChronicleConfig(task="qa", unanswerable=1.5),
    "rivals=-0.1": lambda: ChronicleConfig(task="qa", rivals=-0.1),
    # Languages and models.
    "data.language=xx": lambda: get_language("xx"),
    "'simplemma'": lambda: load_morphology("simplema", ROMANIAN),
    "morphology=simplemma-prefixes": lambda: load_morphology("simplemma-prefixes", ROMANIAN),
    "name a file": lambda: load_morphology("conllu", HEBREW),
    "no/such": lambda: load_encoder(EncoderConfig(name="no/such"), 50, 0),
    "attn_implementation": lambda: load_encoder(
        EncoderConfig(attention="bogus", max_length=64), 50, 0
    ),
    # Training dynamics.
    "'aum'": lambda: difficulty("aum", statistics(NO_MARGINS)),
    "graded": lambda: detection(np.array([np.nan]), np.zeros(1, bool), [1]),
    # Scores.
    "bertscore.layer": lambda: bertscore(["a"], ["a"], BertScoreConfig("x", layer=None)),
    "2 and 1 rows": lambda: item_scores(["a", "b"], [["a"]]),
    "question 2": lambda: item_scores(["a", "b"], [["a"], []], no_answer=False),
    "'relation'": lambda: score_task("relations", [], [], ["a"]),
    "row 2": lambda: confusion_matrix(["a", "aa"], ["a", "a"], ["a", "b"]),
    "no rows": lambda: paired_bootstrap(paired_values(np.ones((1, 0)), np.ones((1, 0))), np.mean),
    "13 runs": lambda: approximate_randomization(
        paired_values(np.ones((13, 2)), np.zeros((12, 2))), mean_value
    ),
    "1 values": lambda: paired_values([0.1, np.nan], [0.1, 0.2]),
    "'macro_f1'": lambda: score_function("macrof1", ["a", "b"]),
    # Reports.
    "'table4'": lambda: paper_view("trc/tabel4", [], TRC),
}
KINDS = (ConfigError, DataError, LabelError, MarkerError, SettingsError)


@pytest.mark.parametrize("named", CALLS)
def test_a_function_refuses_what_would_give_a_wrong_number(named):
    with pytest.raises(KINDS) as error:
        CALLS[named]()
    assert named in str(error.value)
