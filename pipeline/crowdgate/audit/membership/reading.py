"""How the record of an audit of membership is read."""

from __future__ import annotations

from fractions import Fraction

from crowdgate.audit.common.reading import Options, Reading
from crowdgate.audit.membership.controls import controls
from crowdgate.audit.membership.findings import MembershipFindings, findings_of
from crowdgate.audit.membership.record import MembershipRecord
from crowdgate.candidate import AuditQuestion, Measurement


def _membership_measurement(
    record: MembershipRecord, said: MembershipFindings, _: str, options: Options
) -> Measurement | None:
    """An audit looks for claims at its own skew and recall, and tells of no others."""
    asked = (record.setting.skew, record.setting.recall) == (options["skew"], options["recall"])
    return said.precision if asked else None


READING = Reading(
    AuditQuestion.MEMBERSHIP, "membership.json", MembershipRecord, findings_of, _membership_measurement,
    {each.name: each.must for each in controls(Fraction(1, 2))},
)  # fmt: skip
