"""Every benchmark runs with `--small`, on random tables in place of the public ones."""

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


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_tables(folder)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_small_run_of_a_benchmark_ends_well(name: str, data: Path) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--small"]
    environment = {**os.environ, VARIABLE: str(data), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(command, cwd=FOLDER.parents[1], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout
    assert "skipped: " not in ended.stdout
    assert "left out: no " not in ended.stdout


def test_all_benchmarks_and_no_other_modules_have_a_main() -> None:
    scripts = [name for name, text in MODULES.items() if '\nif __name__ == "__main__":\n    main()' in text]
    assert sorted(scripts) == BENCHMARKS
    assert len(BENCHMARKS) > 10
