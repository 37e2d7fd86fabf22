"""A shell completes commands, options, groups and keys of heron."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import heron
from heron.commands.completion import completions

# As bash calls the function that Hydra's script defines; the last word is completed.
ASK = """
eval "$(heron train -sc install=bash)"
complete -p heron >/dev/null || exit 1
while IFS= read -r COMP_LINE; do
  words=($COMP_LINE)
  COMP_CWORD=$(( ${#words[@]} - 1 ))
  [ "${COMP_LINE: -1}" = " " ] && COMP_CWORD=${#words[@]}
  COMP_POINT=${#COMP_LINE}
  hydra_bash_completion
  echo "${COMPREPLY[@]}"
done
"""
LINES = {
    "heron train hea": {"head=", "head."},
    "heron train head=ess optim.l": {"optim.lr=", "optim.loss="},
    "heron predict ": {"run=", "input=", "text="},
}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("tr", {"train"}),
        ("build ", {"parashoot", "ronli"}),
        ("train head=e", {"head=emp", "head=ess"}),
        ("train seed=1 experiment=trc/es", {"experiment=trc/ess"}),
        ("audit data=ronli", {"data=ronli"}),
        ("options optim.b", {"optim.betas"}),
        ("predict nothing", set()),
    ],
)
def test_words_of_every_command_are_completed(typed, expected):
    words = completions(typed)
    assert expected <= set(words)
    assert all(word.startswith(typed.rpartition(" ")[2]) for word in words)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_asks_heron(tmp_path):
    program = tmp_path / "heron"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom heron.cli import main\nsys.exit(main())\n"
    )
    program.chmod(0o755)
    source = Path(heron.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    environment["PATH"] = f"{tmp_path}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK],
        input="\n".join([*LINES, ""]),
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=True,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(LINES)
    for (line, expected), answer in zip(LINES.items(), answers, strict=True):
        last = "" if line.endswith(" ") else line.split()[-1]
        offered = set(answer.split())
        assert expected <= offered, line
        assert all(word.startswith(last) for word in offered), line
