"""Chronicle, the built-in corpus: dated stories in Hebrew, Romanian and English from one world.

`chronicle.corpus.write` writes the corpus of a `ChronicleConfig`.
"""
