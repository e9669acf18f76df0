"""URLs are never read from or published to: check reports them at their place, before any charge."""

from pathlib import Path

import pytest

import crowdgate as api
from crowdgate.errors import ConfigurationError
from crowdgate.system.regular_files import is_url
from tests.workshop import Workshop, crowdgate, make_workshop

URLS = (
    "s3://bucket/x", "S3://bucket/x", "gs://b/x", "https://example.org/x", "file:///tmp/x", "abfss://c@a.net/x",
    " s3://bucket/x", "azure_blob://c/x",
)  # fmt: skip


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = make_workshop(tmp_path)
    monkeypatch.chdir(made.root)
    return made


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_known_also_as_a_path(url: str) -> None:
    assert is_url(url)
    assert is_url(str(Path(url)))


@pytest.mark.parametrize("url", ["x://y", "://x"])
def test_two_slashes_make_a_url_of_any_scheme(url: str) -> None:
    assert is_url(url)


@pytest.mark.parametrize("name", ["releases", "a:b", "2030:01/x", "/tmp/s3:", "c:x", "./s3:/x", "x/http://y"])
def test_a_colon_alone_makes_no_url(name: str) -> None:
    assert not is_url(name)


def test_check_refuses_a_policy_that_publishes_to_a_url(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    text = workshop.policy.read_text()
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "publish:" in each)
    workshop.policy.write_text(text.replace("to: releases", 'to: "gs://bucket/x"'))
    assert crowdgate("check", workshop.policy) == 2
    said = capsys.readouterr().err
    assert "is a URL" in said
    assert f"clinic.yaml:{line}" in said
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 2
    assert not list(workshop.root.glob("gs*"))


@pytest.mark.parametrize("what", ["path: patients.parquet", "value: ward.csv"])
def test_check_refuses_a_contract_that_names_a_url(
    what: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    key, name = what.split(": ")
    text = workshop.contract.read_text()
    assert what in text
    workshop.contract.write_text(text.replace(what, f'{key}: "s3://bucket/{name}"'))
    assert crowdgate("check", workshop.policy) == 2
    assert "URL" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("init", "s3://bucket/x"),
        ("check", "s3://bucket/x"),
        ("verify", "gs://bucket/x"),
        ("anonymity", "s3://bucket/x", "--of", "age"),
        ("plan", "policies/clinic.yaml", "--from", "s3://bucket/x"),
        ("plan", "policies/clinic.yaml", "--page", "s3://bucket/x.html"),
        ("keys", "create", "s3://bucket/x"),
        ("report", "index", "s3://bucket/x"),
    ],
)
def test_no_command_takes_a_url_for_a_file_or_folder(
    command: tuple[str, ...], workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate(*command) == 2
    assert "the URL '" in capsys.readouterr().err
    assert not list(workshop.root.glob("s3*"))


def test_a_program_makes_no_working_copy_at_a_url(workshop: Workshop) -> None:
    with pytest.raises(ConfigurationError, match="the URL"):
        api.init("s3://bucket/x")
    assert not list(workshop.root.glob("s3*"))


@pytest.mark.parametrize("option", ["--to", "--input"])
def test_options_and_programs_name_no_url(option: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01", option, "s3://bucket/x") == 2
    assert "the URL" in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match="the URL"):
        api.release(workshop.policy, "2030-01-01", **{option.strip("-"): "s3://bucket/x"})
    assert api.open_ledger(workshop.root).entries() == []


@pytest.mark.parametrize("parameter", ["to", "input_path", "policy", "working_copy"])
@pytest.mark.parametrize("url", ["s3://bucket/x", "file:///tmp/x"])
def test_a_flow_refuses_a_url_before_it_joins_paths(parameter: str, url: str) -> None:
    from crowdgate_flows.paths import refuse_urls

    with pytest.raises(ConfigurationError, match=f"{parameter}: the URL '{url}'"):
        refuse_urls(**{parameter: url})
    refuse_urls(to="releases", input_path=None)


def test_a_program_that_joins_a_folder_and_a_url_publishes_nothing(workshop: Workshop) -> None:
    with pytest.raises(ConfigurationError, match="the URL"):
        api.release(workshop.policy, "2030-01-01", to=workshop.root / "s3://bucket/x")
    assert not list(workshop.root.glob("s3*"))
    assert api.open_ledger(workshop.root).entries() == []
