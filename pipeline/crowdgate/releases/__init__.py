"""One release, from its files to its publication; and what stands in place of one: a simulated run."""
