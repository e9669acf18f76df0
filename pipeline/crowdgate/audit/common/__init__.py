"""Shared parts of the three audits: population, trials, records, levels, and the audit itself."""
