"""The manifest: what is said about a release, as canonical bytes. The same statement always has the same bytes."""

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from crowdgate.errors import VerificationFailed
from crowdgate.gate import Verdict
from crowdgate.guarantee import Guarantee, Part
from crowdgate.policy.policy import API_VERSION

NAME = "manifest.json"
SECTIONS = frozenset(
    ("apiVersion", "kind", "release", "policyDigest", "contract", "mechanism", "guarantee", "verdicts", "data")
) | {"files", "key", "software"}
"""All that a manifest holds: a number more could be one that must not be published."""


def canonical(value: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces to spare, UTF-8, one newline at the end."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def parse(data: bytes) -> dict[str, Any]:
    """The manifest in `data`. Raises VerificationFailed unless it is canonical JSON of a release."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise VerificationFailed("manifest.json is not JSON") from None
    if not isinstance(value, dict) or value.get("kind") != "Release" or canonical(value) != data:
        raise VerificationFailed("manifest.json is not the canonical manifest of a release")
    return value


def statement(
    *,
    release: Mapping[str, str],
    policy_digest: str,
    contract: Mapping[str, str],
    mechanism: Mapping[str, Any],
    guarantee: Guarantee,
    guarantee_words: str,
    verdicts: Iterable[Verdict],
    data: Mapping[str, Any],
    files: Mapping[str, str],
    key: str,
    software: Mapping[str, str],
) -> dict[str, Any]:
    """The manifest's content. Public verdicts only; digests of the published files only; no time but the slot."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Release",
        "release": dict(release),
        "policyDigest": policy_digest,
        "contract": dict(contract),
        "mechanism": dict(mechanism),
        "guarantee": {**guarantee_json(guarantee), "words": guarantee_words},
        "verdicts": [verdict_json(verdict) for verdict in verdicts if verdict.public],
        "data": dict(data),
        "files": dict(files),
        "key": key,
        "software": dict(software),
    }


def guarantee_words(guarantee: Guarantee, beta: Fraction | None, rows: int = 1) -> list[str]:
    """The guarantee in words, and its form for users who take the number of people as known.

    `beta` is the rate of safe k-anonymity's sample. Without it, and where levels chosen on that sample leave no part
    that is the mechanism alone, all parts count twice.
    """
    alone = any(part.name == "mechanism" for part in guarantee.parts)
    return [guarantee.words(), guarantee.replace_one_form(beta if alone else None, rows=rows).words()]


def guarantee_of(stated: Mapping[str, Any]) -> Guarantee:
    """The guarantee that a manifest states. Raises ValueError when its parts do not add up to its totals."""
    parts = tuple(Part(part["name"], Fraction(part["epsilon"]), Fraction(part["delta"])) for part in stated["parts"])
    totals = Fraction(stated["epsilon"]), Fraction(stated["delta"])
    return Guarantee(*totals, stated["relation"], stated["unit"], parts)


def guarantee_json(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee with exact numbers as text."""
    return {
        "epsilon": exact_text(guarantee.epsilon),
        "delta": exact_text(guarantee.delta),
        "relation": guarantee.relation,
        "unit": guarantee.unit,
        "parts": [
            {"name": part.name, "epsilon": exact_text(part.epsilon), "delta": exact_text(part.delta)}
            for part in guarantee.parts
        ],
    }


def verdict_json(verdict: Verdict) -> dict[str, str]:
    """A public verdict."""
    return {
        "gate": verdict.gate,
        "measure": verdict.measure,
        "value": verdict.value,
        "outcome": str(verdict.outcome),
        "reason": verdict.reason,
        "severity": "blocks" if verdict.blocks else "advises",
    }


def exact_text(number: Fraction) -> str:
    """A fraction as text that Fraction() reads back exactly: `0.95`, `1e-9`, `1/3`."""
    for text in (f"{float(number):.12g}", str(number)):
        if Fraction(text) == number:
            return text
    return str(number)
