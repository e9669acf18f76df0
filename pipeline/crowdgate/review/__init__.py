"""Tools for policy owners: check, explain, compare, replay, try and write policies. No table of people is read."""
