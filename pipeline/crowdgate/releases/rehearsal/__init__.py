"""A whole release on rows that nobody has: what a run does, before the first epsilon."""
