"""Lemmas, morphemes and lexical diversity, by one of several libraries or from CoNLL-U."""
