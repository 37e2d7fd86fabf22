"""What is said of a data set before it is used."""

from __future__ import annotations

import pytest

from heron.data.findings import warn_of_script
from heron.data.overrides import configure
from heron.data.readers import load

AMHARIC = "ሰላም ለዓለም ሁሉ"
HEBREW = "הוועדה התכנסה בבוקר"


@pytest.mark.parametrize(
    ("text", "language", "warns"),
    [
        (AMHARIC, "he", True),
        (AMHARIC, "am", False),
        (AMHARIC, "und", False),
        (HEBREW, "he", False),
        (f"{HEBREW} ok", "he", False),
    ],
)
def test_texts_of_another_script_than_the_language_are_named_once(
    text, language, warns, tmp_path, capfd
):
    (tmp_path / "own.csv").write_text(f"text,label\n{text} a,x\n{text} b,y\n" * 5, "utf-8")
    words = [f"data.files.train.path={tmp_path / 'own.csv'}", f"data.language={language}"]
    config = configure("own_classification", words)
    warn_of_script(config, load(config, tmp_path, tmp_path / "cache"))
    said = capfd.readouterr()
    assert (said.out + said.err).count("data.language") == warns
