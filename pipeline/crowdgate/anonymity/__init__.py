"""Anonymity of people: measured in a table, predicted from figures; and KL distances of attributes."""
