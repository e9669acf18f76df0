"""Every step of the guide for operators runs as it is written, one after the other, in one working copy."""

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.releases.killing import run_and_kill
from tests.workshop import MARK, Workshop, crowdgate

GUIDE = (Path(__file__).parents[2] / "flows" / "guide" / "operator.md").read_text(encoding="utf-8")
STEPS = {
    "Install", "Sign", "Schedule", "Watch", "Back up", "Restore", "Rotate keys", "Recover", "Freeze", "Withdraw",
    "Upgrade", "Decommission",
}  # fmt: skip
WITH_SERVERS = {"Share a ledger", "Publish to an object store"}
"""Tasks whose steps need a server: tests/ledger/test_postgresql.py, tests/releases/test_object_destination.py."""
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", GUIDE, flags=re.MULTILINE))


def commands(section: str) -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL) for line in block.splitlines()]


def run(line: str) -> tuple[int, str]:
    """Run a line of the guide: a command of Crowdgate in this process, anything else in a shell."""
    words = shlex.split(line, comments=True)
    if words[0] != "crowdgate":
        ended = subprocess.run(["bash", "-euc", line], capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = crowdgate(*(words[1 : words.index(">")] if ">" in words else words[1:]))
    if ">" in words:
        Path(words[-1]).write_text(output.getvalue())
    return code, output.getvalue()


def test_every_task_of_an_operator_has_steps() -> None:
    assert set(SECTIONS) == STEPS | WITH_SERVERS
    assert all(commands(SECTIONS[name]) for name in STEPS)


@pytest.mark.thorough
def test_the_steps_of_the_guide_run_one_after_the_other(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    monkeypatch.chdir(workshop.root)
    output = ""
    for name, section in SECTIONS.items():
        if name == "Recover":
            run_and_kill(workshop.policy, "ledger", "begin_reading", "after", "2030-01-05")
        for line in commands(section):
            expected = re.search(r"# exits with (\d)$", line)
            code, said = run(line)
            output += said
            assert code == (int(expected[1]) if expected else 0), f"{line}\n{said}{capfd.readouterr().err}"
    assert MARK not in output
    events = (workshop.root / "events.jsonl").read_text()
    assert MARK not in events
    kinds = {*re.findall(r'"kind": "([a-z-]+)"', events)}
    assert {"published", "refused", "ledger-refused", "restored"} <= kinds
    assert "  - name: clinic\n" in (workshop.root / "schedules" / "prefect.yaml").read_text()
