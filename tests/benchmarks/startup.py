"""Import costs of each public name, beside `import crowdgate`: `python -m tests.benchmarks.startup`.

Each run is a process of its own, all of them in turn; CPU seconds are user + system, the minimum of all runs. Bytecode
is compiled first.
"""

import argparse

import crowdgate
from tests.benchmarks.options import parse
from tests.benchmarks.processes import compile_library, least_in_turn

BASE = "import crowdgate"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default="", help="measure the names with this word in them")
    options = parse(parser, runs=1, only="release")
    compile_library()
    names = [name for name in crowdgate.__all__ if options.only in name]
    lines = {BASE: ["-c", BASE], **{name: ["-c", f"from crowdgate import {name}"] for name in names}}
    found = least_in_turn(lines, options.runs)
    print("CPU seconds, and how often the first line")
    for name, each in found.items():
        print(f"{name:32} {each.cpu:6.2f} {each.cpu / found[BASE].cpu:6.2f}")


if __name__ == "__main__":
    main()
