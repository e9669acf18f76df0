"""Mechanisms: what protects. One file each; a policy names them by `kind`."""

from pipeline.mechanisms.choice import CHOICE_PART, JOINT_PART, choice_parts, joint_delta
from pipeline.mechanisms.safe_k import SafeK, plan_safe_k, row_part

MECHANISMS = {"safe_k_anonymity": plan_safe_k}

__all__ = ["CHOICE_PART", "JOINT_PART", "MECHANISMS", "SafeK", "choice_parts", "joint_delta", "row_part"]
