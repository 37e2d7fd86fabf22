"""`heron compare`: scores, intervals and tests of systems, from stored predictions."""

from collections.abc import Sequence

from heron.base.cells import to_csv, to_markdown
from heron.base.errors import ConfigError
from heron.base.files import write_file, write_json
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options
from heron.results.comparison import answers, tables, to_json
from heron.results.run_comparison import CompareOptions, compare
from heron.results.systems import find_systems


def run(arguments: Sequence[str]) -> int:
    """Compare, print and, with `out=`, write; returns the exit code."""
    options = parse_options(CompareOptions, arguments)
    if not options.run:
        raise ConfigError("name the systems: heron compare runs/<sweep>, or two runs or files")
    comparison = compare(find_systems(list(map(str, options.run))), options)
    shown = tables(comparison, options.split)
    print(*answers(comparison), sep="\n")
    print_tables(shown)
    if not options.out:
        print("out=DIR writes compare.md, compare.csv and compare.json")
        return 0
    markdown = "\n".join(to_markdown(table) for table in shown if table.rows)
    print_lines(write_file(options.out / "compare.md", markdown))
    print_lines(write_file(options.out / "compare.csv", to_csv(shown[0])))
    print_lines(path := options.out / "compare.json")
    write_json(path, to_json(comparison, options.split))
    return 0
