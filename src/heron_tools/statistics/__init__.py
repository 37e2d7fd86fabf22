"""What a data set is like: rows, lengths, overlap, question words, morphology, novelty."""
