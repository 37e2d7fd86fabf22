"""`heron build lchaim` joins released pairs and translations."""

import json

from heron.base.tables import read_table
from heron.cli import main


def test_train_is_joined_from_pairs_and_translations(tmp_path, capsys):
    pairs = [
        {"uid": "id_0", "premise_id": "text_0", "hypothesis_id": "text_1", "label": "n"},
        {"uid": "id_1", "premise_id": "text_0", "hypothesis_id": "text_2", "label": "e"},
    ]
    texts = [{"text": f"t{n}", "key": f"text_{n},", "text_translated": f"ת{n}"} for n in range(2)]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs, indent=4))
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    words = [f"pairs={tmp_path / 'pairs.json'}", f"texts={tmp_path / 'texts.jsonl'}"]
    assert main(["build", "lchaim", *words, f"out={tmp_path / 'train.jsonl'}"]) == 0
    assert "1 rows, 1 without a translation" in capsys.readouterr().out
    (row,) = read_table(tmp_path / "train.jsonl").rows
    assert row == {"uid": "id_0", "premise": "ת0", "hypothesis": "ת1", "label": "n"}
