"""A simulated run of a whole release on simulated rows, before any privacy cost."""
