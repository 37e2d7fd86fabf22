"""Types of the arrays that scores are computed from."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Ids = NDArray[np.int64]  # of classes, groups, tokens
