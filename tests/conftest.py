"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

from tests.workshop import Workshop, make_workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A small working copy with good data."""
    return make_workshop(tmp_path / "workshop")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine must not decide a test."""
    for name in ("CROWDGATE_LEDGER", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)
