"""Shared parts of all audits: population, trials, records, levels, and the audit itself."""
