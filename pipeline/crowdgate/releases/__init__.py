"""One release, from its files to its publication, and simulated runs in its place."""
