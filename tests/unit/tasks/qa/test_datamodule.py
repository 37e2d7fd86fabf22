"""A run trains on answers that it can see, asks all questions, and says what it could not do."""

import dataclasses
import json

import pytest

from heron.base.errors import DataError
from heron.base.folders import conf_dir
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table
from heron.data.config import FileConfig, read_config
from heron.data.datamodule import DataModule
from heron.tasks.qa.features import FITS, AnswerColumns
from heron.training.job import describe, write_moved

SENTENCE = "הספינה הפליגה מנמל חיפה ביום שני בבוקר אל האי הקטן שבצפון ושבה רק אחרי שבוע"
WORDS = SENTENCE.split()


def rows(name, number):
    """Write questions with answers early and late in the text; every third one ends in a blank."""
    context = " ".join(WORDS * 4)
    for i in range(number):
        answer = WORDS[i % len(WORDS)] + (" " if i % 3 == 0 else "")
        start = [place for place in range(len(context)) if context.startswith(answer, place)][i % 4]
        text = f"{name} {i} {context}"
        answers = {"text": [answer], "answer_start": [start + len(f"{name} {i} ")]}
        question = f"איפה עומדת המילה מספר {i}?"
        yield {"id": f"{name}{i}", "context": text, "question": question, "answers": answers}


@pytest.fixture
def config(chronicle_config, tmp_path):
    found = chronicle_config()
    data = read_config(conf_dir() / "data" / "own_qa.yaml")
    for split, number in (("train", 24), ("test", 12)):
        path = tmp_path / f"{split}.json"
        path.write_text(json.dumps({"data": list(rows(split, number))}))
        data.files[split] = FileConfig(str(path))
    return dataclasses.replace(
        found,
        data=data,
        head=dataclasses.replace(found.head, input="question"),
        encoder=dataclasses.replace(found.encoder, max_length=64),
    )


def reading(config, overflow, on_cut="refuse"):
    encoder = dataclasses.replace(config.encoder, overflow=overflow, stride=8)
    data = dataclasses.replace(config.data, on_cut=on_cut)
    return DataModule(dataclasses.replace(config, encoder=encoder, data=data))


def test_windows_leave_nothing_out_and_batches_point_at_the_answers(config):
    module = reading(config, "windows")
    assert {split: len(f) for split, f in module.features.items()} == {
        "train": 21,
        "validation": 3,
        "test": 12,
    }
    batch = next(iter(module.train_dataloader()))
    answers = AnswerColumns.of(batch)
    answered = answers.first_B2[:, 0] > 0
    assert answered.any()
    assert (~answered).any()
    first = answers.first_B2[answered, 0]
    assert answers.context_BL[answered].gather(1, first[:, None]).all()


def test_answers_that_are_cut_stop_training_or_are_left_out_of_it_alone(config):
    with pytest.raises(DataError) as error:
        reading(config, "truncate").prepare_data()
    said = [str(problem) for problem in error.value.problems]
    assert all(problem.startswith("train train") for problem in said)
    assert "encoder.overflow=windows" in said[0]
    module = reading(config, "truncate", on_cut="drop")
    assert len(module.features["train"]) == 21 - len(said)
    assert module.features["test"].refused == []
    assert module.features["test"].counts["answers_cut"][0]


def test_a_run_says_how_its_answers_were_read(config, capsys):
    module = reading(config, "truncate", on_cut="drop")
    found = describe(module.examples, module.dropped, module.features)
    for split, features in module.features.items():
        counts = found["splits"][split]
        assert sum(counts[f"answers_{fit}"] for fit in FITS) == len(features)
    assert found["splits"]["train"]["answers_cut"] == 0
    cut = found["splits"]["test"]["answers_cut"]
    assert cut > 0
    assert sum(deeds["trimmed"] for deeds in found["repairs"].values()) == 8 + 4
    warned = capsys.readouterr().err
    assert f"test: {cut} answers are cut by every window" in warned
    assert "test: answers 4 trimmed" in warned


def test_a_run_lists_the_place_of_every_answer_that_is_not_where_its_file_says(
    config, tmp_path, capsys
):
    path = tmp_path / "train.json"
    content = json.loads(path.read_text())
    moved = content["data"][1]
    moved["answers"]["answer_start"][0] += 1
    path.write_text(json.dumps(content))
    examples = reading(config, "truncate", on_cut="drop").examples
    folder = RunFolder(tmp_path)
    write_moved(folder, examples)
    (row,) = read_table(folder.moved).rows
    place = moved["answers"]["answer_start"][0] - 1
    assert (row["guid"], row["place"]) == (moved["id"], str(place))
    assert str(folder.moved) in capsys.readouterr().err
