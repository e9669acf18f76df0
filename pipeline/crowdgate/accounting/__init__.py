"""The mathematics of guarantees. Pure functions of public numbers: no data, no randomness, no clock."""
