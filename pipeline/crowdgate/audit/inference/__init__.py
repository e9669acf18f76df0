"""Attribute inference, measured above the non-member baseline (P. Francis, D. Wagner): what a release tells about the
people in it beyond what the same table tells about people who are not."""
