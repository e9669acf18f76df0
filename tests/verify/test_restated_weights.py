"""Weights of a release that is restated as an earlier one, whose weights have a tolerance, are no freer than others."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crowdgate import manifest
from crowdgate.arrays import Integers
from crowdgate.errors import VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kind.run import Request
from crowdgate.kinds import KINDS
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.kinds.rows.margins_check import unvouched_problems
from crowdgate.kinds.rows.weights import RIDGE, recomputed_weights, weights_problems
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import json_fields
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.forging import Claims, reseal, reseal_with_page
from tests.kinds.margins import margins_workshop
from tests.verify.keep import KEPT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = job.release(Request(margins_workshop(tmp_path_factory.mktemp("m") / "w").policy, "2030-01-01"), draw_key)
    assert path.path is not None
    return path.path


def contents(folder: Path) -> tuple[RowsManifest, PublishedRows]:
    sealed = (folder / manifest.NAME).read_bytes()
    kind = KINDS["safe_k_anonymity"]
    said = manifest.parsed(RowsManifest, sealed)
    return said, kind.read(folder, said, {name: FORMATS[name] for name in said.formats})


def as_earlier(claims: Claims) -> None:
    claims["mechanism"]["margins"]["calibration"] = RIDGE
    del claims["data"]["margins"]["use"], claims["data"]["margins"]["shares"]


def ridge_weights(said: RowsManifest, held: PublishedRows) -> Integers:
    made = held.weighting
    assert made is not None
    beta = said.mechanism.beta
    return recomputed_weights(held.rows, beta, made.margins, made.lookup, made.sizes, RIDGE)


def restated(folder: Path, shift: Integers, to: Path) -> Path:
    """Return a copy that states the earlier calibration, with its weights shifted by some units, and all files and
    digests made to fit."""
    said, held = contents(folder)
    assert held.weighting is not None
    weights = ridge_weights(said, held) + np.resize(shift, len(held.rows))
    forged = replace(held, weighting=replace(held.weighting, weights=weights), use=None, shares=None)
    copy, kind = Path(shutil.copytree(folder, to)), KINDS["safe_k_anonymity"]
    for name, write in kind.files(said, forged, {name: FORMATS[name] for name in said.formats}).items():
        with (copy / name).open("wb") as file:
            write(file)
    data = json_fields(kind.data_fields(forged))
    reseal(copy, as_earlier)
    reseal(copy, lambda claims: claims.update(data=data))
    reseal_with_page(copy)
    return copy


@pytest.mark.thorough
def test_weights_of_a_release_restated_as_an_earlier_one_must_be_exact(folder: Path, tmp_path: Path) -> None:
    """The release without a shift shows that nothing but the shift is refused."""
    verify(restated(folder, np.zeros(1, dtype=np.int64), tmp_path / "0"))
    for units in (1, -1, 3):
        with pytest.raises(VerificationFailed, match="only its signature proves them"):
            verify(restated(folder, np.array([units, -units]), tmp_path / str(units)))


@pytest.mark.thorough
def test_none_of_1000_forged_weights_passes_without_a_key(folder: Path) -> None:
    """Shifts of 1 to 5 units, within the tolerance of earlier releases, in one or more classes; half of the releases
    state the earlier calibration."""
    said, held = contents(folder)
    assert held.weighting is not None
    margins = said.mechanism.margins
    assert margins is not None
    earlier = said.mechanism.model_copy(update={"margins": margins.model_copy(update={"calibration": RIDGE})})
    stated = said.model_copy(update={"mechanism": earlier})
    true, found, draws = held.weighting.weights, ridge_weights(said, held), np.random.default_rng(3)
    for at in range(1000):
        shift = draws.integers(-5, 6, len(true)) * (draws.random(len(true)) < 0.5)
        shift[draws.integers(len(true))] = draws.choice([-1, 1])
        if at % 2:
            assert [*weights_problems(true + shift, true, "integer ridge")]
        else:
            forged = replace(held, weighting=replace(held.weighting, weights=found + shift))
            assert [*unvouched_problems(stated, forged)]


def test_a_key_excuses_what_machines_compute_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KEPT / "3" / "safe_k_anonymity"
    verify(kept)
    exact = recomputed_weights
    monkeypatch.setattr("crowdgate.kinds.rows.margins_check.recomputed_weights", lambda *given: exact(*given) + 1)
    with pytest.raises(VerificationFailed, match="verify with --key"):
        verify(kept)
    assert verify(kept, keys=[*kept.parent.glob("safe_k_anonymity.pub")]).keys
