"""Kind `safe_k_anonymity`: rows at levels, sampled, with the classes of fewer than k rows left out."""

from crowdgate.kinds.rows.kind import ROWS

__all__ = ["ROWS"]
