"""Lemmas, morphemes and lexical diversity, by a library or from CoNLL-U."""
