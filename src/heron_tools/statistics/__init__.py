"""Statistics of data sets: rows, lengths, overlap, question words, morphology, novelty."""
