"""Options that benchmarks share: `--small`, and the folder of public tables."""

import argparse
import os
from pathlib import Path

VARIABLE = "CROWDGATE_BENCHMARK_DATA"
DATA = Path(os.environ.get(VARIABLE, Path(__file__).parents[3] / "shared" / "data"))
"""The folder of public tables: the variable's, or `shared/data` beside the working copy."""


def parse(parser: argparse.ArgumentParser, **small: object) -> argparse.Namespace:
    """Parse the command line. With `--small` the named options have these values where the line gives no others."""
    parser.add_argument("--small", action="store_true", help="shortest run: shows that the benchmark works")
    if parser.parse_known_args()[0].small:
        parser.set_defaults(**small)
    return parser.parse_args()
