"""Names of what a release of rows spends beside its mechanism."""

CHOICE_PART = "choice of levels"
JOINT_PART = "mechanism and choice of levels on its sample"
MARGINS_PART = "margins"
