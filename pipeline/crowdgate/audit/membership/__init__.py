"""Membership: can an attacker tell whose rows are in the table behind a release?"""
