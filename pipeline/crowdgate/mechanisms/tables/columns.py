"""The names of the columns that hold the numbers of a table."""

NUMBERS = ("value", "standard_error", "lower", "upper", "trustworthy")
QUANTILE_COLUMNS = ("probability", "bin", "lower", "upper")
COUNT_NUMBERS = ("value", "unbiased", "standard_error", "lower", "upper", "trustworthy")
"""Columns of counts that were made consistent."""
MEAN_PARTS = ("noisy_sum", "noisy_rows")
RESERVED = frozenset((*COUNT_NUMBERS, *MEAN_PARTS, *QUANTILE_COLUMNS))
"""Names that a released attribute can't have, as tables have columns of these names."""
