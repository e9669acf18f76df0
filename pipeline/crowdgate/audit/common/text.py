"""Texts and tables shared by the pages of all audits."""

from collections.abc import Iterable
from math import isfinite

from crowdgate.audit.common.findings import ControlResult
from crowdgate.audit.common.levels import level
from crowdgate.audit.common.record import AnyRecord, AuditSetting
from crowdgate.candidate import Measurement, Number
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import BOUND, LEAST, decimal

OUTCOMES = {Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.INCONCLUSIVE: "cannot tell"}
"""Outcomes of an audit, in words for people."""
ENDS = (("from", LEAST), ("to", BOUND))
"""Columns of the confidence limits of a measured number; limits are rounded away from it."""


def facts_listing(record: AnyRecord) -> Listing:
    """Return a table of all facts that are needed to repeat an audit."""
    setting: AuditSetting = record.setting
    facts = {
        "policy digest": setting.policy_digest, "mechanism": setting.mechanism, "population": setting.population,
        "population digest": setting.population_digest, "seed": record.seed, "made": str(record.made),
        "setting digest": record.digest, "code": setting.code, **setting.libraries,
    }  # fmt: skip
    return text_listing("What repeats it", ("fact", "value"), facts.items())


def attempt_text(record: AnyRecord) -> str:
    """Return a sentence with the number of this attempt at the policy and its significance level."""
    at = decimal(level(record.attempt))
    return f"Attempt {record.attempt} at these policy files: confidence limits and refutations at level {at}."


def controls_text(controls: Iterable[ControlResult]) -> str:
    """Return a sentence with the results of all controls."""
    return f"Controls: {'; '.join(f'{each.control} {_control_outcome(each)}' for each in controls)}."


def _control_outcome(control: ControlResult) -> str:
    works, fails = {"hold": ("held", "was refuted"), "be caught": ("was caught", "was not caught")}.get(
        control.must, (control.must.replace("break", "broke"), f"did not {control.must}")
    )
    return works if control.works else fails


def measurement_cells(measured: Measurement) -> tuple[Number, Number, Number]:
    """Return three table cells: a measured number, and its confidence limits in the columns `ENDS`."""
    return measured.value, measured.lower, measured.upper


def measurement_json(measured: Measurement) -> dict[str, float | None]:
    """Return a measured number and its confidence limits as a JSON object, with null for infinite values."""
    told = {"value": measured.value, "lower": measured.lower, "upper": measured.upper}
    return {name: float(each) if isfinite(each) else None for name, each in told.items()}
