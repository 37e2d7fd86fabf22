import base64
import dataclasses
import re
import struct

import pytest

from heron.commands.report import write_report
from heron.reports.artefacts import read_artefacts
from heron.reports.figures import run_figure, run_panels
from heron.reports.text_panels import kind_of
from heron.results.collect import collect
from heron_tools.reproduction.paper_tables import PaperView, fraction_figure

pytestmark = pytest.mark.usefixtures("drawn_figures")


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_runs_figure_is_a_png_with_the_same_bytes_each_time(make_run):
    (run,) = collect(make_run())
    artefacts = read_artefacts(run)
    first = run_figure(run, artefacts)
    assert min(_size(first)) > 500
    assert first == run_figure(run, artefacts)


@pytest.mark.parametrize("state", ["running", "failed"])
def test_a_run_that_left_nothing_still_has_a_figure(make_run, state):
    (run,) = collect(make_run(state=state))
    assert _size(run_figure(run, read_artefacts(run)))


def test_fraction_figure_draws_single_runs_too():
    from heron.base.cells import Summary

    curves = {"macro_f1": {0.5: Summary(0.4, None, 1), 1.0: Summary(0.5, 0.1, 3)}}
    assert _size(fraction_figure(PaperView({}, curves, "Figure 1")))


def test_a_report_holds_its_panels_as_images(make_run):
    page = write_report(make_run().parent).html.read_text(encoding="utf-8")
    assert [base64.b64decode(url) for url in re.findall(r'"data:image/png;base64,([^"]+)"', page)]


def test_panels_of_a_page_are_svg_whose_names_are_texts_in_the_order_they_are_typed(make_run):
    (run,) = collect(make_run())
    artefacts = read_artefacts(run)
    names = ("חיובי (טוב)", "አዎንታዊ", "中立")
    artefacts = dataclasses.replace(artefacts, classes=(*artefacts.classes, *names))
    first, *_ = run_panels(run, artefacts)
    assert first == run_panels(run, artefacts)[0]
    assert "Confusion" in first.title
    assert all(f">{name}<" in first.image.decode() for name in names)


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_probabilities_add_a_row_of_panels(make_run):
    (run,) = collect(make_run())
    artefacts = read_artefacts(run)
    without = dataclasses.replace(artefacts, reliability=None)
    height = _size(run_figure(run, artefacts))[1]
    assert height > 1.5 * _size(run_figure(run, without))[1]


@pytest.mark.parametrize(
    ("kind", "answers"),
    [
        ("number", ["1990", "٤٢", "๑,๐๐๐", "12.5 %"]),
        ("with a number", ["3 במאי 1948", "5 km", "ปี 2010"]),
        ("words", ["ירושלים", "ตลาด", "le 'un'", "?"]),
        ("no answer", ["", " ", None]),
    ],
)
def test_kinds_of_answers_are_told_apart_in_any_script(kind, answers):
    assert {kind_of(answer) for answer in answers} == {kind}
