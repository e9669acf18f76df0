"""Signatures of releases: keys, envelopes, and the signed statements."""
