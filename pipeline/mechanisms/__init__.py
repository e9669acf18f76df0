"""Mechanisms: what protects. One file each; a policy names them by `kind`."""

from collections.abc import Callable
from typing import Any

from pipeline.contract import Contract
from pipeline.guarantee import Part
from pipeline.mechanisms.choice import CHOICE_PART, JOINT_PART, choice_parts, joint_delta
from pipeline.mechanisms.dp_tables import DpTables
from pipeline.mechanisms.dp_workload import Finding
from pipeline.mechanisms.safe_k import SafeK, plan_safe_k, row_part
from pipeline.mechanisms.tables_policy import plan_tables

Mechanism = SafeK | DpTables

MECHANISMS: dict[str, Callable[[Any, Contract, Part], tuple[Mechanism | None, list[Finding]]]] = {
    "safe_k_anonymity": plan_safe_k,
    "dp_tables": plan_tables,
}

__all__ = [
    "CHOICE_PART",
    "JOINT_PART",
    "MECHANISMS",
    "DpTables",
    "Mechanism",
    "SafeK",
    "choice_parts",
    "joint_delta",
    "row_part",
]
