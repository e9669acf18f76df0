"""Warnings about policies, and explanations of the codes of problems."""
