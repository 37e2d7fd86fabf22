"""Chronicle, the built-in corpus: dated stories in Hebrew, Romanian and English from one world."""

from chronicle.corpus import ChronicleConfig, write
from chronicle.settings import SettingsError
from chronicle.world import LABELS

__all__ = ["LABELS", "ChronicleConfig", "SettingsError", "write"]
