"""A new policy from a template, with its cases and, where the population has none, its budget."""
