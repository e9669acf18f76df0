"""The names of the columns that hold the numbers of a table."""

NUMBERS = ("value", "error", "lower", "upper", "trustworthy", "flag")
QUANTILE_COLUMNS = ("probability", "bin", "lower", "upper", "error", "flag")
COUNT_NUMBERS = ("value", "unbiased", "standard_error", "error", "lower", "upper", "trustworthy", "flag")
"""Columns of counts that were made consistent: `standard_error` is that of `unbiased`, `error` that of `value`."""
MEAN_PARTS = ("noisy_sum", "noisy_rows")
RESERVED = frozenset((*COUNT_NUMBERS, *MEAN_PARTS, *QUANTILE_COLUMNS))
"""Names that a released attribute can't have, as tables have columns of these names."""

EARLIER_NUMBERS = ("value", "standard_error", "lower", "upper", "trustworthy")
EARLIER_QUANTILE_COLUMNS = ("probability", "bin", "lower", "upper")
EARLIER_COUNT_NUMBERS = ("value", "unbiased", "standard_error", "lower", "upper", "trustworthy")
"""Columns of releases that do not state the errors of their values."""
