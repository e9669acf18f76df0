"""Conversion of published figures of a membership attack to realistic proportions of members."""
