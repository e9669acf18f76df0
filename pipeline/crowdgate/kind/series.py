"""The series that a policy declares: the number of its releases, their joint cost, and the law of each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.number_text import exact_text

if TYPE_CHECKING:
    from crowdgate.guarantee import Guarantee
    from crowdgate.kind.kind import Protection
    from crowdgate.policy.policy import ReleaseSpec


@dataclass(frozen=True)
class PlannedSeries:
    """A series of `releases` releases that together cost `epsilon` and `delta`; `law` is a digest of the law of one."""

    releases: int
    epsilon: Fraction
    delta: Fraction
    law: str


def planned_series(spec: ReleaseSpec, protection: Protection, guarantee: Guarantee) -> PlannedSeries | None:
    """Return the series of a policy; None for a policy without one, and if no epsilon up to 50 keeps its delta.

    Releases are composed by the law of each, or as any release of its guarantee if that law is not known. The sum of
    the guarantees is never exceeded.
    """
    if spec.series is None:
        return None
    releases, most = spec.series.releases, spec.series.releases * guarantee.delta
    delta = most if spec.series.delta is None else spec.series.delta
    found = _epsilons(spec, protection, guarantee, delta)
    if delta >= most:
        found.append(releases * guarantee.epsilon)
    if not found:
        return None
    return PlannedSeries(releases, min(found), delta, law_digest(protection, guarantee))


def _epsilons(spec: ReleaseSpec, protection: Protection, guarantee: Guarantee, delta: Fraction) -> list[Fraction]:
    from crowdgate.accounting import part_laws
    from crowdgate.accounting.joint import GREATEST_EPSILON, JointLaw
    from crowdgate.accounting.numbers import up
    from crowdgate.accounting.release_series import ReleaseSeries

    if spec.series is None or not delta or guarantee.epsilon > GREATEST_EPSILON:
        return []
    gates = tuple(rule.charge.epsilon for rule in spec.gates if rule.charge)
    known = protection.kind.joint_law(protection.mechanism, gates)
    opaque = JointLaw(None, (part_laws.opaque(up(guarantee.epsilon), up(guarantee.delta)),))
    found = ReleaseSeries(opaque if known is None else known, spec.series.releases).epsilon(delta)
    return [] if found is None else [found]


def law_digest(protection: Protection, guarantee: Guarantee) -> str:
    """Return the SHA-256 of all numbers that a release's law depends on: the mechanism's parameters and the parts."""
    parts = [(part.name, exact_text(part.epsilon), exact_text(part.delta)) for part in guarantee.parts]
    stated = [protection.kind.parameters(protection.mechanism), parts]
    return hashlib.sha256(json.dumps(stated, sort_keys=True, default=str).encode()).hexdigest()
