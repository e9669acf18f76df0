"""Audit of whole releases: their files, decisions and charges, compared with what the policy states."""
