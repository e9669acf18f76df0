"""What changed between two policies: tighter, looser, not comparable, or another meaning."""
