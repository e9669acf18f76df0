"""Policies and budgets as values, and the YAML files they stand in."""
