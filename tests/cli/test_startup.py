"""Frequent commands import no module that they do not need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowdgate.kinds import KINDS
from crowdgate.manifest import FORMAT
from tests.workshop import Workshop

HEAVY = (
    "cryptography", "great_expectations", "jinja2", "matplotlib", "opendp", "pandas", "prefect", "pyarrow", "scipy",
    "sklearn", "sqlalchemy",
)  # fmt: skip
NEEDED = {
    "--version": (),
    "--help": (),
    "check {policy}": (),
    "explain {policy}": (),
    "plan {policy}": ("scipy",),  # of forecasts
    "replay {policy}": (),
    "verify {missing}": (),
}
"""The slow libraries that each command may import."""
RUN = """
import sys
from crowdgate_flows.command import main
try:
    main()
except SystemExit as end:
    print(end.code, *sorted(sys.modules), file=sys.stderr)
"""
EACH = """
import json, sys
from crowdgate_flows.command import main
codes = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["crowdgate", *line]
    try:
        main()
    except SystemExit as end:
        codes.append(end.code)
print(json.dumps(codes), file=sys.stderr)
print(*sys.modules, file=sys.stderr)
"""


def imported(command: str, folder: Path) -> tuple[str, set[str]]:
    ended = subprocess.run(
        [sys.executable, "-c", RUN, *command.split()], cwd=folder, capture_output=True, text=True, check=True
    )
    code, *modules = ended.stderr.splitlines()[-1].split()
    return code, set(modules)


@pytest.mark.thorough
@pytest.mark.parametrize("command", NEEDED)
def test_a_light_command_imports_no_heavy_library_that_it_has_no_use_for(command: str, workshop: Workshop) -> None:
    line = command.format(policy=workshop.policy, missing=workshop.root / "missing")
    code, modules = imported(line, workshop.root)
    assert code == {"verify {missing}": "6"}.get(command, "0")
    assert {name for name in HEAVY if name in modules} <= {*NEEDED[command]}
    assert {"crowdgate.anonymity.kl", "crowdgate.policy.decisions"} & modules == set()


@pytest.mark.thorough
def test_a_check_of_tables_imports_no_heavy_library(tmp_path: Path) -> None:
    """The bundled policy has levels with uneven groups, and the check looks for smaller errors."""
    main = "from crowdgate_flows.command import main; main()"
    subprocess.run([sys.executable, "-c", main, "init", tmp_path / "own"], check=True, capture_output=True)
    code, modules = imported("check policies/census_income_tables.yaml", tmp_path / "own")
    assert code == "0"
    assert not {*HEAVY} & modules
    assert "crowdgate.kinds.tables.smaller_errors" in modules


FOLDERS = [Path(__file__).parents[1] / "verify" / "kept" / str(FORMAT) / kind for kind in KINDS]


@pytest.mark.thorough
def test_a_plan_whose_figures_are_stored_imports_no_heavy_library(workshop: Workshop) -> None:
    line = f"plan {workshop.policy}"
    first, again = (imported(line, workshop.root)[1] for _ in range(2))
    assert {*HEAVY} & first == {"scipy"}
    assert not {*HEAVY} & again


@pytest.mark.thorough
@pytest.mark.parametrize(
    "lines",
    [
        [["verify", str(each), *(["--refit"] if each.name == "dp_synthetic" else [])] for each in FOLDERS],
        [["report", "release", str(each)] for each in FOLDERS],
    ],
    ids=["verify", "report"],
)
def test_reading_releases_of_all_kinds_imports_no_pandas_and_no_audit(lines: list[list[str]]) -> None:
    """Covers Parquet and CSV, and rows, tables and synthetic rows that are made again."""
    ended = subprocess.run([sys.executable, "-c", EACH, json.dumps(lines)], capture_output=True, text=True, check=True)
    codes, listed = ended.stderr.splitlines()
    modules = {*listed.split()}
    assert json.loads(codes) == [0] * len(KINDS)
    assert {*HEAVY} & modules == {"jinja2", "pyarrow", "scipy"}
    assert "crowdgate.audit.common.audit" not in modules


SPECIAL = """
import sys
from crowdgate.system import lazy_libraries
print(lazy_libraries.special.ndtr(0.0), "numpy.f2py.crackfortran" in sys.modules)
"""


def test_special_functions_bring_no_compiler_of_fortran() -> None:
    """SciPy imports all that NumPy names, which brings 97 more modules."""
    ended = subprocess.run([sys.executable, "-c", SPECIAL], capture_output=True, text=True, check=True)
    assert ended.stdout == "0.5 False\n"


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_working_copy_without_a_ledger_needs_no_database(command: str, workshop: Workshop) -> None:
    (workshop.root / "crowdgate.toml").unlink()
    code, modules = imported(f"{command} {workshop.policy}", workshop.root)
    assert (code, "crowdgate.ledger.sqlite" in modules) == ("0", False)


def test_listing_commands_imports_no_command() -> None:
    _, modules = imported("--help", Path.cwd())
    names = {name for name in modules if name.startswith("crowdgate.")}
    own = (
        "cli",
        "cli.app",
        "cli.options",
        "cli.output",
        "cli.paths",
        "cli.terminal",
        "system",
        "system.core_dumps",
        "system.garbage_collection",
        "errors",
        "system.lazy_exports",
        "system.regular_files",
    )
    assert names == {f"crowdgate.{name}" for name in own}
