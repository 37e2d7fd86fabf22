"""Colours and styles of figures, as keyword arguments of Matplotlib."""

from typing import Any

# Okabe and Ito's palette: distinguishable with any kind of colour vision, and in grey.
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
INK = "#1f2937"
QUIET = "#6b7280"
FAINT = "#e5e7eb"
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
CENTRED: Any = {"ha": "center", "va": "center"}
COUNT: Any = {"fontsize": 8, "padding": 2}  # of the labels of bars
