"""`crowdgate doctor`: each fault that hinders a release is named with what to do."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from crowdgate.ledger.audits import RECORDED, subject
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import bundle_of
from crowdgate.review import health
from crowdgate.review.health import Health
from tests.releases.killing import run_and_kill
from tests.workshop import Workshop, crowdgate

Plant = Callable[[Workshop, pytest.MonkeyPatch], object]


def examined(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Return the exit code of `doctor`, and what it said of each part."""
    capsys.readouterr()
    code = crowdgate("doctor", "--json")
    found: dict[str, list[dict[str, str]]] = {}
    for each in json.loads(capsys.readouterr().out)["parts"]:
        found.setdefault(each["part"], []).append(each)
    return code, found


def setting(line: str) -> Plant:
    def plant(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
        with (workshop.root / "crowdgate.toml").open("a") as file:
            file.write(f"{line}\n")

    return plant


def older(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    """Put back the ledger as it was before a release."""
    ledger = workshop.root / "ledger" / "ledger.db"
    before = ledger.read_bytes()
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    ledger.write_bytes(before)


def wrong(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.policy.write_text(f"{workshop.policy.read_text()}\nsurplus: 1\n")


def clock_set_back(_: Workshop, patched: pytest.MonkeyPatch) -> None:
    patched.setattr(health, "today", lambda: "2020-01-01")


def no_server(_: Workshop, patched: pytest.MonkeyPatch) -> None:
    patched.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")


def frozen(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", "test") == 0


def killed(name: str, when: str) -> Plant:
    def plant(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
        run_and_kill(workshop.policy, "ledger", name, when)

    return plant


def a_file_in_its_place(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    (workshop.root / "releases").write_text("no folder")


FAULTS: dict[str, tuple[Plant, str, str]] = {
    "unknown setting": (setting("colour = 1"), "settings", "unknown setting"),
    "no key": (setting('signing_key = "gone.key"'), "keys", "signing_key"),
    "no folder of heads": (setting('heads = ["gone"]'), "heads", "no folder that can be written"),
    "clock set back": (clock_set_back, "clock", "2020-01-01"),
    "frozen": (frozen, "budgets", "it is frozen"),
    "no place for releases": (a_file_in_its_place, "destinations", "can't be written"),
    "wrong policy": (wrong, "policies", "is not allowed"),
    "no server": (no_server, "server", "not answer"),
    "older ledger": (older, "ledger", "2030-01-01"),
}


@pytest.fixture
def copy(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(workshop.root)
    return workshop


def test_nothing_hinders_a_sound_working_copy(copy: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = examined(capsys)
    assert code == 0
    assert Health.FAULT not in [each["health"] for parts in found.values() for each in parts]
    assert crowdgate("doctor") == 0
    assert capsys.readouterr().out.endswith("Nothing hinders the next release.\n")
    assert copy.policy.name in str(found["policies"])


@pytest.mark.thorough
@pytest.mark.parametrize(("plant", "part", "words"), list(FAULTS.values()), ids=list(FAULTS))
def test_a_fault_is_named_once_with_what_to_do(
    copy: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    plant: Plant,
    part: str,
    words: str,
) -> None:
    plant(copy, monkeypatch)
    code, found = examined(capsys)
    (fault,) = [each for each in found[part] if each["health"] == Health.FAULT]
    assert code == 3
    assert words in fault["said"]
    assert fault["todo"]
    said = [each["said"] for parts in found.values() for each in parts]
    assert len(said) == len({*said})


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "when", "words"),
    [
        ("begin_reading", "before", "stopped before it read data"),
        ("begin_reading", "after", "its cost stays charged"),
        ("published", "before", "is staged and not at its destination"),
    ],
)
def test_a_run_that_was_killed_is_named(
    copy: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    when: str,
    words: str,
) -> None:
    killed(name, when)(copy, monkeypatch)
    monkeypatch.setattr(health, "expired", lambda *_: True)
    (run,) = examined(capsys)[1]["runs"]
    assert (run["health"], words in run["said"]) == (Health.ADVICE, True)
    assert "--as-of 2030-01-01" in run["todo"]


def test_a_healthy_server_answers(copy: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"true")

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Healthy)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PREFECT_API_URL", f"http://127.0.0.1:{server.server_port}/api")
    said = [each.health for each in health.examine(Path.cwd()) if each.part == "server"]
    server.shutdown()
    server.server_close()
    assert said == [Health.GOOD]
    assert ledger_at(copy.root, None).entries() == []


def test_versions_name_all_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("version", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["formats"] == {"policies": ["crowdgate/v1"], "manifests": [1, 2, 3], "ledgers": [1, 2, 3, 4]}
    assert crowdgate("version") == 0
    assert capsys.readouterr().out.startswith(f"crowdgate {said['version']}\n")


def test_an_unreadable_ledger_is_one_fault(copy: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    copy.root.joinpath("ledger", "ledger.db").write_bytes(b"no database")
    code, found = examined(capsys)
    faults = [each["part"] for parts in found.values() for each in parts if each["health"] == Health.FAULT]
    assert (code, faults) == (3, ["ledger"])
    assert "runs" not in found


def test_an_audit_that_gates_miss_is_advice(copy: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    gate = "    - {measure: released_rows, at_least: 0}\n"
    stale = "    - {measure: pso_excess, at_most: 0.5, severity: advise, with: {max_age: 30}}\n"
    copy.edit(copy.policy, gate, gate + stale)
    (found,) = examined(capsys)[1]["audits"]
    assert found["health"] == Health.ADVICE
    assert found["said"] == "policies/clinic.yaml: its audit of singling-out is not recorded; its gates allow 30 days"
    assert found["todo"] == "crowdgate audit policies/clinic.yaml"
    opened, digest = ledger_at(copy.root, None), bundle_of(copy.policy).digest
    opened.admit()
    opened.record(RECORDED, subject("clinic", "1", digest), "0" * 64)
    (found,) = examined(capsys)[1]["audits"]
    assert (found["health"], found["todo"]) == (Health.GOOD, "")
