"""How the records of audits are read, question by question: one table for gates, releases and those who verify them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdgate.audit.common.reading import Reading
from crowdgate.audit.inference import reading as inference
from crowdgate.audit.membership import reading as membership
from crowdgate.audit.singling_out import reading
from crowdgate.candidate import AuditQuestion

READINGS: Mapping[AuditQuestion, Reading[Any, Any]] = {
    AuditQuestion.SINGLING_OUT: reading.READING,
    AuditQuestion.INFERENCE: inference.READING,
    AuditQuestion.MEMBERSHIP: membership.READING,
}
"""By question."""
