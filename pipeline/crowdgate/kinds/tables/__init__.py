"""Kind `dp_tables`: counts, sums, means and quantiles with discrete noise, made consistent."""

from crowdgate.kinds.tables.kind import TABLES

__all__ = ["TABLES"]
