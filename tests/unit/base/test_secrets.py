"""Secrets: what is masked, and that nothing else is touched."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import ConfigError, DataError
from heron.base.run_folder import RunFolder
from heron.base.secrets import MASK, redact, redacted
from heron.training.run_names import run_path
from small_runs import compose

PASSWORD = "hunter2hunter2"
ADDRESS = f"https://dana:{PASSWORD}@data.example.org/rows.csv"
WORD = st.text("abcdefghijkרשלוםxyz", min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def _no_secrets_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_API_KEY", "HF_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ADDRESS, f"https://{MASK}@data.example.org/rows.csv"),
        ("https://token@host/x", f"https://{MASK}@host/x"),
        ("https://a:p@ss:w0rd@host/x", f"https://{MASK}@host/x"),
        ("git+ssh://git:abc@host/repo.git", f"git+ssh://{MASK}@host/repo.git"),
        (
            "https://host/x?part=1&access_token=abc123&y=2",
            f"https://host/x?part=1&access_token={MASK}&y=2",
        ),
        ("https://host/x?X-Amz-Signature=0f0f", f"https://host/x?X-Amz-Signature={MASK}"),
        ("Authorization: Bearer abcdefghijklmnop", f"Authorization: Bearer {MASK}"),
        (
            "https://host/cb#access_token=abc123&token_type=bearer",
            f"https://host/cb#access_token={MASK}&token_type=bearer",
        ),
        ("https://host/cb#state=1&id_token=abc123", f"https://host/cb#state=1&id_token={MASK}"),
        (
            "https://host/x?db_pass=abc&user-pat=def",
            f"https://host/x?db_pass={MASK}&user-pat={MASK}",
        ),
        ("postgresql+psycopg2://dana:s3cret@db:5432/x", f"postgresql+psycopg2://{MASK}@db:5432/x"),
        ("redis://:s3cret@cache:6379/0", f"redis://{MASK}@cache:6379/0"),
        ("mysql://dana:a/b?c#d@db/x", f"mysql://{MASK}@db/x"),
        (
            "host=db user=dana password=s3cret dbname=x",
            f"host=db user=dana password={MASK} dbname=x",
        ),
        ("Server=db;User Id=sa;Password='a b';X=1", f"Server=db;User Id=sa;Password={MASK};X=1"),
        ("AccountName=a;AccountKey=abc==", f"AccountName=a;AccountKey={MASK}"),
        ("+logger.neptune.api_token=abc", f"+logger.neptune.api_token={MASK}"),
        ("logger={mine: {api_key: abc, x: 1}}", f"logger={{mine: {{api_key: {MASK}, x: 1}}}}"),
        ("export DB_PASS=s3cret && x", f"export DB_PASS={MASK} && x"),
        ("https:/user:pw1@host/data.csv", f"https:/{MASK}@host/data.csv"),  # through a path
        ("hf_" + "a1B2" * 8, MASK),
        ("ghp_" + "a1B2" * 9, MASK),
    ],
)
def test_masks_what_has_the_form_of_a_secret(text: str, shown: str) -> None:
    assert redact(f"see {text} there") == f"see {shown} there"


@pytest.mark.parametrize(
    "text",
    [
        "https://huggingface.co/onlplab/alephbert-base?revision=main",
        "3ca3c5ad162cee5f8703eef89cb7eb8e7f3fee2c",  # a commit
        "5718764ddbb23cd5204ece4e25286debfd7596fca1c1c5be957ec4b8bde8c561",  # a file's hash
        "batching.tokens=900",
        "encoder.max_length=128, special_tokens=[א1]",
        "name@example.org",
        "basic test of a bearer",
        "https://host:8080/path/@name",
        "https://medium.com/@name/story",
        "bypass=1 compass=north path=data/x sep_token=[SEP]",
        "data.no_label=[-]#pass",
        "api_key: null, api_key: ${oc.env:KEY}",
    ],
)
def test_leaves_addresses_hashes_and_settings_as_they_are(text: str) -> None:
    assert redact(text) == text


def test_no_value_of_the_default_configuration_is_taken_for_a_secret(tmp_path: Path) -> None:
    for words in ((), ("curriculum=cart_clpp", "logger=wandb")):
        values = asdict(compose(tmp_path, *words))
        assert redacted(values) == json.loads(json.dumps(values))


@given(WORD, WORD, WORD, WORD)
def test_no_password_in_an_address_survives_whatever_stands_around(
    before: str, user: str, password: str, after: str
) -> None:
    text = f"{before} https://{user}:{password}0@host/{after}"
    assert redact(text) == f"{before} https://{MASK}@host/{after}"


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


NAMES = "WANDB_API_KEY HF_TOKEN DB_PASSWORD AWS_SECRET DB_PASS AZURE_PAT MY_CREDENTIALS SENTRY_DSN"


@pytest.mark.parametrize(
    ("name", "value", "text", "shown"),
    [
        *((name, "correct horse", "correct horse x", f"{MASK} x") for name in NAMES.split()),
        ("AZURE_STORAGE_CONNECTION_STRING", "correct horse", "correct horse", MASK),
        ("DATABASE_URL", f"postgres://dana:{PASSWORD}@db/x", f"no: {PASSWORD}", f"no: {MASK}"),
        # The shell's folders are no passwords, and a short value may be an ordinary word.
        *((name, "/home/noa/heron", "/home/noa/heron/data", None) for name in ("PWD", "OLDPWD")),
        ("TOKENIZERS_PARALLELISM", "somewhere", "somewhere", None),
        ("MY_TOKEN", "none", "curriculum=none", None),
    ],
)
def test_masks_the_secrets_that_the_environment_holds(
    name: str, value: str, text: str, shown: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert redact(text) == (shown or text)


def test_masks_keys_and_values_at_any_depth() -> None:
    value = {"files": [{"url": ADDRESS, "size": 3}], ADDRESS: None}
    assert PASSWORD not in json.dumps(redacted(value))
    assert redacted(value)["files"][0]["size"] == 3


def test_messages_of_errors_hold_no_secret() -> None:
    assert PASSWORD not in str(ConfigError(f"data.url={ADDRESS}: not found"))
    assert PASSWORD not in str(DataError(ADDRESS, "answers 404", f"fetch {ADDRESS}"))


def test_status_and_folder_names_hold_no_secret(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.update_status(overrides=[f"data.homepage={ADDRESS}"], error=f"URLError: {ADDRESS}")
    assert PASSWORD not in folder.status.read_text(encoding="utf-8")
    bare = f"https://dana:{PASSWORD}@example.org"
    config = compose(tmp_path, f"data.homepage={bare}")
    assert PASSWORD not in run_path(config, [f"data.homepage={bare}"]).name
