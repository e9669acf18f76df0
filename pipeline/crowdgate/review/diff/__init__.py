"""Comparison of two policies: tighter, looser, not comparable, or changed in meaning."""
