"""Verification of published releases. Handed the kinds, it knows none by name."""
