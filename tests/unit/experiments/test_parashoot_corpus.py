"""`heron build parashoot`: paragraphs are drawn, an annotator's export becomes a data set."""

import csv
import json
import random
from xml.etree import ElementTree

import pytest

from heron.base.files import read_json
from heron.base.tables import write_table
from heron.cli import main
from heron.data.config import read_config
from heron.data.readers import load_with_report
from heron.results.shipped import read_shipped
from heron.training.compose import compose
from label_studio import region as marked_region
from label_studio import utf16
from real_data import DATA, on_real

TEXT = "העיר נוסדה בשנת מאה אחרי מלחמה ארוכה ליד נהר גדול שבו שטו סוחרים מחיפה אל הים 🦩"
WORDS = TEXT.split()


def paragraph(number, length=60, characters=500):
    """A made-up paragraph of at least so many characters, in Hebrew, with an emoji."""
    draw = random.Random(number)
    words = [f"פסקה{number}", "🦩", *draw.choices(WORDS, k=length)]
    while len(" ".join(words)) < characters:
        words.append(draw.choice(WORDS))
    return " ".join(words)


def write_articles(folder, count=30):
    """Articles with one short paragraph and one to three long ones."""
    titles = [f"ערך {number}" for number in range(count)]
    long = [[paragraph(10 * n + k) for k in range(1 + n % 3)] for n in range(count)]
    texts = ["\n\n".join([f"קצר {n}", *long[n]]) for n in range(count)]
    write_table(folder / "articles.jsonl", {"title": titles, "text": texts})
    return folder / "articles.jsonl"


@pytest.fixture
def tasks(tmp_path):
    articles = write_articles(tmp_path)
    words = [f"from={articles}", f"out={tmp_path / 'shoot'}", "size=12", "weights=6,3,3", "seed=4"]
    assert main(["build", "parashoot", "sample", *words]) == 0
    return json.loads((tmp_path / "shoot" / "tasks.json").read_text(encoding="utf-8"))


def region(task, *words, **options):
    """The results that Label Studio stores for a span of a task with a question."""
    return marked_region(task["data"]["context"], *words, **options)


def exported(tasks, results, first=1):
    """An export of a project whose annotator 7 has made `results` of each task."""
    return [
        {
            "id": number,
            "annotations": [
                {"id": 100 + number, "completed_by": 7, "was_cancelled": False, "result": result}
            ],
            "drafts": [],
            "predictions": [],
            **task,
        }
        for number, (task, result) in enumerate(zip(tasks, results, strict=True), first)
    ]


def write_export(path, content):
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in content)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def collect(*words):
    return main(["build", "parashoot", "collect", *map(str, words)])


def problems_of(folder):
    text = (folder / "problems.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_two_long_paragraphs_of_each_article_are_drawn_and_split_by_article(tasks, tmp_path):
    data = [task["data"] for task in tasks]
    by_title = {}
    for one in data:
        by_title.setdefault(one["title"], []).append(one)
    assert len(by_title) == 12
    assert all(len(both) == 2 for both in by_title.values())
    assert all(len(one["context"]) >= 500 for one in data)
    assert all(len({one["split"] for one in both}) == 1 for both in by_title.values())
    splits = [both[0]["split"] for both in by_title.values()]
    assert [splits.count(name) for name in ("train", "validation", "test")] == [6, 3, 3]
    assert len({one["paragraph"] for one in data}) == 24
    # Articles of one long paragraph (every third) are not suitable.
    assert not {f"ערך {number}" for number in range(0, 30, 3)} & by_title.keys()
    titles = [one["title"] for one in data]
    assert titles != sorted(titles)


def test_the_draw_does_not_depend_on_the_order_or_the_form_of_the_input(tasks, tmp_path):
    rows = [json.loads(line) for line in (tmp_path / "articles.jsonl").open(encoding="utf-8")]
    texts = tmp_path / "texts"
    texts.mkdir()
    for row in rows:
        (texts / f"{row['title']}.txt").write_text(row["text"], encoding="utf-8")
    back = tmp_path / "back.jsonl"
    paragraphs = [row["text"].split("\n\n") for row in rows]
    columns = {"title": [row["title"] for row in rows[::-1]], "paragraphs": paragraphs[::-1]}
    write_table(back, columns)
    for source in (texts, back):
        words = [f"from={source}", f"out={tmp_path / source.name}-out", "size=12", "weights=6,3,3"]
        assert main(["build", "parashoot", "sample", *words, "seed=4"]) == 0
        again = tmp_path / f"{source.name}-out" / "tasks.json"
        assert json.loads(again.read_text(encoding="utf-8")) == tasks


def test_the_labelling_configuration_has_the_names_that_the_import_reads(tasks, tmp_path):
    root = ElementTree.parse(tmp_path / "shoot" / "labelling.xml").getroot()
    assert "direction: rtl" in root.get("style")
    label, text, area = root.find("Labels"), root.find("Text"), root.find("TextArea")
    assert (label.get("name"), area.get("name"), area.get("perRegion")) == (
        "answer",
        "question",
        "true",
    )
    assert {label.get("toName"), area.get("toName"), text.get("name")} == {"context"}
    assert text.get("value") == "$context"
    assert root.find("Header").get("value") == "$title"
    assert {"title", "context"} <= tasks[0]["data"].keys()


@pytest.mark.parametrize("units", [len, utf16], ids=["characters", "UTF-16 units"])
def test_what_is_annotated_comes_back_as_a_data_set(tasks, tmp_path, units, capsys):
    results = []
    for number, task in enumerate(tasks):
        words = task["data"]["context"].split()
        asked = [f"מתי קרה דבר {number} מספר {k}?" for k in range(3)]
        answers = [words[0], " ".join(words[1:4]) + " ", words[2]]
        pairs = enumerate(zip(asked, answers, strict=True))
        results.append(
            [one for k, (q, a) in pairs for one in region(task, q, a, f"r{k}", units=units)]
        )
    export = write_export(tmp_path / "export.json", exported(tasks, results))
    out = tmp_path / "data"
    assert collect(f"exports={export}", f"out={out}", "name=shoot") == 0
    assert "72 questions - 0 rejected = 72" in capsys.readouterr().out
    config = read_config(out / "conf" / "data" / "shoot.yaml")
    shipped = read_shipped(config, out, tmp_path / "cache")
    assert {name: len(rows) for name, rows in shipped.splits.items()} == {
        "train": 36,
        "validation": 18,
        "test": 18,
    }
    for examples in shipped.splits.values():
        for example in examples:
            ((start, end),) = example.spans
            words = example.text.split()
            assert example.text[start:end] in (words[0], " ".join(words[1:4]), words[2])
            assert example.side["answers"] == [example.text[start:end]]
    words = ["data=shoot", "--config-dir", str(out / "conf"), f"paths.data={out}"]
    assert compose(words).task.name == "qa"
    # heron's own reader sees nothing to mend, and an article in one split only.
    loaded = load_with_report(config, out, tmp_path / "cache")
    assert not any(loaded.dropped.values())
    groups = [{e.group for e in rows} for rows in loaded.examples.values()]
    assert sum(map(len, groups)) == len(set().union(*groups)) == 12


@on_real
def test_parashoot_s_own_paragraphs_are_drawn_and_its_questions_come_back(tmp_path, capsys):
    parts = {split: read_json(DATA / f"parashoot/{split}.json") for split in ("train", "dev")}
    asked = [row for part in parts.values() for row in part["data"]]
    articles, questions = {}, {}
    for row in asked:
        context = " ".join(row["context"].split())
        articles.setdefault(row["title"], {})[context] = None
        answer = " ".join(row["answers"]["text"][0].split())
        questions.setdefault(context, []).append((row["question"], answer))
    paragraphs = [list(texts) for texts in articles.values()]
    write_table(tmp_path / "a.jsonl", {"title": list(articles), "paragraphs": paragraphs})
    words = [f"from={tmp_path / 'a.jsonl'}", f"out={tmp_path / 'shoot'}"]
    assert main(["build", "parashoot", "sample", *words]) == 0
    assert "328 articles read, 300 suitable, 300 drawn" in capsys.readouterr().out
    drawn = read_json(tmp_path / "shoot/tasks.json")
    results = [
        [
            one
            for n, (question, answer) in enumerate(questions[task["data"]["context"]])
            for one in region(task, question, answer, f"r{n}")
        ]
        for task in drawn
    ]
    export = write_export(tmp_path / "export.json", exported(drawn, results))
    assert collect(f"exports={export}", f"out={tmp_path / 'data'}", "name=shoot") == 0
    assert "1938 questions - 2 rejected = 1936" in capsys.readouterr().out
    config = read_config(tmp_path / "data/conf/data/shoot.yaml")
    loaded = load_with_report(config, tmp_path / "data", tmp_path / "cache")
    assert {name: len(rows) for name, rows in loaded.examples.items()} == {
        "train": 1189,
        "validation": 121,
        "test": 626,
    }
    assert not any(loaded.dropped.values())


def test_each_problem_is_listed_with_its_task_and_line(tasks, tmp_path, capsys):
    context = tasks[0]["data"]["context"].split()
    first = [
        *region(tasks[0], "מתי נוסדה העיר?", context[0], "good"),
        *region(tasks[0], "האם נוסדה העיר?", context[0], "yes"),
        *region(tasks[0], "  ", context[0], "blank"),
        *region(tasks[0], "מתי נוסדה העיר ?", context[2], "again"),
        region(tasks[0], "מי בא אליה?", context[0], "spanless")[1],
        region(tasks[0], "", context[0], "questionless")[0],
        *region(tasks[0], "מתי זה היה ואיך", context[0], "no mark"),
        *region(tasks[0], f"מה קרה ל{context[0]}?", " ".join(context[:54]), "long"),
        *region(tasks[0], f"איפה {context[0]} נמצאת?", context[0], "named"),
        *region(tasks[0], "לאן הלכו כולם?", context[3], "moved", shift=300),
    ]
    empty = [[] for _ in tasks[1:]]
    export = write_export(tmp_path / "export.json", exported(tasks, [first, *empty], first=41))
    out = tmp_path / "data"
    assert collect(f"exports={export}", f"out={out}") == 0
    printed = capsys.readouterr().out
    assert "10 questions - 7 rejected = 3" in printed
    assert "24 tasks, 23 of them without a question" in printed
    rows = problems_of(out)
    found = {(row["check"], row["then"]) for row in rows}
    assert found == {
        ("yes_no", "rejected"),
        ("no_question", "rejected"),
        ("repeated", "rejected"),
        ("no_answer", "rejected"),
        ("answer_length", "rejected"),
        ("misplaced", "rejected"),
        ("question_mark", "listed"),
        ("answer_in_question", "listed"),
    }
    assert [row["check"] for row in rows].count("no_question") == 2
    assert all(row["where"] == f"{export}:1 (task 41)" for row in rows)
    assert all(row["annotator"] == "7" and row["task"] == "41" for row in rows)
    # Stricter checks leave more out.
    words = "reject=yes_no,answer_length,repeated,question_mark,answer_in_question"
    assert collect(f"exports={export}", f"out={out}", words) == 0
    assert "10 questions - 9 rejected = 1" in capsys.readouterr().out


SPREAD = "Un oraș 🦩🦩 mare,  vechi\nși frumos."


@pytest.mark.parametrize("units", [len, utf16], ids=["characters", "UTF-16 units"])
@pytest.mark.parametrize("form", ["json", "json-min", "csv"])
def test_a_rendered_text_is_no_misplaced_span_in_any_format(tmp_path, units, form, capsys):
    data = {"paragraph": "p", "title": "t", "context": SPREAD, "split": "train"}
    answers = {"Cum e?": "mare,  vechi", "Ce e?": "vechi\nși frumos", "Cine e?": "oraș"}
    regions = [
        region({"data": data}, question, answer, question, units=units)
        for question, answer in answers.items()
    ]
    del regions[2][0]["value"]["text"]  # the other spans tell what its offsets count
    path = tmp_path / f"export.{form.replace('json-min', 'json')}"
    if form == "json":
        write_export(path, exported([{"data": data}], [[one for pair in regions for one in pair]]))
    else:
        spans = [span["value"] for span, _ in regions]
        row = {**data, "id": 1, "answer": spans, "question": list(answers), "annotator": 7}
        row |= {"annotation_id": 5, "lead_time": None, "created_at": "", "updated_at": ""}
        if form == "csv":
            row = {k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()}
            write_table(path, {name: [cell] for name, cell in row.items()})
        else:
            write_export(path, [row])
    assert collect(f"exports={path}", f"out={tmp_path / 'd'}", "reject=", "language=ro") == 0
    assert "3 questions - 0 rejected = 3" in capsys.readouterr().out
    rows = read_json(tmp_path / "d" / "train.json")["data"]
    assert {row["question"]: row["answers"]["text"][0] for row in rows} == answers


def test_an_export_that_is_given_twice_counts_once(tasks, tmp_path, capsys):
    words = tasks[0]["data"]["context"].split()
    results = [one for k in range(3) for one in region(tasks[0], f"מתי {k}?", words[k], f"r{k}")]
    content = exported(tasks[:1], [results])
    paths = [write_export(tmp_path / f"{name}.json", content) for name in "ab"]
    # Whatever `reject` says: an id must be there once.
    assert collect(f"exports={paths[0]},{paths[1]}", f"out={tmp_path / 'data'}", "reject=") == 0
    assert "6 questions - 3 rejected = 3" in capsys.readouterr().out
    assert {row["where"] for row in problems_of(tmp_path / "data")} == {f"{paths[1]}:1 (task 1)"}


def test_an_article_in_two_splits_is_refused(tasks, tmp_path, capsys):
    one = region(tasks[0], "מתי?", tasks[0]["data"]["context"].split()[0], "r")
    content = exported(tasks[:1], [one])
    other = json.loads(json.dumps(content))
    splits = {"train": "test", "validation": "train", "test": "train"}
    other[0]["data"]["split"] = splits[content[0]["data"]["split"]]
    paths = [write_export(tmp_path / f"{n}.json", c) for n, c in (("a", content), ("b", other))]
    assert collect(f"exports={paths[0]},{paths[1]}", f"out={tmp_path / 'data'}") == 2
    said = capsys.readouterr().err
    assert f"{paths[1]}:1 (task 1)" in said
    assert "one article in one split" in said
    assert not (tmp_path / "data").exists()
