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
    "--help": (79, 14),
    "check policies/census_income.yaml": (49_444, 192),
    "check policies/census_income_tables.yaml": (48_752, 184),
    "plan policies/census_income.yaml": (387_388, 214),
    "plan policies/census_income_tables.yaml": (88_175, 220),
    f"report release {KEPT / 'dp_tables'}": (18_640, 187),
    f"verify {KEPT / 'dp_tables'}": (12_442, 162),
}
"""The numbers of calls and modules of each command in Python 3.11; later versions call less."""
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
    made = tmp_path_factory.mktemp("copy") / "own"
    main = "from crowdgate_flows.command import main; main()"
    subprocess.run([sys.executable, "-c", main, "init", made], check=True, capture_output=True)
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("command", STATED, ids=lambda line: " ".join(Path(word).stem for word in line.split()))
def test_a_command_calls_and_imports_no_more_than_is_stated(command: str, copy: Path) -> None:
    line = [sys.executable, "-c", COUNTED, *command.split()]
    ended = subprocess.run(line, cwd=copy, capture_output=True, text=True, check=True)
    code, *found = json.loads(ended.stderr.splitlines()[-1])
    assert code == 0
    for what, number, stated in zip(("calls", "modules"), found, STATED[command], strict=True):
        assert number <= (1 + ROOM) * stated, f"{number} {what}, and {stated} are stated"
        assert number >= stated / (1 + ROOM) ** 2, f"only {number} {what}, and {stated} are stated: state them"
