"""Attribute inference, measured above the non-member baseline (P. Francis, D. Wagner): what a release discloses about
the people in it beyond what the same table discloses about people who are not in it."""
