"""The units for machines without Prefect: systemd, Kubernetes and a container, sound and in step with the commands."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from crowdgate.cli.app import COMMANDS
from crowdgate.cli.options import WITHHELD
from tests.workshop import Workshop, crowdgate

UNITS = Path(__file__).parents[2] / "flows" / "units"
SERVICES = sorted(UNITS.glob("*.service"))
PROGRAM = "/opt/crowdgate/bin/crowdgate"
JOB: dict[str, Any] = yaml.safe_load((UNITS / "cronjob.yaml").read_text(encoding="utf-8"))
CONTAINER = JOB["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]


def verified(text: str, name: str, folder: Path) -> str:
    """Return what systemd says of a unit whose program is one of this machine."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed here")
    unit = folder / name.replace("@", "@census_income")
    unit.write_text(text.replace(PROGRAM, "/bin/true"), encoding="utf-8")
    for timer in folder.glob("*.timer"):
        (folder / f"{timer.stem}.service").write_text("[Service]\nExecStart=/bin/true\n")
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("unit", [*SERVICES, *sorted(UNITS.glob("*.timer"))], ids=lambda path: path.name)
def test_systemd_accepts_the_unit_and_finds_a_planted_fault(unit: Path, tmp_path: Path) -> None:
    text = unit.read_text(encoding="utf-8")
    assert verified(text, unit.name, tmp_path) == ""
    wrong = text.replace("Type=oneshot", "Typ=oneshot").replace("UTC\n", "no time\n")
    assert verified(wrong, unit.name, tmp_path) != ""


def test_units_run_commands_that_are_there_and_take_a_withheld_run_for_no_fault() -> None:
    commands = re.findall(rf"{PROGRAM} (?:--quiet )?(\w+)", "".join(path.read_text() for path in SERVICES))
    assert {"release", "audit", "metrics", "doctor"} == {*commands}
    assert {*commands} < {*COMMANDS}
    release = (UNITS / "crowdgate-release@.service").read_text()
    assert f"SuccessExitStatus={WITHHELD}\n" in release
    assert "RestartPreventExitStatus=1 2 5 6" in release  # of 0 to 6 only a fault of the table runs again
    for path in SERVICES:
        assert {"NoNewPrivileges=yes", "LimitCORE=0", "ProtectSystem=strict"} < {*path.read_text().splitlines()}


def test_the_cron_job_never_runs_twice_for_one_slot() -> None:
    spec = JOB["spec"]
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert (JOB["apiVersion"], JOB["kind"], spec["concurrencyPolicy"]) == ("batch/v1", "CronJob", "Forbid")
    assert (spec["jobTemplate"]["spec"]["backoffLimit"], pod["restartPolicy"]) == (0, "Never")
    assert (pod["securityContext"]["runAsNonRoot"], CONTAINER["securityContext"]["readOnlyRootFilesystem"]) == (
        True,
        True,
    )
    assert {each["name"] for each in CONTAINER["volumeMounts"]} == {each["name"] for each in pod["volumes"]}


@pytest.mark.parametrize(("code", "ended"), [(0, 0), (WITHHELD, 0), (1, 1), (4, 4), (5, 5)])
def test_the_cron_job_ends_well_unless_there_is_a_fault(code: int, ended: int, tmp_path: Path) -> None:
    (tmp_path / "crowdgate").write_text(f'#!/bin/sh\n[ "$3" = policies/census_income.yaml ] || exit 9\nexit {code}\n')
    (tmp_path / "crowdgate").chmod(0o755)
    command = [*CONTAINER["command"], *CONTAINER["args"]]
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(command, env=path, check=False).returncode == ended


def test_the_container_installs_from_its_folder_alone_and_is_not_root() -> None:
    steps = re.findall(r"^(\w+) (.*)$", (UNITS / "Containerfile").read_text(), flags=re.MULTILINE)
    (install,) = [step for word, step in steps if word == "RUN" and "pip" in step]
    assert "--no-index" in install
    assert "--require-hashes" in install
    assert [step for word, step in steps if word in ("USER", "ENTRYPOINT")] == ["10001:10001", '["crowdgate"]']


def test_quiet_stands_before_the_command_as_units_write_it(workshop: Workshop) -> None:
    assert crowdgate("--quiet", "plan", workshop.policy) == 0
