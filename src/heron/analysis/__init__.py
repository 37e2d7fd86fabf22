"""`heron analyze`: the scores of a run by slice, and the statistics of a data set."""
