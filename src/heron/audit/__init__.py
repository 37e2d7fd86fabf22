"""`heron audit`: leakage and shortcuts of a data set, found before anyone trains on it."""
