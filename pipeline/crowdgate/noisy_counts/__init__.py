"""Noisy numbers of a release of any kind: what its manifest says of them, and how who verifies recounts them."""
