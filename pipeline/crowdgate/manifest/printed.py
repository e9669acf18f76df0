"""Parts of a manifest as commands print them before there is a manifest."""

from typing import Any

from crowdgate.gate import Verdict
from crowdgate.guarantee import Guarantee
from crowdgate.manifest.gates import GateFields
from crowdgate.manifest.model import GuaranteeFields, json_fields


def guarantee_json(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as an object of JSON, with exact numbers as text."""
    return {name: value for name, value in json_fields(GuaranteeFields.of(guarantee)).items() if name != "words"}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as an object of JSON: the fields of a manifest, and its text."""
    return {**json_fields(GateFields.of_verdict(verdict)), "gate": verdict.gate, "reason": verdict.reason}
