"""Events: one for every end of a run, the same in every channel, without anything confidential, and never decisive."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest

from crowdgate.candidate import AuditQuestion
from crowdgate.errors import ConfigurationError
from crowdgate.kind import randomness
from crowdgate.ledger.audits import RECORDED, subject
from crowdgate.number_text import decimal
from crowdgate.operations import channels, observed_run, post
from crowdgate.operations.event import EventKind, EventLevel, new_event
from crowdgate.operations.next_steps import NEXT_STEPS
from crowdgate.operations.openlineage import TYPES, lineage_events
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import bundle_of, plan_policy
from crowdgate.review.health import Health, examine
from crowdgate.review.schemas.schemas import schemas
from crowdgate.settings import event_channels
from tests.workshop import MARK, Workshop, crowdgate, good_rows

SLOT = "2030-01-01"
VALID = jsonschema_rs.validator_for(json.loads(schemas()["event.json"]))
SETTINGS = 'event_log = "events.jsonl"\nevent_openlineage = "lineage.jsonl"\nmetrics_file = "metrics.prom"\n'
OLDER = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?!00:00:00Z)")
"""A time of the day."""
Plant = Callable[[Workshop, pytest.MonkeyPatch], object]


@pytest.fixture
def observed(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy whose events are written to files."""
    monkeypatch.chdir(workshop.root)
    return with_settings(workshop, SETTINGS)


def with_settings(workshop: Workshop, lines: str) -> Workshop:
    with (workshop.root / "crowdgate.toml").open("a") as file:
        file.write(lines)
    return workshop


def lines(workshop: Workshop, name: str = "events.jsonl") -> list[dict[str, Any]]:
    path = workshop.root / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def release(workshop: Workshop, *options: str) -> int:
    return crowdgate("release", workshop.policy, "--as-of", SLOT, *options)


def _fails(*_: object) -> object:
    raise RuntimeError(f"{MARK} in the reason of a crash")


def _published(_: Workshop, __: pytest.MonkeyPatch) -> None:
    pass


def _withheld(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")


def _held(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, '  spend: {"chance_at_least": 0}\n', "")
    gate = "{measure: released_rows, at_least: 0}"
    workshop.edit(workshop.policy, gate, "{measure: released_classes, at_least: 400}")


def _dry(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, "spec:\n", "spec:\n  enforcement: dry-run\n")


def _unreadable(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.policy.write_text(f"{MARK}: 1\n")


def _missing(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.data.unlink()


def _spent(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")


def _crashed(_: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "bernoulli_subsampler", _fails)


def _frozen(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    assert release(workshop) == 0
    workshop.root.joinpath("events.jsonl").unlink()
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", MARK) == 0
    workshop.edit(workshop.policy, "version: 1", "version: 2")


Kinds = list[tuple[str, str | None]]
ENDS: dict[str, tuple[Plant, int, Kinds]] = {
    "published": (_published, 0, [("published", None), ("low-budget", None)]),
    "withheld": (_withheld, 3, [("withheld", None), ("low-budget", None)]),
    "held": (_held, 3, [("held", None)]),
    "dry run": (_dry, 3, [("dry-run", None)]),
    "unreadable policy": (_unreadable, 2, [("refused", "configuration")]),
    "no table": (_missing, 4, [("refused", "file-fault")]),
    "budget spent": (_spent, 5, [("refused", "refused")]),
    "frozen": (_frozen, 5, [("refused", "frozen"), ("ledger-refused", "frozen")]),
    "crashed": (_crashed, 1, [("crashed", "crashed")]),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("plant", "code", "kinds"), list(ENDS.values()), ids=list(ENDS))
def test_every_end_of_a_run_is_an_event_of_its_own_kind_and_shows_nothing_confidential(
    observed: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    plant: Plant,
    code: int,
    kinds: Kinds,
) -> None:
    plant(observed, monkeypatch)
    assert release(observed) == code
    found = lines(observed)
    assert [(each["kind"], each.get("code")) for each in found] == kinds
    assert [VALID.is_valid(each) for each in found] == [True] * len(found)
    assert (found[0]["exit_code"], len({each["run"] for each in found})) == (code, 1)
    assert all(each["todo"] for each in found if each["kind"] != "published")
    assert [each["todo"] for each in found if each["todo"] not in ("", *NEXT_STEPS.values())] == []
    files = ("events.jsonl", "lineage.jsonl", "metrics.prom")
    texts = [observed.root.joinpath(name).read_text() for name in files if observed.root.joinpath(name).exists()]
    assert [text for text in texts if MARK in text or OLDER.search(text)] == []
    assert "not delivered" not in capfd.readouterr().err


def test_a_withheld_run_names_the_gate_and_what_is_left_but_measures_nothing(
    observed: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _withheld(observed, monkeypatch)
    release(observed)
    (first, low) = lines(observed)
    assert [each["measure"] for each in first["gates"] if each["withholds"]] == ["released_rows"]
    assert {*first["gates"][0]} == {"measure", "outcome", "withholds"}
    assert "suppressed_share" not in str(first)  # its verdict is confidential
    assert first["cost"] == {"epsilon": "2", "delta": "0.01"}
    assert (first["budget_left_percent"], low["level"]) == (66, EventLevel.WARNING)
    again = release(observed), lines(observed)[2:]
    assert again[0] == 3
    assert [(each["kind"], each["repeated"], "cost" in each) for each in again[1]] == [("withheld", True, False)]


def test_the_first_run_of_a_series_is_charged_for_all_and_a_later_one_nothing(observed: Workshop) -> None:
    observed.edit(observed.policy, "  publish:", "  series: {releases: 3}\n  publish:")
    paid = plan_policy(observed.policy).series
    assert paid is not None
    for day in (1, 2):
        crowdgate("release", observed.policy, "--as-of", f"2030-01-0{day}")
    costs = [each["cost"] for each in lines(observed) if each["kind"] == "published"]
    assert costs == [
        {"epsilon": decimal(paid.epsilon), "delta": decimal(paid.delta)},
        {"epsilon": "0", "delta": "0"},
    ]


def test_the_schema_refuses_what_is_no_event() -> None:
    made = new_event(EventKind.RESTORED, ledger="clinic-05b7e751").to_json()
    assert VALID.is_valid(made)
    for changed in ({"schema": "urn:crowdgate:event:v2"}, {"kind": "other"}, {"rows": 600}, {"day": "today"}):
        assert not VALID.is_valid({**made, **changed})


def test_an_audit_that_is_missing_or_too_old_is_an_event(observed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = "    - {measure: released_rows, at_least: 0}\n"
    stale = "    - {measure: pso_excess, at_most: 0.5, severity: advise, with: {max_age: 30}}\n"
    observed.edit(observed.policy, gate, gate + stale + stale.replace("30", "9"))
    from crowdgate.operations.audit_age import audit_ages

    bundle, ledger = bundle_of(observed.policy), ledger_at(observed.root, None)
    (found,) = audit_ages(bundle, ledger.journal(), "2030-01-01")
    assert (found.question, found.age, found.most, found.stale) == (AuditQuestion.SINGLING_OUT, None, 9, True)
    ledger.admit()
    ledger.record(RECORDED, subject("clinic", "1", bundle.digest), "0" * 64)
    today = ledger.head().day
    assert today is not None
    (found,) = audit_ages(bundle, ledger.journal(), today)
    assert (found.age, found.stale) == (0, False)
    monkeypatch.setattr("crowdgate.operations.run_events.today", lambda: "2130-01-01")
    release(observed)
    (event,) = [each for each in lines(observed) if each["kind"] == "audit-stale"]
    assert VALID.is_valid(event)
    assert event["audit"]["max_age_days"] == 9
    assert event["audit"]["age_days"] > 9


def test_a_restoration_is_an_event(observed: Workshop) -> None:
    ledger = observed.root / "ledger" / "ledger.db"
    before = ledger.read_bytes()
    assert release(observed) == 0
    ledger.write_bytes(before)
    observed.root.joinpath("events.jsonl").unlink()
    assert release(observed) == 5
    assert crowdgate("ledger", "restore") == 0
    found = lines(observed)
    assert [each["kind"] for each in found] == ["refused", "ledger-refused", "restored"]
    assert found[1]["code"] == "edited"


def test_an_end_is_two_events_of_openlineage(observed: Workshop) -> None:
    assert release(observed) == 0
    start, end = lines(observed, "lineage.jsonl")
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert {*end} == {"eventType", "eventTime", "producer", "schemaURL", "run", "job", "inputs", "outputs"}
    assert str(UUID(end["run"]["runId"])) == start["run"]["runId"] == lines(observed)[0]["run"]
    assert end["outputs"] == [{"namespace": "crowdgate", "name": f"clinic/1/{SLOT}"}]
    assert start["outputs"] == []
    facet = end["run"]["facets"]["crowdgate_event"]
    assert {"_producer", "_schemaURL"} < {*facet}
    assert lineage_events(new_event(EventKind.RESTORED)) == []


@contextmanager
def listener(status: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run a server that answers with a status, and yield its URL and what it was sent."""
    sent: list[dict[str, Any]] = []

    class Listening(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/elsewhere")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Listening)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook?token={MARK}", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_webhook_gets_what_the_log_has(observed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(204) as (url, sent):
        monkeypatch.setenv("CROWDGATE_EVENT_WEBHOOK", url)
        assert release(observed) == 0
    assert sent == lines(observed)


def test_a_webhook_that_refuses_is_reported_without_its_url_and_changes_nothing(
    observed: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with listener(500) as (url, sent):
        monkeypatch.setenv("CROWDGATE_EVENT_WEBHOOK", url)
        assert release(observed) == 0
    said = capfd.readouterr().err
    assert "the event published was not delivered to event_webhook: the server answered 500" in said
    assert MARK not in said
    assert len(sent) == len(lines(observed)) == 2
    assert observed.release_dir(SLOT).is_dir()


def test_a_redirect_is_not_followed() -> None:
    with listener(302) as (url, sent):
        assert post.post_json(url, {}) == "the server answered 302"
    assert sent == [{}]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("http://127.0.0.1:9/x", "out of reach"),
        ("http://[::1", "the request failed"),
    ],
)
def test_a_server_that_is_not_there_is_a_reason_in_words(place: str, words: str) -> None:
    assert words in str(post.post_json(place, {}))


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["gone/events.jsonl", "data_contracts"])
def test_a_log_that_can_t_be_written_is_reported_and_changes_nothing(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], place: str
) -> None:
    monkeypatch.chdir(workshop.root)
    with_settings(workshop, f'event_log = "{place}"\nmetrics_file = "gone/metrics.prom"\n')
    assert release(workshop) == 0
    said = capfd.readouterr().err
    assert "the event published was not delivered to event_log" in said
    assert "metrics of this run are not complete" in said


def test_a_fault_in_the_report_changes_no_outcome(
    observed: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(observed_run, "run_events", _fails)
    assert release(observed) == 0
    said = capfd.readouterr().err
    assert "are not complete (RuntimeError)" in said
    assert f"{MARK} in the reason" not in said
    monkeypatch.undo()
    monkeypatch.chdir(observed.root)
    monkeypatch.setattr(channels, "append_line", _fails)
    assert release(observed) == 0
    assert "a fault in crowdgate itself: RuntimeError" in capfd.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        'event_webhook = "ftp://here/x"',
        'event_webhook = "hook"',
        'event_webhook = ""',
        'event_log = "https://here/x"',
        "event_log = 1",
        'event_openlineage = "s3://here/x"',
        'metrics_file = "https://here/x"',
    ],
)
def test_invalid_settings_of_channels_are_refused_without_their_value(tmp_path: Path, line: str) -> None:
    tmp_path.joinpath("crowdgate.toml").write_text(f"{line}\n")
    with pytest.raises(ConfigurationError, match=line.partition(" ")[0]) as refused:
        event_channels(tmp_path)
    assert "here/x" not in str(refused.value)


def test_a_run_with_invalid_settings_of_channels_is_refused_before_its_charge(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    with_settings(workshop, 'event_webhook = "hook"\n')
    assert release(workshop) == 2
    assert ledger_at(workshop.root, None).entries() == []
    (settings,) = [each for each in examine(workshop.root) if each.part == "settings"]
    assert settings.health == Health.FAULT


def test_events_on_standard_error_are_lines_of_json(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workshop.root)
    with_settings(workshop, 'event_log = "-"\n')
    workshop.write(good_rows(400))
    assert release(workshop, "--json") == 0
    said = capfd.readouterr()
    found = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    assert [each["kind"] for each in found] == ["published", "low-budget"]
    assert json.loads(said.out)["outcome"] == "published"


def test_a_log_is_private_and_a_relative_path_is_that_of_the_settings(
    observed: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert release(observed) == 0
    assert observed.root.joinpath("events.jsonl").stat().st_mode & 0o777 == 0o600
    assert observed.root.joinpath("metrics.prom").stat().st_mode & 0o777 == 0o644
    assert [path.name for path in observed.root.glob(".metrics*")] == []


@pytest.mark.parametrize("kind", TYPES)
def test_events_of_openlineage_are_what_its_own_client_accepts(kind: EventKind) -> None:
    """The client's models are made from the published specification. It is no dependency, for what it brings."""
    base = pytest.importorskip("openlineage.client.generated.base", reason="openlineage-python is not installed")
    event = new_event(
        kind,
        run="0b4f6c0e-8a4c-4f0e-9a53-0d5c3f7f3a11",
        policy="clinic",
        contract="clinic",
        release="clinic/1/2030-01-01",
    )
    for said in lineage_events(event):
        facet = said["run"]["facets"]["crowdgate_event"]
        made = base.RunEvent(
            eventTime=said["eventTime"],
            producer=said["producer"],
            run=base.Run(runId=said["run"]["runId"]),
            job=base.Job(**said["job"]),
            eventType=base.EventType(said["eventType"]),
            inputs=[base.InputDataset(**one) for one in said["inputs"]],
            outputs=[base.OutputDataset(**one) for one in said["outputs"]],
        )
        assert made.schemaURL.partition("#")[2] == said["schemaURL"].partition("#")[2]
        assert made.schemaURL.startswith("https://openlineage.io/spec/2-0-")
        base.BaseFacet()._producer_check("_producer", facet["_producer"])
        base.BaseFacet()._schemaurl_check("_schemaURL", facet["_schemaURL"])
    with pytest.raises(ValueError, match="badly formed"):
        base.Run(runId="clinic")
