"""`heron export`: a run as a Hugging Face folder with a model card."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from heron.base.cells import Table
from heron.base.errors import ConfigError
from heron.base.files import atomic_folder
from heron.base.run_folder import open_run
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options
from heron.tasks.config import PRECISIONS


@dataclass
class ExportOptions:
    """Options of `heron export`."""

    run: Path  # a finished run folder
    out: Path  # a new folder
    # of heron's predictions, which the model card compares with the folder's; default: the run's
    precision: Annotated[str | None, PRECISIONS] = field(
        default=None, metadata={"option": "trainer.precision"}
    )


def run(arguments: Sequence[str]) -> int:
    """Write the folder and list its files; returns the exit code."""
    options = parse_options(ExportOptions, arguments)
    folder = open_run(options.run)
    out = options.out
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"out={out} is not empty: name a new folder, or remove it")
    # start-up time: options are checked before torch loads
    from heron_tools.export.difference import measure
    from heron_tools.export.model_card import write_card
    from heron_tools.export.plain import write_plain

    with atomic_folder(out) as target:
        plain = write_plain(folder, target)
        difference = measure(folder, plain, target, options.precision)
    write_card(folder, plain, difference, out)

    paths = sorted(out.iterdir())
    rows = tuple((path.stat().st_size, str(path)) for path in paths)
    print_tables([Table("files", ("bytes", "path"), rows)])
    print_lines(files=paths)
    if difference.largest is not None:
        print_lines(
            f"largest difference to heron's class probabilities, in {difference.precision}: "
            f"{difference.largest:.2g} ({difference.rows} {difference.split} rows)"
        )
    print_lines(f"loads as {plain.loads_as}; {out / 'README.md'} has the code")
    return 0
