"""Crowdgate's library: releases data about people, and refuses to when it must.

Programs need only the names below. Each is imported on first use, so `import crowdgate` costs nothing.
"""

from typing import TYPE_CHECKING

from crowdgate.system.lazy_exports import exported

if TYPE_CHECKING:
    from crowdgate.accounting.safe_k import least_k
    from crowdgate.accounting.safe_k_exact import exact_delta
    from crowdgate.api import (
        ReleasedData,
        audit_policy,
        budget,
        check,
        init,
        open_ledger,
        plan,
        read_contract,
        read_policy,
        read_release,
        release,
        verify,
        write_table,
    )
    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import CrowdgateError
    from crowdgate.guarantee import Guarantee
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.policy import ReleasePolicy as Policy

__all__ = [
    "Contract",
    "CrowdgateError",
    "Guarantee",
    "Ledger",
    "Policy",
    "ReleasedData",
    "audit_policy",
    "budget",
    "check",
    "exact_delta",
    "init",
    "least_k",
    "open_ledger",
    "plan",
    "read_contract",
    "read_policy",
    "read_release",
    "release",
    "verify",
    "write_table",
]

_PLACES = {
    "Contract": "contracts.contract",
    "CrowdgateError": "errors",
    "Guarantee": "guarantee",
    "Ledger": "ledger.ledger",
    "Policy": "policy.policy:ReleasePolicy",
    "ReleasedData": "api",
    "audit_policy": "api",
    "budget": "api",
    "check": "api",
    "exact_delta": "accounting.safe_k_exact",
    "init": "api",
    "least_k": "accounting.safe_k",
    "open_ledger": "api",
    "plan": "api",
    "read_contract": "api",
    "read_policy": "api",
    "read_release": "api",
    "release": "api",
    "verify": "api",
    "write_table": "api",
}

if not TYPE_CHECKING:  # so that type checkers report missing names
    __getattr__ = exported(__name__, _PLACES)


def __dir__() -> list[str]:
    return [*__all__, *globals()]
