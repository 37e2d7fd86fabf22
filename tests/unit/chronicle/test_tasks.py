"""Rows of every task: pinned bytes, exact sizes, mixes and noise, the same in all languages."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronicle.corpus import ChronicleConfig, write
from chronicle.settings import LABEL_SETS, LABELS, SettingsError
from chronicle_rows import LANGUAGES, rows_of
from heron.base.errors import ConfigError
from heron.base.files import sha256_file
from heron.base.folders import conf_dir
from heron.data.config import read_config
from heron.data.readers import load
from tiers import one_in, quick

CORPORA = {
    "relation": {"size": 1000},
    "three": {"task": "nli", "size": 1000},
    "four": {"task": "nli", "label_set": "four", "size": 1000},
    "qa": {"task": "qa", "size": 200, "unanswerable": 0.1},
    "summarization": {"task": "summarization", "size": 100, "premise_sentences": (8, 20)},
}
# Of train with seed 0. Whoever has to change these hashes changes every score ever measured on
# chronicle.
PINNED = {
    "relation": ("7ff4608061609472", "77962d2abaafa47b", "65531c185e7425eb"),
    "three": ("2c064b090e61fe3a", "750fbaca594f2ee2", "b03480fc2967af18"),
    "four": ("f114d4f04a383b8c", "5873a9038b0b6fd2", "f16d672ac0ef5d86"),
    "qa": ("5652cafd7438d317", "99eb19819eae7f03", "81ce831b9a6838a6"),
    "summarization": ("30da5b3645fea842", "8b7c5a9f87421aac", "5360f14324d8085f"),
}
LABELLED = {"relation": LABELS, **LABEL_SETS}


@pytest.mark.parametrize(
    ("corpus", "language"), one_in(3, [(c, lang) for c in CORPORA for lang in LANGUAGES])
)
def test_bytes_do_not_depend_on_run_machine_or_python_version(corpus, language, tmp_path):
    config = ChronicleConfig(language=language, **CORPORA[corpus])
    first, again = write(config, tmp_path / "one"), write(config, tmp_path / "two")
    assert all(first[split].read_bytes() == again[split].read_bytes() for split in first)
    assert sha256_file(first["train"])[:16] == PINNED[corpus][LANGUAGES.index(language)]


@settings(max_examples=15, deadline=None)
@given(
    corpus=st.sampled_from([*CORPORA]),
    size=st.integers(100, 400),
    language=st.sampled_from(LANGUAGES),
    seed=st.integers(0, 99),
)
def test_sizes_are_exact_and_no_document_or_premise_is_in_two_splits(
    tmp_path_factory, corpus, size, language, seed
):
    options = CORPORA[corpus] | {"size": size, "language": language, "seed": seed}
    rows = rows_of(tmp_path_factory.mktemp("c"), **options)
    sizes = [round(size * 0.7), round(size * 0.1)]
    assert [len(split) for split in rows.values()] == [*sizes, size - sum(sizes)]
    for column in ("document", *(["premise"] if options.get("task") == "nli" else [])):
        found = [{row[column] for row in split} for split in rows.values()]
        assert sum(map(len, found)) == len(set().union(*found))
    guids = [row["guid"] for split in rows.values() for row in split]
    assert len(guids) == len(set(guids))


SAID = ("label", "kind", "candidates")


@pytest.mark.parametrize("corpus", quick(name for name in CORPORA if name != "relation"))
def test_languages_hold_the_same_rows_in_other_words(corpus, tmp_path):
    options = CORPORA[corpus] | {"size": 200}
    he, ro, en = (
        [
            (row["guid"].split("-", 2)[2], *(row.get(name) for name in SAID))
            for row in rows_of(tmp_path / each, language=each, **options)["test"]
        ]
        for each in LANGUAGES
    )
    assert he == ro == en


def test_languages_tell_the_same_stories(tmp_path):
    # Word order differs, so pairs do; the multiset of what a document relates does not.
    he, ro, en = (
        Counter(row["document"][-6:] for row in rows_of(tmp_path / each, language=each)["train"])
        for each in LANGUAGES
    )
    last = max(he)  # it is cut at the exact size
    assert he - Counter({last: he[last]}) == ro - Counter({last: ro[last]})
    assert ro - Counter({last: ro[last]}) == en - Counter({last: en[last]})


@pytest.mark.parametrize("weights", [(1.0,) * 4, (0.5, 0.5, 0.0, 0.0), (2.0, 1.0, 60.0, 1.0)])
@pytest.mark.parametrize("corpus", LABELLED)
def test_class_weights_set_the_mix_of_every_split(corpus, weights, tmp_path):
    names = LABELLED[corpus]
    weights = weights[: len(names)]
    options = CORPORA[corpus] | {"size": 400, "class_weights": weights}
    for rows in rows_of(tmp_path, **options).values():
        labels = Counter(row["label"] for row in rows)
        for label, weight in zip(names, weights, strict=True):
            assert labels[label] == pytest.approx(len(rows) * weight / sum(weights), abs=2)


@pytest.mark.parametrize("noise", [0.2, 1.0])
@pytest.mark.parametrize("corpus", LABELLED)
def test_noise_flips_the_exact_share_of_train_and_keeps_the_truth(corpus, noise, tmp_path):
    options = CORPORA[corpus] | {"size": 500}
    clean = rows_of(tmp_path / "clean", **options)
    noisy = rows_of(tmp_path / "noisy", label_noise=noise, **options)
    assert (noisy["validation"], noisy["test"]) == (clean["validation"], clean["test"])
    assert sum(row["flipped"] for row in noisy["train"]) == round(350 * noise)
    for row, same in zip(noisy["train"], clean["train"], strict=True):
        assert row["true_label"] == same["label"]
        assert row["flipped"] == (row["label"] != row["true_label"])
        assert row["label"] in LABELLED[corpus]
        changed = {key for key in row if row[key] != same[key]}
        assert changed <= {"label", "flipped"}


@pytest.mark.parametrize("name", ["chronicle_nli", "chronicle_ronli", "chronicle_qa"])
def test_shipped_configurations_load(name, tmp_path):
    config = read_config(conf_dir() / "data" / f"{name}.yaml")
    config.generator.size = 200
    splits = load(config, tmp_path, tmp_path / "cache")
    assert [len(rows) for rows in splits.values()] == [140, 20, 40]
    for example in splits["test"]:
        assert example.text_pair
        assert example.group.startswith("chronicle-")
        assert set(config.columns.side) <= set(example.side)
        for span in example.spans:
            assert example.text[span.start : span.end] == example.side["answers"][0]


def test_questions_without_an_answer_need_their_class(tmp_path):
    config = read_config(conf_dir() / "data" / "chronicle_qa.yaml")
    config.generator.size, config.generator.unanswerable = 100, 0.5
    with pytest.raises(ConfigError, match="generates answer, no_answer"):
        load(config, tmp_path, tmp_path / "cache")
    config.label_order = ["answer", "no_answer"]
    labels = Counter(example.label for example in load(config, tmp_path, tmp_path)["train"])
    assert labels == {"answer": 35, "no_answer": 35}


def test_all_wrong_values_are_reported_at_once():
    with pytest.raises(SettingsError) as error:
        ChronicleConfig(task="tagging", language="fr", size=1)
    assert re.findall(r"(\w+)=", str(error.value))[:3] == ["task", "language", "size"]
