"""Budgets of commands on the bundled policies: calls of Crowdgate's functions and imports of its modules.

These numbers do not depend on the load of the machine. A number may exceed the stated one by a tenth. One that grew for
a good reason is stated anew, in the commit that gives the reason. One that fell by more than a tenth is stated anew as
well, so that the gain is preserved.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crowdgate.manifest import FORMAT

ROOM = 0.1
KEPT = Path(__file__).parents[1] / "verify" / "kept" / str(FORMAT)
STATED = {
    "--help": (89, 14),
    "check policies/census_income.yaml": (84_700, 261),
    "check policies/census_income_tables.yaml": (70_300, 242),
    "plan policies/census_income.yaml": (141_000, 292),
    "plan policies/census_income_tables.yaml": (88_300, 304),
    f"report release {KEPT / 'dp_tables'}": (20_700, 282),
    f"verify {KEPT / 'dp_tables'}": (13_200, 210),
}
"""The numbers of calls and modules of each command in Python 3.11; later versions call less."""
AGAIN = {
    "check policies/census_income.yaml": (76_100, 244),
    "plan policies/census_income.yaml": (80_800, 292),
    "plan policies/census_income_tables.yaml": (78_500, 304),
    "plan policies/census_income_synthetic.yaml": (49_100, 278),
}
"""Numbers of a command that was run before, and finds its figures stored."""
NEW = sorted(AGAIN.keys() - STATED)
COUNTED = """
import json, sys
OURS = ("crowdgate", "crowdgate_flows")
calls = 0
def count(frame, event, _):
    global calls
    if event == "call" and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        calls += 1
sys.setprofile(count)
from crowdgate_flows.command import main
try:
    main()
except SystemExit as end:
    sys.setprofile(None)
    own = sum(name.partition(".")[0] in OURS for name in sys.modules)
    print(json.dumps([end.code or 0, calls, own]), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working copy with the bundled policies."""
    made = tmp_path_factory.mktemp("copy") / "own"
    main = "from crowdgate_flows.command import main; main()"
    subprocess.run([sys.executable, "-c", main, "init", made], check=True, capture_output=True)
    return made


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command", [*STATED, *NEW], ids=lambda line: " ".join(Path(word).stem for word in line.split())
)
def test_a_command_calls_and_imports_no_more_than_is_stated(command: str, copy: Path) -> None:
    """For the first time, and again."""
    first = counted(command, copy)
    if command in STATED:
        compare(first, STATED[command])
    if command in AGAIN:
        compare(counted(command, copy), AGAIN[command])


def counted(command: str, copy: Path) -> list[int]:
    """Calls of our functions, and modules of ours, that a command takes."""
    line = [sys.executable, "-c", COUNTED, *command.split()]
    ended = subprocess.run(line, cwd=copy, capture_output=True, text=True, check=True)
    code, *found = json.loads(ended.stderr.splitlines()[-1])
    assert code == 0
    return list(map(int, found))


def compare(found: list[int], stated: tuple[int, int]) -> None:
    """Hold what was counted to what is stated."""
    for what, number, most in zip(("calls", "modules"), found, stated, strict=True):
        assert number <= (1 + ROOM) * most, f"{number} {what}, and {most} are stated"
        assert number >= most / (1 + ROOM) ** 2, f"only {number} {what}, and {most} are stated: state them"
