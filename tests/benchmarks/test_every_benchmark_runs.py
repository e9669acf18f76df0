"""Every benchmark runs with `--small`, on random tables in place of the public ones.

All of them run in one process, which imports the libraries once: imports would take most of the time.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.options import VARIABLE
from tests.benchmarks.small_tables import write_tables

FOLDER = Path(__file__).parent
MODULES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
BENCHMARKS = sorted(name for name, text in MODULES.items() if "\ndef main(" in text)
RUN = """
import contextlib, importlib, io, json, sys, traceback
found = {}
for name in sys.argv[1:]:
    printed, failure = io.StringIO(), None
    sys.argv = [name, "--small"]
    try:
        with contextlib.redirect_stdout(printed):
            importlib.import_module(f"tests.benchmarks.{name}").main()
    except BaseException as end:
        if not isinstance(end, SystemExit) or end.code:
            failure = traceback.format_exc()
    found[name] = printed.getvalue(), failure
json.dump(found, sys.stdout)
"""
"""Program that runs benchmarks and writes by name what each printed, and its traceback or null."""
Results = dict[str, tuple[str, str | None]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    data = tmp_path_factory.mktemp("data")
    write_tables(data)
    environment = {**os.environ, VARIABLE: str(data), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, *BENCHMARKS]
    ended = subprocess.run(
        command, cwd=FOLDER.parents[1], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(json.loads(ended.stdout))


@pytest.mark.soak
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_small_run_of_a_benchmark_ends_well(name: str, results: Results) -> None:
    printed, failure = results[name]
    assert failure is None, failure
    assert printed
    assert "skipped: " not in printed
    assert "left out: no " not in printed


def test_all_benchmarks_and_no_other_modules_have_a_main() -> None:
    scripts = [name for name, text in MODULES.items() if '\nif __name__ == "__main__":\n    main()' in text]
    assert sorted(scripts) == BENCHMARKS
    assert len(BENCHMARKS) > 10
    assert "__main__" in BENCHMARKS
