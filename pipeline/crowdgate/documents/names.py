"""The form of names of policies, budgets and populations."""

NAME = r"[a-z0-9][a-z0-9-]{0,62}"
