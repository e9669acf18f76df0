"""Whole releases of the public table of an audit, from policy file to published folder, and all that they show."""
