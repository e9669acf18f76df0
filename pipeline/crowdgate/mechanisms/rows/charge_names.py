"""Names of what a release of rows spends beside its mechanism, and of the column that is bought by it."""

CHOICE_PART = "choice of levels"
JOINT_PART = "mechanism and choice of levels on its sample"
MARGINS_PART = "margins"
WEIGHT = "weight"
"""The column of weights, which margins give to the rows."""
