"""Noisy numbers of a release of any kind: their manifest entries, and their recount in verification."""
