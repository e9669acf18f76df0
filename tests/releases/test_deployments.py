"""`crowdgate deployments`: a whole file of schedules, one deployment for each policy."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from crowdgate.planning.plan import bundle_of
from tests.workshop import Workshop, crowdgate


@pytest.fixture
def policies(workshop: Workshop) -> list[Path]:
    """Two policies of one population."""
    workshop.edit(workshop.policy, "  publish:", "  calendar: {every: quarter, timezone: Asia/Tokyo}\n  publish:")
    second = workshop.policy.with_name("second.yaml")
    second.write_text(workshop.policy.read_text().replace("name: clinic", "name: second").replace("quarter", "week"))
    return [workshop.policy, second]


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, list[dict[str, Any]]]:
    """Return the file that the command prints, and its deployments."""
    capsys.readouterr()
    assert crowdgate("deployments", *arguments) == 0
    said = capsys.readouterr().out
    return said, yaml.safe_load(said)["deployments"]


def test_each_policy_has_a_deployment_that_is_bound_and_described(
    policies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    said, found = printed(capsys, *policies)
    assert [each["name"] for each in found] == ["clinic", "second"]
    digests = [bundle_of(path).digest for path in policies]
    assert [each["parameters"]["policy_digest"] for each in found] == digests
    assert [each["tags"] for each in found] == [["crowdgate", "safe_k_anonymity", "clinic-patients"]] * 2
    assert found[0]["description"].startswith("Patients by age and ward. Owner: board. The lifetime budget")
    assert {each["work_pool"]["work_queue_name"] for each in found} == {"clinic-patients"}
    assert [each["concurrency_limit"] for each in found] == [1, 1]
    assert said.count("#   prefect work-queue create clinic-patients --pool releases --limit 1\n") == 1


def test_times_are_those_of_the_calendars_unless_they_are_given(
    policies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    times = [each["schedules"] for each in printed(capsys, *policies)[1]]
    assert times == [[{"cron": cron, "timezone": "Asia/Tokyo"}] for cron in ("0 6 1 1,4,7,10 *", "0 6 * * 1")]
    given = ("--cron", "5 4 * * *", "--timezone", "UTC", "--pool", "mine")
    said, found = printed(capsys, *policies, *given)
    assert [each["schedules"] for each in found] == [[{"cron": "5 4 * * *", "timezone": "UTC"}]] * 2
    assert "--pool mine --limit 1" in said


def test_what_has_no_time_or_no_name_of_its_own_is_refused(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("deployments", workshop.policy) == 2
    assert "has no calendar" in capsys.readouterr().err
    twin = workshop.policy.with_name("twin.yaml")
    twin.write_text(workshop.policy.read_text())
    assert crowdgate("deployments", workshop.policy, twin, "--cron", "0 6 1 * *") == 2
    assert "one policy of each name" in capsys.readouterr().err


@pytest.mark.thorough
def test_prefect_takes_the_file(policies: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    from prefect.cli.deploy._models import DeploymentConfig

    found = [DeploymentConfig.model_validate(each) for each in printed(capsys, *policies)[1]]
    assert [each.work_pool.work_queue_name for each in found if each.work_pool] == ["clinic-patients"] * 2
