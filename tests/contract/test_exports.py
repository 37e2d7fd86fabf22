"""A head that is one linear layer on the first token is a class of transformers, for every task."""

import csv

import pytest
import torch
from transformers import AutoModelForSequenceClassification, pipeline

from heron.base.run_folder import RunFolder
from heron.data import TASKS
from heron.data.markers import with_markers
from heron.models.encoder import segments
from heron.tasks.task import ClassTask
from heron.training.compose import compose
from heron.training.inference import open_trained
from heron_tools.export.plain import write_plain
from page_commands import FENCED
from small_exports import Exported, encoder_of_kind
from small_heron import ROOT
from small_runs import TINY, in_folder
from tiers import one_in, quick

# The functions between the two layers of transformers: tanh, tanh behind dropout, relu, GELU.
KINDS = ("bert", "xlm-roberta", "distilbert", "electra", "deberta-v2", "longformer")
DATA = {"relation": "chronicle", "nli": "chronicle_nli", "classification": "own_classification"}
LABELS = ("culture", "economy", "sport")  # of own_classification
HEADS = {"marked": "seq_cls", "pair": "cross", "text": "text"}
# Forms with one sequence for a row, so that a first token is its own; see `Config.head.input`.
FORMS = [
    (task, form)
    for task in TASKS
    if isinstance(TASKS[task], ClassTask)
    for form in TASKS[task].forms
    if form not in ("window", "separate")
]


@pytest.fixture
def texts(tmp_path):
    """Write a table of single texts; returns the words that name it."""
    with (tmp_path / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["guid", "text", "label"])
        for row in range(40):
            writer.writerow([row, "הוועדה דחתה את ההצעה " + "שוב " * (row % 7), LABELS[row % 3]])
    path = tmp_path / "texts.csv"
    return [f"data.files.{split}.path={path}" for split in ("train", "test")]


def export(kind, task, form, texts, tiny_encoder, tmp_path, own=False, more=()):
    """Export a run whose answers are far from uniform; returns it and its folder."""
    encoder = encoder_of_kind(kind, tiny_encoder, tmp_path / kind)
    words = [f"data={DATA[task]}", f"head={HEADS.get(form, 'cross')}", f"head.input={form}"]
    words += [f"encoder={encoder}", "encoder.max_length=256", *more]
    if task == "classification":
        words += ["data.language=he", *texts]
    small = [word for word in TINY if "generator" not in word or task != "classification"]
    config = compose([*small, *in_folder(tmp_path), *words])
    run = Exported(config, tmp_path / "run", scale=10)
    (tmp_path / "plain").mkdir()
    loads_as = write_plain(run.folder, tmp_path / "plain").loads_as
    assert loads_as == ("HeronModel" if own else "AutoModelForSequenceClassification")
    return run, tmp_path / "plain"


def text_of(example, form, data):
    if form == "pair":
        return {"text": example.text, "text_pair": example.text_pair}
    if form == "marked":
        return with_markers(example, data)
    return example.text_pair if form == "hypothesis" else example.text


@pytest.mark.parametrize(
    ("kind", "task", "form"),
    [(KINDS[n % len(KINDS)], *each) for n, each in enumerate(FORMS)]
    + one_in(4, [(kind, *each) for kind in KINDS for each in FORMS]),
)
def test_a_pipeline_gives_the_probabilities_that_heron_predicts(
    kind, task, form, texts, tiny_encoder, tmp_path
):
    check_pipeline(form, *export(kind, task, form, texts, tiny_encoder, tmp_path))


def check_pipeline(form, run, folder):
    labels, examples = run.data.config.data.label_order, run.data.examples["test"][:6]
    wanted, _ = open_trained(RunFolder(run.folder.path)).predict(examples)
    classify = pipeline("text-classification", model=str(folder), trust_remote_code=True)
    assert list(classify.model.config.id2label.values()) == labels
    for example, wanted_C in zip(examples, wanted.probabilities_RC, strict=True):
        found = classify([text_of(example, form, run.data.config.data)], top_k=None)[0]
        found = {each["label"]: each["score"] for each in found}
        assert found == pytest.approx(dict(zip(labels, wanted_C, strict=True)), abs=1e-5)
        assert max(wanted_C) > 1.2 / len(labels)


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_a_pipeline_reads_the_encoder_of_a_model_with_a_decoder(
    kind, texts, tiny_encoder, tmp_path
):
    check_pipeline("pair", *export(kind, "nli", "pair", texts, tiny_encoder, tmp_path, own=True))


def test_a_longformer_without_global_attention_stays_without(texts, tiny_encoder, tmp_path):
    more = ["encoder.global_attention=none"]
    given = ("longformer", "nli", "pair", texts, tiny_encoder, tmp_path)
    check_pipeline("pair", *export(*given, own=True, more=more))


def test_a_head_with_berts_own_pooler_is_exported_as_it_is(texts, tiny_encoder, tmp_path):
    more = ["head.classifier=per_event"]
    run, folder = export("bert", "relation", "marked", texts, tiny_encoder, tmp_path, more=more)
    check_pipeline("marked", run, folder)


@pytest.mark.parametrize("kind", quick(KINDS, 2))
def test_a_step_of_training_moves_the_loss_as_the_run_itself_does(
    kind, texts, tiny_encoder, tmp_path
):
    run, folder = export(kind, "nli", "pair", texts, tiny_encoder, tmp_path)
    plain, batch = AutoModelForSequenceClassification.from_pretrained(folder), run.batch
    gold_R = torch.arange(len(batch)) % len(run.data.config.data.label_order)
    inputs = {"input_ids": batch.tokens_BL, "attention_mask": batch.mask_BL}
    if getattr(plain.config, "type_vocab_size", 1) > 1:
        inputs["token_type_ids"] = segments(batch)

    def losses(parameters, logits):
        optimizer, found = torch.optim.AdamW(parameters, lr=2e-5), []
        for _ in range(3):
            loss = torch.nn.functional.cross_entropy(logits(), gold_R)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(float(loss))
        return torch.tensor(found)

    own = [*run.encoder.parameters(), *run.head.parameters()]
    wanted = losses(own, lambda: run.head(run.encoder(batch), batch))
    found = losses(plain.eval().parameters(), lambda: plain(**inputs).logits)
    torch.testing.assert_close(found, wanted, rtol=0.02, atol=0)
    moved = (found.diff() / wanted.diff()).tolist()
    assert all(0.8 < each < 1.5 for each in moved)


@pytest.mark.usefixtures("copied_code")
@pytest.mark.parametrize(
    ("task", "form", "own"), [("classification", "text", False), ("nli", "separate", True)]
)
def test_the_pages_code_runs(task, form, own, texts, tiny_encoder, tmp_path):
    run, folder = export("bert", task, form, texts, tiny_encoder, tmp_path, own)
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    (code,) = (code for language, code in FENCED.findall(page) if language == "python")
    first, _, others = code.partition("# any other head")
    names, lines = {}, [first.splitlines()[0], *(others if own else first).splitlines()[1:]]
    for line in lines:
        line = line.replace('"DIR"', repr(str(folder)))
        if not line.startswith(("classify(", "model.predict(")):
            exec(line, names)
            continue
        (found,) = eval(line, names)
        labels = found if isinstance(found, dict) else [each["label"] for each in found]
        assert sorted(labels) == sorted(run.data.config.data.label_order)
