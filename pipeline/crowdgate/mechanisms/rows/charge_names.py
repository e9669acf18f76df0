"""Names of the privacy charges of a release of rows other than its mechanism, and of the column of weights."""

CHOICE_PART = "choice of levels"
JOINT_PART = "mechanism and choice of levels on its sample"
MARGINS_PART = "margins"
WEIGHT = "weight"
"""The column of weights, which margins give to the rows."""
