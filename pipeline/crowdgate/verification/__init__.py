"""Verification of published releases, for any kinds that are passed in."""
