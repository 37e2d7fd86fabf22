"""How figures look, and their PNG bytes; drawn without pyplot, so without a display.

Letters are Latin throughout: the default fonts draw Hebrew, but not from right to left.
"""

import io
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's palette: distinguishable with any kind of colour vision, and in grey.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, QUIET, FAINT = "#1f2937", "#6b7280", "#e5e7eb"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE)

STYLE: Any = {
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": "#9ca3af",
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "legend.frameon": False,
    "figure.facecolor": "white",
}
_DPI = 150


def png(figure: Figure) -> bytes:
    """Save a figure; the same figure gives the same bytes."""
    image = io.BytesIO()
    figure.set_dpi(_DPI)
    # `Figure.savefig` draws twice. Without the software's name, the same run gives the same bytes.
    FigureCanvasAgg(figure).print_png(image, metadata={"Software": None})
    return image.getvalue()
