"""`heron export`: a run as a Hugging Face folder with a model card; `push=` uploads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Table
from heron.base.errors import ConfigError
from heron.base.files import atomic_folder
from heron.base.run_folder import open_run
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options


@dataclass
class ExportOptions:
    """Options of `heron export`."""

    run: Path  # a finished run folder
    out: Path  # a new folder
    push: str | None = None  # id on the hub, owner/name, to upload to
    dry_run: bool = False  # with `push`: list the files, upload nothing


def run(arguments: Sequence[str]) -> int:
    """Write the folder and list its files; returns the exit code."""
    options = parse_options(ExportOptions, arguments)
    folder = open_run(options.run)
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise ConfigError(f"out={options.out} is not empty: name a new folder, or remove it")
    # start-up time: options are checked before torch loads
    from heron_tools.export.model_card import PLACE, write_card
    from heron_tools.export.plain import write_plain

    with atomic_folder(options.out) as target:
        plain = write_plain(folder, target)
    name = (options.push or options.out.resolve().name).rpartition("/")[2]
    write_card(folder, plain, options.out, name, options.push or PLACE)
    written = [(path.stat().st_size, path) for path in sorted(options.out.iterdir())]
    table = Table("files", ("bytes", "path"), tuple((size, str(path)) for size, path in written))
    print_tables([table])
    print_lines(files=[path for _, path in written])
    lines = [f"loads as {plain.loads_as}; {options.out / 'README.md'} has the code"]
    if options.push is not None and not options.dry_run:
        lines.append(_upload(options.out, options.push))
    elif options.push is not None:
        lines.append(f"not uploaded to {options.push}: dry run")
    print_lines(*lines)
    return 0


def _upload(folder: Path, name: str) -> str:
    """Upload a folder as a model; a new repository is private. Returns its address."""
    from huggingface_hub import HfApi  # start-up time

    api = HfApi()
    try:
        api.create_repo(name, private=True, exist_ok=True)
        return f"uploaded: {api.upload_folder(repo_id=name, folder_path=folder)}"
    except Exception as error:  # several types: no token, no such owner, no network
        what = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"push={name}: not uploaded ({what}); {folder} is complete. `hf auth login` signs in, "
            f"hf upload {name} {folder} uploads it later"
        ) from error
