"""Chronicle, the built-in corpus: dated stories in Hebrew, Romanian and English from one world."""

from heron.data.chronicle.corpus import ChronicleConfig, write
from heron.data.chronicle.world import LABELS

__all__ = ["LABELS", "ChronicleConfig", "write"]
