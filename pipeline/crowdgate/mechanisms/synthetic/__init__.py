"""Synthetic rows under differential privacy: a graphical model fitted to noisy tables, and rows drawn from it."""
