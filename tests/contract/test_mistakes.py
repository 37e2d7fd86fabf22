"""A mistake in YAML or on the command line ends with 2, and names its key and the nearest.

One table for all commands: what is typed, and what must be in the error. How the error is worded
is pydantic's, Hydra's and OmegaConf's own business.
"""

from __future__ import annotations

import pytest

from heron.base.errors import ConfigError
from heron.data.config import DataConfig
from heron.training.compose import compose
from heron.training.overrides import override
from small_runs import heron

TYPED = {
    # Keys and options of groups that there are not.
    "train sed=1": ["sed", "'seed'"],
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
    "evaluate test": ["'test'"],
    "compare a=1": ["a"],
    "audit near=2": ["near=2", "data: "],
    "audit own_nli data.columns.txt=a": ["data.columns.txt", "'data.columns.text'"],
    "noise run=r run=s": ["'run'"],
    "predict run=": ["run"],
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
    assert not list(tmp_path.iterdir())


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
    "data.columns.text=a,b": "data.columns.text=a,b",
    "data.no_label=NONE": "data.no_label=NONE",
    "data.no_label=[{a: b}]": "data.no_label.0",
    "data.label_aliases={a: null}": "data.label_aliases.a",
    "data.verify=": "data.verify",
    "data.join.key=text": "data.join.file",
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
