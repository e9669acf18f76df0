"""YAML files that people write, with lines and columns for every problem."""
