"""Every system of the two inference papers trains on the built-in corpus, scores and predicts."""

import pytest

from heron.base import terminal
from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.training import job
from heron.training.inference import open_trained, read_splits
from tiers import quick

LONG = ("data.generator.premise_sentences=[6,8]",)
CUT = ("head=mlp3", *LONG, "encoder.max_length=96")
WINDOWS = (*CUT, "encoder.overflow=windows", "encoder.stride=8")
SYSTEMS = {
    "LCHAIM, three-layer head": ("head=mlp3",),
    "LCHAIM, probe": ("head=mlp3", "encoder.freeze=all"),
    "LCHAIM, literal separator": ("head=mlp3", "encoder.separator=' [SEP] '"),
    "truncated premises": CUT,
    "windows, logits averaged": WINDOWS,
    "windows, largest logit": (*WINDOWS, "head.over_windows=max_logits"),
    "windows, states averaged": (*WINDOWS, "head.over_windows=mean_states"),
    "gradient checkpointing": ("head=mlp3", "encoder.gradient_checkpointing=true"),
    "RoNLI, siamese on a frozen encoder": ("head=siamese_cls", "encoder.freeze=all"),
    "RoNLI, siamese fine-tuned": ("head=siamese_cls", "head.combine=compare"),
    "RoNLI, cross-encoder": ("head=cross",),
    "RoNLI, hypothesis only": ("head=hypothesis_only",),
    "premise only": ("head=hypothesis_only", "head.input=premise"),
    "oversampled, balanced": ("head=cross", "batching.oversample=balanced"),
    "oversampled, multipliers": (
        "head=cross",
        "batching.oversample=multipliers",
        "+batching.multipliers={neutral: 2}",
    ),
    "class weights": ("head=cross", "optim.class_weights=balanced"),
    "casing levelled": ("head=cross", "data.normalize_case=capitalize"),
    "CBOW + SVM": ("baseline=cbow_svm", "baseline.dim=16", "baseline.epochs=1"),
    "CBOW + RBF SVM": ("baseline=cbow_svm", "baseline.kernel=rbf", "baseline.dim=16"),
    "CBOW + Softmax": ("baseline=cbow_softmax", "baseline.dim=16", "baseline.epochs=1"),
    "majority": ("baseline=majority",),
}


def trained(config, tmp_path):
    folder = RunFolder(tmp_path / "run")
    scores = job.run_job(config, folder)
    assert {"validation", "test"} <= scores.keys()
    assert all(0 <= scores["test"][name] <= 1 for name in ("accuracy", "macro_f1", "ece"))
    assert 0 <= scores["test"]["brier"] <= 2
    system = open_trained(folder)
    examples = read_splits(system)["test"]
    predictions, problems = system.predict(examples)
    assert not problems
    assert predictions.guids == [example.guid for example in examples]
    return folder


@pytest.mark.parametrize("name", quick(SYSTEMS))
@pytest.mark.parametrize("data", quick(["chronicle_nli", "chronicle_ronli"]))
def test_system_trains_scores_and_predicts(name, data, chronicle_config, tmp_path):
    if data == "chronicle_ronli" and ("LCHAIM" in name or "windows" in name or "premises" in name):
        pytest.skip("LCHAIM has three classes and long premises")
    if data == "chronicle_nli" and "RoNLI" in name:
        pytest.skip("RoNLI has four classes")
    config = chronicle_config(f"data={data}", "task=nli", "task.bootstrap=0", *SYSTEMS[name])
    trained(config, tmp_path)


@pytest.mark.real  # seconds; windows of long premises are in the table above
def test_a_longformer_reads_long_premises_whole(chronicle_config, tiny_longformer, tmp_path):
    encoder = (f"encoder.name={tiny_longformer}", "encoder.max_length=640")
    words = ("data=chronicle_nli", "task=nli", "head=mlp3", *LONG, *encoder)
    folder = trained(chronicle_config(*words, "encoder.gradient_checkpointing=true"), tmp_path)
    splits = read_json(folder.status)["data"]["splits"]
    assert {sizes["truncated"] for sizes in splits.values()} == {0}


def test_a_decoder_is_read_at_its_last_token(chronicle_config, tiny_gpt2, tmp_path):
    encoder = (f"encoder.name={tiny_gpt2}", "encoder.max_length=256")
    trained(
        chronicle_config("data=chronicle_ronli", "task=nli", "head=last_token", *encoder), tmp_path
    )


def test_a_decoder_s_first_word_is_not_taken_for_a_summary(chronicle_config, tiny_gpt2, tmp_path):
    encoder = (f"encoder.name={tiny_gpt2}", "encoder.max_length=256")
    config = chronicle_config("data=chronicle_nli", "task=nli", "head=mlp3", *encoder)
    with pytest.raises(ConfigError, match="last_token"):
        job.run_job(config, RunFolder(tmp_path / "run"))


def test_the_truncated_share_is_reported(chronicle_config, tmp_path, capsys):
    words = ("data=chronicle_nli", "task=nli", *CUT)
    folder = RunFolder(tmp_path / "run")
    terminal.begin()
    job.run_job(chronicle_config(*words), folder)
    sizes = read_json(folder.status)["data"]["splits"]["test"]
    assert 0 < sizes["truncated"] <= sizes["rows"]
    assert f"test: {sizes['truncated']} of {sizes['rows']} texts" in capsys.readouterr().err
