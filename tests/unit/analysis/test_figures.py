"""The figure of an analysis is an image with a panel per slicing, the same each time."""

import struct

import numpy as np

from heron.analysis.breakdown import Breakdown
from heron.analysis.figures import breakdown_figure
from heron.analysis.slices import Answers, Slicing, measure


def height(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])[1]


def test_a_figure_has_a_panel_per_slicing_and_the_same_bytes_each_time():
    answers = Answers(["a", "b", "b"], np.array([True, False, True]), np.arange(3))
    parts = {"some": np.array([0, 1]), "all right": np.array([2]), "none": np.array([], int)}
    slicing = Slicing("Accuracy by kind", "kind", measure(answers, parts))
    one = breakdown_figure(Breakdown("kind", (slicing,), ()), "a run", 2 / 3)
    two = breakdown_figure(Breakdown("kind", (slicing, slicing), ()), "a run", 2 / 3)
    assert height(two) > 1.5 * height(one)
    assert one == breakdown_figure(Breakdown("kind", (slicing,), ()), "a run", 2 / 3)
