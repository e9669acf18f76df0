"""Forecasts by fewer simulated releases, for tests that are not about their accuracy."""

import pytest

from crowdgate.kinds.rows import use_forecast


@pytest.fixture
def few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_forecast, "DRAWS", 3)
