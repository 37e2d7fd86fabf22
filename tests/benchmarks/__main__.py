"""`python -m tests.benchmarks NAME [key=value ...]`: one benchmark; `all`: most, in one table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from typing import Any

from heron.base.errors import HeronError, os_error_text
from heron.base.files import write_json
from heron.base.terminal import print_tables
from heron.config.parsing import parse_options

from .all import BENCHMARKS
from .apart import AbsentError
from .frame import Found, table

_PACKAGES = ("numpy", "torch", "transformers", "accelerate", "pytorch-lightning", "heron-nlu")


def main(name: str, words: Sequence[str]) -> int:
    """Read the options of a benchmark, measure, print what was found and write its file.

    Returns:
        The exit code: 0, also where what it needs is absent; 2 after a user's mistake.
    """
    try:
        benchmark = import_module(f".{name}", __package__)
        options: Any = parse_options(benchmark.Options, words)
        found: Found = benchmark.run(options)
        import torch  # no library is imported before a measurement

        from heron.base.libraries import processor

        print_tables(found.tables)
        if found.rows:
            given = {key: str(value) for key, value in asdict(options).items()}
            kept = {**found.record, "rows": list(map(asdict, found.rows)), "options": given}
            cards = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
            kept["machine"] = "; ".join([processor(), *cards])
            kept["python"] = sys.version.split()[0]
            kept["versions"] = {package: version(package) for package in _PACKAGES}
            print_tables([table(name, {name: kept})])
            write_json(file := options.out / f"{name}.json", kept)
            print(file)
    except AbsentError as error:
        print(f"benchmark skipped:\n  {error}")
    except (HeronError, OSError) as error:
        said = os_error_text(error, words) if isinstance(error, OSError) else error
        print(f"benchmark: {said}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    given, *more = sys.argv[1:] or [""]
    if given not in ("all", *BENCHMARKS):
        raise SystemExit(f"no benchmark {given!r}: choose all, {', '.join(BENCHMARKS)}")
    raise SystemExit(main(given, more))
