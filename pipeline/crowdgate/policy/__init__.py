"""Policies and budgets as values, and the reader of their YAML files."""
