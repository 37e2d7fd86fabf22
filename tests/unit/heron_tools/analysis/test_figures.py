"""The figure of an analysis is an image with a panel per slicing, the same each time."""

import struct

import numpy as np
import pytest

from heron.base.cells import Interval
from heron_tools.analysis.figures import slices_figure
from heron_tools.analysis.labels import DRAWN
from heron_tools.statistics.outcome import Slice, Slicing

pytestmark = pytest.mark.usefixtures("drawn_figures")


def height(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])[1]


def sliced(name, size, accuracy):
    return Slice(name, np.arange(size), {"accuracy": accuracy, "largest class": 0.5})


def test_a_figure_has_a_panel_per_slicing_and_the_same_bytes_each_time():
    slices = (
        sliced("some", 2, Interval(0.5, 0.1, 0.9)),
        sliced("one article", 1, 1.0),
        sliced("none", 0, None),
    )
    slicing, drawn = Slicing("By kind", slices), DRAWN
    one = slices_figure([slicing], "a run", 2 / 3, drawn)
    two = slices_figure([slicing, slicing], "a run", 2 / 3, drawn, "row")
    assert height(two) > 1.5 * height(one)
    assert one == slices_figure([slicing], "a run", 2 / 3, drawn)
